// SPDX-License-Identifier: Apache-2.0
#include "server/jobs/standby_pool.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

#include "base/log.h"

namespace traza {

StandbyPool::StandbyPool(const StandbyPoolOptions& options,
                         WorkerLauncher& launcher, Metrics& metrics,
                         const Clock& clock)
    : options_(options),
      launcher_(launcher),
      metrics_(metrics),
      clock_(clock) {}

StandbyPool::~StandbyPool() {
  workers_.clear();
  Count();
}

void StandbyPool::Maintain(bool may_start) {
  const auto useless = [this](Waiting& worker) { return !Hear(worker); };
  const auto gone = std::remove_if(workers_.begin(), workers_.end(), useless);
  if (gone != workers_.end()) BackOff();
  workers_.erase(gone, workers_.end());
  if (may_start) StartMissing();
  Count();
}

bool StandbyPool::Hear(Waiting& worker) {
  WorkerChannel& channel = worker.channel;
  const bool was_ready = channel.ready();
  channel.ReadStderr();
  const absl::Status read = channel.Read();
  std::string fault;
  if (!read.ok()) {
    fault = std::string(read.message());
  } else if (const auto exit = channel.process().WaitFor(absl::ZeroDuration());
             exit.has_value()) {
    fault = absl::StrCat("It ended with ", exit->ToString(), ".");
  } else if (channel.closed()) {
    fault = "It closed its socket.";
  } else if (!channel.ready() &&
             clock_.Monotonic() - worker.started >= options_.ready_timeout) {
    fault = absl::StrCat("It was not ready within ",
                         absl::FormatDuration(options_.ready_timeout), ".");
  }
  // Heartbeats; anything else is for the job that is to come.
  while (channel.Next().has_value()) {
  }
  if (!was_ready && channel.ready()) failures_ = 0;
  if (fault.empty()) return true;
  channel.ReadStderr();
  LogWarning("Standby worker ", channel.process().pid(), " of ",
             options_.device, ": ", fault, " ", channel.LastWords());
  return false;
}

void StandbyPool::StartMissing() {
  if (static_cast<int>(workers_.size()) < options_.workers &&
      clock_.Monotonic() >= not_before_ && !loading()) {
    absl::StatusOr<LaunchedWorker> worker =
        launcher_.Launch({.device = options_.device, .standby = true});
    if (!worker.ok()) {
      LogWarning("No standby worker of ", options_.device, ": ",
                 worker.status().message());
      BackOff();
      return;
    }
    workers_.push_back(
        {WorkerChannel(*std::move(worker), clock_), clock_.Monotonic()});
  }
}

bool StandbyPool::loading() const {
  return std::ranges::any_of(
      workers_, [](const Waiting& w) { return !w.channel.ready(); });
}

void StandbyPool::BackOff() {
  absl::Duration delay = options_.first_retry;
  for (int i = 0; i < failures_ && delay < options_.last_retry; ++i) delay *= 2;
  ++failures_;
  not_before_ = clock_.Monotonic() + std::min(delay, options_.last_retry);
}

std::optional<WorkerChannel> StandbyPool::Take() {
  // What was heard last may be old: jobs run between two calls of Maintain().
  const auto useless = [this](Waiting& worker) { return !Hear(worker); };
  const auto gone = std::remove_if(workers_.begin(), workers_.end(), useless);
  if (gone != workers_.end()) BackOff();
  workers_.erase(gone, workers_.end());
  auto best = std::ranges::find_if(
      workers_, [](const Waiting& w) { return w.channel.ready(); });
  if (best == workers_.end()) best = workers_.begin();
  if (best == workers_.end()) return std::nullopt;
  WorkerChannel channel = std::move(best->channel);
  workers_.erase(best);
  Count();
  return channel;
}

void StandbyPool::DropLoading() {
  std::erase_if(workers_,
                [](const Waiting& worker) { return !worker.channel.ready(); });
  Count();
}

void StandbyPool::AddTo(std::vector<pollfd>* fds) const {
  for (const Waiting& worker : workers_) {
    for (const int fd :
         {worker.channel.socket_fd(), worker.channel.stderr_fd()}) {
      if (fd >= 0) fds->push_back({fd, POLLIN, 0});
    }
  }
}

absl::Duration StandbyPool::NextDeadline() const {
  absl::Duration deadline = absl::InfiniteDuration();
  for (const Waiting& worker : workers_) {
    if (worker.channel.ready()) continue;
    deadline = std::min(deadline, worker.started + options_.ready_timeout);
  }
  if (static_cast<int>(workers_.size()) < options_.workers && !loading()) {
    deadline = std::min(deadline, not_before_);
  }
  return deadline;
}

void StandbyPool::Count() const {
  const auto ready = std::ranges::count_if(
      workers_, [](const Waiting& w) { return w.channel.ready(); });
  metrics_.SetStandbyWorkers(options_.device, ready);
}

}  // namespace traza
