// SPDX-License-Identifier: Apache-2.0
#include "server/jobs/live_jobs.h"

#include <algorithm>
#include <utility>

#include "server/jobs/job_state.h"

namespace traza {

// All but `callback` is guarded by the mutex of the LiveJobs.
class LiveJobs::Watcher {
 public:
  explicit Watcher(Callback c) : callback(std::move(c)) {}

  const Callback callback;
  JobId job;
  std::deque<JobSnapshot> pending;
  bool delivering = false;
  bool closed = false;
};

LiveJobs::Place LiveJobs::Reserve(const JobId& id, const std::string& device,
                                  int max_queued) {
  const MutexLock lock(mu_);
  Queue& queue = queues_[device];
  if (static_cast<int64_t>(queue.jobs.size()) + queue.reserved >= max_queued) {
    return {.full = true};
  }
  ++queue.reserved;
  const auto [entry, fresh] = entries_.try_emplace(id);
  if (fresh) entry->second.reserved = true;
  return {.owned = fresh};
}

void LiveJobs::Forget(const JobId& id, const std::string& device,
                      const Place& place) {
  const MutexLock lock(mu_);
  --queues_[device].reserved;
  if (place.owned) entries_.erase(id);
}

void LiveJobs::Publish(const Job& job) {
  Watchers watchers;
  {
    const MutexLock lock(mu_);
    Queue& queue = queues_[job.spec.device];
    queue.reserved = std::max(0, queue.reserved - 1);
    Entry& entry = entries_[job.id];
    entry.reserved = false;
    if (entry.job != nullptr) {
      // Cancelled between the store and here.
      entries_.erase(job.id);
      return;
    }
    queue.jobs.push_back(job.id);
    watchers = Show(entry, std::make_shared<const Job>(job));
  }
  Deliver(watchers);
  Wake(job.spec.device);
}

std::optional<Job> LiveJobs::Pop(const std::string& device) {
  const MutexLock lock(mu_);
  std::deque<JobId>& jobs = queues_[device].jobs;
  while (!jobs.empty()) {
    const auto found = entries_.find(jobs.front());
    jobs.pop_front();
    if (found != entries_.end() && found->second.job != nullptr) {
      return *found->second.job;
    }
  }
  return std::nullopt;
}

bool LiveJobs::HasQueued(const std::string& device) const {
  const MutexLock lock(mu_);
  const auto queue = queues_.find(device);
  if (queue == queues_.end()) return false;
  for (const JobId& id : queue->second.jobs) {
    const auto found = entries_.find(id);
    if (found != entries_.end() && found->second.job != nullptr) return true;
  }
  return false;
}

void LiveJobs::PushFront(const Job& job) {
  const MutexLock lock(mu_);
  if (entries_.find(job.id) == entries_.end()) return;
  queues_[job.spec.device].jobs.push_front(job.id);
}

void LiveJobs::Apply(const Job& job) {
  Watchers watchers;
  {
    const MutexLock lock(mu_);
    const auto found = entries_.find(job.id);
    if (found == entries_.end()) return;
    Entry& entry = found->second;
    Job shown = job;
    if (entry.job != nullptr) {
      if (!CanMove(entry.job->state, job.state)) return;
      if (!IsFinal(job.state)) {
        // What runs goes on running: its progress is not in the store.
        shown.progress = entry.job->progress;
        shown.phase_times = entry.job->phase_times;
      }
    }
    watchers = Show(entry, std::make_shared<const Job>(std::move(shown)));
    if (IsFinal(job.state)) {
      std::deque<JobId>& queue = queues_[job.spec.device].jobs;
      queue.erase(std::remove(queue.begin(), queue.end(), job.id), queue.end());
      if (!entry.reserved) entries_.erase(found);
    }
  }
  Deliver(watchers);
  if (job.state == JobState::kCancelling) Wake(job.spec.device);
}

void LiveJobs::Report(const JobId& id, const Progress& progress,
                      const std::map<Phase, absl::Duration>& phase_times) {
  Watchers watchers;
  {
    const MutexLock lock(mu_);
    const auto found = entries_.find(id);
    if (found == entries_.end() || found->second.job == nullptr) return;
    Job job = *found->second.job;
    job.progress = progress;
    job.phase_times = phase_times;
    watchers = Show(found->second, std::make_shared<const Job>(std::move(job)));
  }
  Deliver(watchers);
}

JobSnapshot LiveJobs::Find(const JobId& id) const {
  const MutexLock lock(mu_);
  const auto found = entries_.find(id);
  return found == entries_.end() ? nullptr : found->second.job;
}

int64_t LiveJobs::queued() const {
  const MutexLock lock(mu_);
  int64_t count = 0;
  for (const auto& [device, queue] : queues_) {
    count += static_cast<int64_t>(queue.jobs.size());
  }
  return count;
}

std::shared_ptr<LiveJobs::Watcher> LiveJobs::Watch(const JobId& id,
                                                   Callback callback) {
  auto watcher = std::make_shared<Watcher>(std::move(callback));
  watcher->job = id;
  {
    const MutexLock lock(mu_);
    const auto found = entries_.find(id);
    if (found == entries_.end()) return nullptr;
    found->second.watchers.push_back(watcher);
    // A reserved job is shown when it is published.
    if (found->second.job != nullptr) {
      watcher->pending.push_back(found->second.job);
    }
  }
  Deliver({watcher});
  return watcher;
}

void LiveJobs::Unwatch(const std::shared_ptr<Watcher>& watcher) {
  const MutexLock lock(mu_);
  watcher->closed = true;
  watcher->pending.clear();
  const auto found = entries_.find(watcher->job);
  if (found != entries_.end()) {
    Watchers& all = found->second.watchers;
    all.erase(std::remove(all.begin(), all.end(), watcher), all.end());
  }
  while (watcher->delivering) delivered_.Wait(mu_);
}

void LiveJobs::SetWakeup(const std::string& device,
                         std::shared_ptr<Wakeup> wakeup) {
  const MutexLock lock(mu_);
  queues_[device].wakeup = std::move(wakeup);
}

LiveJobs::Watchers LiveJobs::Show(Entry& entry, JobSnapshot job) {
  entry.job = std::move(job);
  for (const std::shared_ptr<Watcher>& watcher : entry.watchers) {
    watcher->pending.push_back(entry.job);
  }
  return entry.watchers;
}

// One thread at a time delivers to a watcher, so its callbacks come in order.
// A thread that finds another one at it leaves its snapshot to that one.
void LiveJobs::Deliver(const Watchers& watchers) {
  for (const std::shared_ptr<Watcher>& watcher : watchers) {
    mu_.Lock();
    if (watcher->delivering) {
      mu_.Unlock();
      continue;
    }
    watcher->delivering = true;
    while (!watcher->pending.empty() && !watcher->closed) {
      const JobSnapshot snapshot = std::move(watcher->pending.front());
      watcher->pending.pop_front();
      mu_.Unlock();
      watcher->callback(snapshot);
      mu_.Lock();
    }
    watcher->delivering = false;
    mu_.Unlock();
    delivered_.SignalAll();
  }
}

void LiveJobs::Wake(const std::string& device) {
  std::shared_ptr<Wakeup> wakeup;
  {
    const MutexLock lock(mu_);
    wakeup = queues_[device].wakeup;
  }
  if (wakeup != nullptr) wakeup->Notify();
}

}  // namespace traza
