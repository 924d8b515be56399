// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_JOBS_OUTCOME_H_
#define SERVER_JOBS_OUTCOME_H_

#include <map>
#include <memory>
#include <optional>

#include "absl/time/time.h"

#include "server/jobs/worker_launcher.h"
#include "server/metrics/metrics.h"
#include "spec/job.h"
#include "spec/phase.h"
#include "spec/worker_message.h"

namespace traza {

// What became of one worker: exit status, signals, deadlines and messages,
// boiled down by the WorkerSupervisor.
struct Outcome {
  // The worker wrote a trace file and said so. With `error` set it is what
  // could be kept.
  std::optional<WorkerResult> result;
  // Why the job did not do what was asked; absent on success.
  std::optional<JobError> error;
  WorkerExitReason exit = WorkerExitReason::kOk;
  // The phase that ran last, and the times of those that had ended by then.
  Progress progress;
  absl::Duration last_phase_started;  // by Clock::Monotonic()
  std::map<Phase, absl::Duration> phase_times;
  // The worker after its result: killed, but not yet gone. The kernel needs
  // some 15 ms to take a process with PyTorch apart, and longer for one with a
  // CUDA context; its file is read and the job ends meanwhile. What it might
  // still write would be found by the file's digest. Null when it is gone.
  std::unique_ptr<WorkerProcess> dying;
};

// The final state of a job that ended so: SUCCEEDED without an error, CANCELLED
// when the error is that somebody asked, else FAILED.
JobState FinalState(const std::optional<JobError>& error);

}  // namespace traza

#endif  // SERVER_JOBS_OUTCOME_H_
