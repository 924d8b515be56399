// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_JOB_H_
#define WORKER_JOB_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"

#include "spec/job_spec.h"
#include "spec/phase.h"
#include "spec/worker_message.h"
#include "worker/op_recorder.h"
#include "worker/step_progress.h"
#include "worker/torch_runtime.h"

namespace traza {

// One job as a worker gets it.
struct WorkerJob {
  JobSpec spec;
  std::string out;       // path of the trace file
  std::string job_id;    // empty when started by hand
  bool standby = false;  // this process has run something before
  int64_t start_ns = 0;  // CLOCK_REALTIME when set-up began
};

// How it ended.
struct JobOutcome {
  absl::Status status;         // with a Reason when not OK
  WorkerResult result;         // when OK
  std::optional<Phase> phase;  // where it failed

  // The last message to the daemon.
  WorkerMessage ToMessage() const;
};

// Ties a session to PyTorch, the registry and a collector, and runs it. `stop`
// ends it after the running step.
JobOutcome RunJob(const WorkerJob& job, const TorchRuntime& runtime,
                  OpRecorder& recorder, StepProgress& progress,
                  const std::atomic<bool>& stop);

}  // namespace traza

#endif  // WORKER_JOB_H_
