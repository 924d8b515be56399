// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_SESSION_H_
#define WORKER_SESSION_H_

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "spec/worker_message.h"
#include "trace/correlate/raw_records.h"
#include "trace/header.h"
#include "trace/trace.h"
#include "worker/collector.h"
#include "worker/device_sampler.h"
#include "worker/l2_flush_rows.h"
#include "worker/op_recorder.h"
#include "worker/step_progress.h"
#include "worker/tick_clock.h"
#include "workloads/workload.h"

namespace traza {

// Room for a step of work that does not say what it launches.
inline constexpr double kUndeclaredDeviceRecords = 2048;

// What a session runs.
struct SessionOptions {
  // Job, device, versions, threads and whether this is a standby worker are
  // filled in; the session adds what it finds.
  Header header;
  std::filesystem::path out;
  std::filesystem::path dump;  // of the collector's records; empty is none
  int64_t start_ns = 0;        // CLOCK_REALTIME when set-up began
  // Declared rows of operators and ranges, and of device records; absent when
  // nobody knows. Then operators are counted in a step that is not measured,
  // and there is room for kUndeclaredDeviceRecords.
  std::optional<double> ops_per_step = 0;
  std::optional<double> device_records_per_step = 0;
  int64_t memory_bytes = 0;  // of the host; 0 is unknown
  // How often the window of the traced steps may be opened until its first step
  // is like those that primed it.
  int max_window_openings = 8;
};

// What a session works with. All of it must outlive the session.
struct SessionParts {
  // Builds or finds the package of a compiled step; null where there is none
  // to compile. Runs in the phase COMPILING, and so does make_workload then.
  std::function<absl::Status()> compile;
  // Builds the workload; may throw.
  std::function<absl::StatusOr<std::unique_ptr<Workload>>()> make_workload;
  // Waits until the device has finished; may throw. Does nothing on a CPU.
  std::function<void()> synchronize;
  // How often PyTorch has asked the device for memory so far.
  std::function<int64_t()> device_allocations;
  WindowClock& clock;  // what the recorder and the collector stamp with
  OpRecorder& recorder;
  Collector& collector;
  StepProgress& progress;
  // Set by SIGTERM: stop after the running step.
  const std::atomic<bool>& stop;
  // Queues the writing over the device's L2 cache, without waiting for it; may
  // throw. Only for L2Policy::kFlush.
  std::function<void()> flush_l2;
  DeviceSampler* sampler = nullptr;  // null: the device's state is unknown
};

// Runs one job, start to trace file: SETUP, COMPILING where the step has to be
// compiled, COLD, WARMUP, TIMED, TRACED, FLUSH,
// STORE. Used once.
//
// The one place where exceptions of PyTorch end. Knows nothing of PyTorch
// itself: everything runs on the calling thread, whatever the parts are.
class Session {
 public:
  Session(SessionOptions options, SessionParts parts);

  // CANCELLED when stopped before a step was traced; stopped later, the trace
  // is partial. RESOURCE_EXHAUSTED / OUT_OF_MEMORY or TRACE_TOO_LARGE,
  // INTERNAL / WORKER_FAILED with the message of what was thrown, or the error
  // of a part or of the file system.
  absl::StatusOr<WorkerResult> Run();

  // The phase that runs, or in which Run() failed.
  Phase phase() const { return phase_; }

 private:
  absl::Status RunPhases();
  absl::Status SetUp();
  absl::Status RunCold();
  absl::Status RunWarmup();
  absl::Status RunTimed();
  absl::Status RunTraced();
  absl::Status Flush();
  absl::Status Store();

  void Enter(Phase phase, std::optional<int64_t> total);
  void LeavePhase();

  // Run at most `count` steps, the first of which has that number, and return
  // how many; fewer when stopped.
  int64_t RunSteps(int64_t first, int64_t count, bool wait_for_each);
  int64_t RunBatch(int64_t first, int64_t count, bool rows);
  int64_t Stamp() const;
  void AddStepRow(int64_t number, int64_t start_ns, int64_t end_ns);
  // Whether the cache is flushed before each step of the running phase.
  bool flushes_l2() const {
    return spec_.l2 == L2Policy::kFlush &&
           (phase_ == Phase::kTimed || phase_ == Phase::kTraced);
  }
  // Between two steps: waits for the first, flushes, waits again.
  L2FlushTime FlushL2();
  void Wait() {
    if (!on_cpu_) parts_.synchronize();
  }

  // Runs one step to see how many operators it records.
  absl::Status CountOps();
  // TRACE_TOO_LARGE when memory does not hold all rows.
  absl::Status CheckRoom() const;
  // Everything that records, for the steps of one phase.
  absl::Status StartRecording(int64_t steps);
  // Returns what a step takes then, in ticks; 0 is not known.
  int64_t Prime();
  absl::Status OpenWindow();
  // Opens the window and runs the first traced step; false when stopped.
  absl::StatusOr<bool> RunFirstStep();
  absl::Status StopRecording();

  // OK while the session may go on; CANCELLED otherwise.
  absl::Status CheckStop() const;
  bool stopping() const { return parts_.stop.load(std::memory_order_relaxed); }
  bool records_ops() const { return spec_.depth >= Depth::kOps; }

  SessionOptions options_;
  SessionParts parts_;
  const JobSpec& spec_;
  const bool on_cpu_;

  Phase phase_ = Phase::kSetup;
  int64_t phase_start_ns_;
  int32_t process_ = 0;
  int64_t thread_ = 0;
  std::unique_ptr<Workload> workload_;
  RawRecords records_;
  Trace trace_;
  int64_t step_ns_ = 0;          // about what a step takes
  int64_t clock_offset_ns_ = 0;  // when the window opened
  // While a window is open, steps are stamped in its clock's ticks, from this
  // row on.
  bool stamping_ticks_ = false;
  size_t first_tick_step_ = 0;
  std::vector<L2FlushTime> flushes_;  // in the window of the traced steps
  WorkerResult result_;
};

}  // namespace traza

#endif  // WORKER_SESSION_H_
