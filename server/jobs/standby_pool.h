// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_JOBS_STANDBY_POOL_H_
#define SERVER_JOBS_STANDBY_POOL_H_

#include <poll.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"

#include "base/clock.h"
#include "server/jobs/worker_channel.h"
#include "server/jobs/worker_launcher.h"
#include "server/metrics/metrics.h"

namespace traza {

struct StandbyPoolOptions {
  std::string device;
  int workers = 1;
  absl::Duration ready_timeout = absl::Seconds(60);
  // Between attempts when workers die before they are used: doubles each time.
  absl::Duration first_retry = absl::Seconds(1);
  absl::Duration last_retry = absl::Minutes(1);
};

// Workers of one device that have loaded everything and wait for a job. Each
// is used once.
//
// Belongs to the thread of its device runner, which calls Maintain() only
// while no job runs: starting a worker would disturb the measurement.
// Thread-compatible. `launcher`, `metrics` and `clock` must outlive it; the
// destructor kills the workers.
class StandbyPool {
 public:
  StandbyPool(const StandbyPoolOptions& options, WorkerLauncher& launcher,
              Metrics& metrics, const Clock& clock);
  ~StandbyPool();
  StandbyPool(const StandbyPool&) = delete;
  StandbyPool& operator=(const StandbyPool&) = delete;

  // Hears what the workers say, drops those that ended or are late, starts the
  // missing ones that are due if it may. Call it when a descriptor of AddTo()
  // is ready, or when NextDeadline() has come.
  void Maintain(bool may_start = true);
  // One was started and is not ready: it uses the device.
  bool loading() const;

  // A worker for a job: a ready one, else the one that is furthest; nothing
  // when there is none. It is no longer the pool's.
  std::optional<WorkerChannel> Take();
  bool empty() const { return workers_.empty(); }
  // Kills those that are still loading: a job is about to be measured.
  void DropLoading();

  // Adds the descriptors to wait for.
  void AddTo(std::vector<pollfd>* fds) const;
  // When Maintain() has something to do if no descriptor is ready, by
  // Clock::Monotonic(); infinite when there is nothing.
  absl::Duration NextDeadline() const;

 private:
  struct Waiting {
    WorkerChannel channel;
    absl::Duration started;
  };

  // Whether the worker can still become useful.
  bool Hear(Waiting& worker);
  // One after the other: loading takes all cores, and a job may come.
  void StartMissing();
  void BackOff();
  void Count() const;

  const StandbyPoolOptions options_;
  WorkerLauncher& launcher_;
  Metrics& metrics_;
  const Clock& clock_;
  std::vector<Waiting> workers_;  // oldest first
  int failures_ = 0;              // since a worker was last ready
  absl::Duration not_before_;     // no start before then
};

}  // namespace traza

#endif  // SERVER_JOBS_STANDBY_POOL_H_
