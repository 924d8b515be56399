// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_JOBS_DEVICE_RUNNER_H_
#define SERVER_JOBS_DEVICE_RUNNER_H_

#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "base/clock.h"
#include "base/mutex.h"
#include "server/host/device_lease.h"
#include "server/jobs/job_manager.h"
#include "server/jobs/outcome.h"
#include "server/jobs/standby_pool.h"
#include "server/jobs/trace_intake.h"
#include "server/jobs/wakeup.h"
#include "server/jobs/worker_channel.h"
#include "server/jobs/worker_launcher.h"
#include "server/jobs/worker_supervisor.h"
#include "server/metrics/metrics.h"

namespace traza {

struct DeviceRunnerOptions {
  std::string device;  // "cpu", "gpu0", ...
  DeviceRoofs roofs;   // of it, for the traces
  int standby_workers = 1;
  SupervisorLimits limits;
  // Between attempts to write to a store that refuses: doubles each time.
  absl::Duration first_retry = absl::Seconds(1);
  absl::Duration last_retry = absl::Seconds(30);
  // Between looks at a device that another daemon measures on.
  absl::Duration lease_retry = absl::Milliseconds(200);
};

// What a runner works with; all of it must outlive the runner.
struct DeviceRunnerRooms {
  JobManager& manager;
  WorkerLauncher& launcher;
  TraceIntake& intake;
  Metrics& metrics;
  const Clock& clock;
  // Held while a job runs or a standby worker loads. Null where nothing else
  // can use the device.
  DeviceLease* lease_or_null = nullptr;
};

// Runs the jobs of one device, one after the other, each in a worker process:
// a thread that takes the oldest queued job, watches its worker, takes in the
// trace and records the end. While another daemon has the lease of the device,
// jobs wait.
//
// Thread-safe. The thread starts in Create() and stops in the destructor,
// which drains with no patience if Drain() was not called before.
class DeviceRunner {
 public:
  static absl::StatusOr<std::unique_ptr<DeviceRunner>> Create(
      const DeviceRunnerOptions& options, const DeviceRunnerRooms& rooms);
  ~DeviceRunner();

  // Takes no more jobs. A job that still runs after `patience` is stopped and
  // becomes FAILED / DRAINING; queued ones stay PENDING for the next start.
  // Returns at once: the destructor waits. Only the first call counts, unless a
  // later one has less patience.
  void Drain(absl::Duration patience) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  DeviceRunner(const DeviceRunnerOptions& options,
               const DeviceRunnerRooms& rooms, std::shared_ptr<Wakeup> wakeup);

  // All but the last two run on the thread.
  void RunLoop();
  // Runs the next job; false when there is none now, or it has to wait.
  bool RunNext();
  void AwaitWork();
  // Starts standby workers and returns when to look again.
  absl::Duration MaintainPool();
  // Whether nobody else measures on the device now.
  bool TryLease(DeviceLease::IfTaken if_taken);
  void ReleaseLease();
  void NoteWaiting(bool waiting);
  void RunJob(Job job);
  absl::StatusOr<WorkerChannel> WorkerFor(Job* job);
  Outcome Supervise(Job* job);
  // Takes the trace in; an error of that becomes the job's.
  std::optional<TakenTrace> TakeTrace(Job* job, Outcome& outcome);
  absl::StatusOr<TakenTrace> ReadAndCommit(const Job& job,
                                           const Outcome& outcome);
  void Record(Job job, std::optional<TakenTrace> taken);
  void AwaitRetry(int failures);
  absl::Duration RetryDelay(int failures) const;
  bool draining() const ABSL_LOCKS_EXCLUDED(mu_);
  // When a running job has to stop, by Clock::Monotonic(); infinite normally.
  absl::Duration stop_time() const ABSL_LOCKS_EXCLUDED(mu_);

  const DeviceRunnerOptions options_;
  const DeviceRunnerRooms rooms_;
  const std::shared_ptr<Wakeup> wakeup_;

  mutable Mutex mu_;
  absl::Duration stop_time_ ABSL_GUARDED_BY(mu_) = absl::InfiniteDuration();
  bool draining_ ABSL_GUARDED_BY(mu_) = false;

  StandbyPool pool_;        // of the thread
  int store_failures_ = 0;  // of the thread: in a row
  // Of the thread.
  bool waiting_for_lease_ = false;  // there is a job, and another has the lease
  std::string lease_fault_;         // the last one that was logged

  std::jthread thread_;  // last: uses all of the above
};

}  // namespace traza

#endif  // SERVER_JOBS_DEVICE_RUNNER_H_
