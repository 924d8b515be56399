// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_JOBS_LIVE_JOBS_H_
#define SERVER_JOBS_LIVE_JOBS_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/time.h"

#include "base/mutex.h"
#include "server/jobs/wakeup.h"
#include "spec/job.h"

namespace traza {

// A job after a change. Shared with streams, which may outlive the change.
using JobSnapshot = std::shared_ptr<const Job>;

// The jobs that have not ended, in memory: their queues, how far they are and
// who watches them. An index of the store, which is the truth: changes are
// written there first, and those that arrive late here are dropped.
//
// Thread-safe; does no I/O. Callbacks run under no lock.
class LiveJobs {
 public:
  LiveJobs() = default;
  LiveJobs(const LiveJobs&) = delete;
  LiveJobs& operator=(const LiveJobs&) = delete;

  // A place in the queue of a device for a job that is about to be stored.
  struct Place {
    bool full = false;  // the device has `max_queued` jobs waiting
    // The job can be watched from now on: whoever finds it in the store finds
    // it here. False when another job of that id has the entry.
    bool owned = false;
  };
  // Publish() or Forget() gives a place that is not full back.
  Place Reserve(const JobId& id, const std::string& device, int max_queued)
      ABSL_LOCKS_EXCLUDED(mu_);
  void Forget(const JobId& id, const std::string& device, const Place& place)
      ABSL_LOCKS_EXCLUDED(mu_);
  // The job is stored: queues it (unless it was cancelled meanwhile) and wakes
  // its runner.
  void Publish(const Job& job) ABSL_LOCKS_EXCLUDED(mu_);

  // Takes the oldest queued job off its queue; it stays live.
  std::optional<Job> Pop(const std::string& device) ABSL_LOCKS_EXCLUDED(mu_);
  // Whether Pop() has one to take now.
  bool HasQueued(const std::string& device) const ABSL_LOCKS_EXCLUDED(mu_);
  // Puts a job that could not be started back to the front.
  void PushFront(const Job& job) ABSL_LOCKS_EXCLUDED(mu_);

  // A change was stored: shows it, unless it is older than what is shown. A job
  // in a final state is told of and then no longer live.
  void Apply(const Job& job) ABSL_LOCKS_EXCLUDED(mu_);
  // How far a running job is; in no store.
  void Report(const JobId& id, const Progress& progress,
              const std::map<Phase, absl::Duration>& phase_times)
      ABSL_LOCKS_EXCLUDED(mu_);

  // Null when the job is not live.
  JobSnapshot Find(const JobId& id) const ABSL_LOCKS_EXCLUDED(mu_);
  int64_t queued() const ABSL_LOCKS_EXCLUDED(mu_);

  // One watcher of one job.
  class Watcher;
  using Callback = std::function<void(const JobSnapshot&)>;
  // Calls `callback` with what is shown now and after each change, until the
  // job is final. Null when the job is not live.
  std::shared_ptr<Watcher> Watch(const JobId& id, Callback callback)
      ABSL_LOCKS_EXCLUDED(mu_);
  // Ends that; waits for a callback that runs now on another thread.
  void Unwatch(const std::shared_ptr<Watcher>& watcher)
      ABSL_LOCKS_EXCLUDED(mu_);

  // Who to wake for a device; null for nobody.
  void SetWakeup(const std::string& device, std::shared_ptr<Wakeup> wakeup)
      ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Entry {
    bool reserved = false;  // Publish() or Forget() is still to come
    JobSnapshot job;        // null while reserved, unless cancelled already
    std::vector<std::shared_ptr<Watcher>> watchers;
  };
  struct Queue {
    std::deque<JobId> jobs;
    int reserved = 0;
    std::shared_ptr<Wakeup> wakeup;
  };
  using Watchers = std::vector<std::shared_ptr<Watcher>>;

  // Puts a snapshot before the watchers of an entry; returns who to Deliver().
  Watchers Show(Entry& entry, JobSnapshot job)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Deliver(const Watchers& watchers) ABSL_LOCKS_EXCLUDED(mu_);
  void Wake(const std::string& device) ABSL_LOCKS_EXCLUDED(mu_);

  mutable Mutex mu_;
  CondVar delivered_;
  std::map<JobId, Entry> entries_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, Queue> queues_ ABSL_GUARDED_BY(mu_);
};

}  // namespace traza

#endif  // SERVER_JOBS_LIVE_JOBS_H_
