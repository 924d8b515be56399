// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_JOB_H_
#define WORKER_JOB_H_

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

#include "base/gpu_monitor.h"
#include "spec/job_spec.h"
#include "spec/phase.h"
#include "spec/worker_message.h"
#include "worker/collector.h"
#include "worker/host_python.h"
#include "worker/op_recorder.h"
#include "worker/step_progress.h"
#include "worker/tick_clock.h"
#include "worker/torch_runtime.h"

namespace traza {

// One job as a worker gets it.
struct WorkerJob {
  JobSpec spec;
  std::string out;       // path of the trace file
  std::string dump;      // of CUPTI's records; empty is none
  std::string job_id;    // empty when started by hand
  DeviceRoofs roofs;     // of the device; empty when started by hand
  bool standby = false;  // this process has run something before
  // Who started this process and others beside it; absent by hand.
  std::optional<pid_t> daemon;
  int64_t start_ns = 0;  // CLOCK_REALTIME when set-up began
  // Where compiled packages are kept; empty: nothing can be compiled.
  std::filesystem::path models;
  absl::Duration compile_timeout = kDefaultCompileTimeout;
};

// How it ended.
struct JobOutcome {
  absl::Status status;         // with a Reason when not OK
  WorkerResult result;         // when OK
  std::optional<Phase> phase;  // where it failed

  // The last message to the daemon.
  WorkerMessage ToMessage() const;
};

// What a worker process has, whatever it runs. All of it outlives the job.
struct WorkerParts {
  const TorchRuntime& runtime;
  WindowClock& clock;
  OpRecorder& recorder;
  Collector& collector;  // for the device of the job
  StepProgress& progress;
  const std::atomic<bool>& stop;  // ends the job after the running step
  GpuMonitor* monitor = nullptr;  // null where there is none
};

// Ties a session to PyTorch and the registry, and runs it.
JobOutcome RunJob(const WorkerJob& job, const WorkerParts& parts);

}  // namespace traza

#endif  // WORKER_JOB_H_
