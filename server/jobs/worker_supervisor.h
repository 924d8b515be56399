// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_JOBS_WORKER_SUPERVISOR_H_
#define SERVER_JOBS_WORKER_SUPERVISOR_H_

#include <functional>
#include <map>
#include <string>

#include "absl/time/time.h"

#include "base/clock.h"
#include "server/jobs/outcome.h"
#include "server/jobs/wakeup.h"
#include "server/jobs/worker_channel.h"
#include "spec/job.h"
#include "spec/phase.h"

namespace traza {

// How long a worker may take; the whole job is limited by its own timeout,
// which does not count the phase COMPILING.
struct SupervisorLimits {
  absl::Duration setup = absl::Seconds(60);
  // The worker keeps to its own limit (--compile-timeout) and says more.
  absl::Duration compiling = absl::Minutes(11);
  absl::Duration flush = absl::Seconds(60);
  absl::Duration store = absl::Seconds(60);
  absl::Duration silence = kHeartbeatTimeout;
  absl::Duration grace = absl::Seconds(5);  // between SIGTERM and SIGKILL
  absl::Duration exit = absl::Seconds(5);   // between its error and its end
  // Progress goes to watchers at most this often; a new phase goes at once.
  absl::Duration progress_period = absl::Milliseconds(50);
  int64_t max_trace_bytes = int64_t{1} << 30;  // for messages only
};

// What the supervisor asks and tells while it watches. Called on its thread.
struct SupervisorHooks {
  std::function<bool()> cancelled;  // somebody cancelled the job
  // When a job has to stop because the daemon does, by Clock::Monotonic().
  std::function<absl::Duration()> stop_time;
  std::function<void(const Progress&, const std::map<Phase, absl::Duration>&)>
      progressed;
};

// Watches one worker through one job: sends the job, follows its phases,
// enforces every deadline, stops it when asked, and boils what happened down
// to one Outcome. Never trusts the worker.
//
// Blocks in poll(2); `wakeup` ends a wait early, so that cancelling and
// stopping are noticed. Used by one thread.
class WorkerSupervisor {
 public:
  WorkerSupervisor(const SupervisorLimits& limits, SupervisorHooks hooks,
                   Wakeup& wakeup, const Clock& clock);

  // Runs `job`, whose trace goes to `out`, on a device of `roofs`. When this
  // returns, the worker and all that it forked are gone, or killed
  // (Outcome::dying).
  Outcome Run(WorkerChannel worker, const Job& job, const std::string& out,
              const DeviceRoofs& roofs);

 private:
  class Watch;

  const SupervisorLimits limits_;
  const SupervisorHooks hooks_;
  Wakeup& wakeup_;
  const Clock& clock_;
};

}  // namespace traza

#endif  // SERVER_JOBS_WORKER_SUPERVISOR_H_
