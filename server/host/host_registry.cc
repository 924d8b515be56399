// SPDX-License-Identifier: Apache-2.0
#include "server/host/host_registry.h"

#include <utility>

namespace traza {

HostRegistry::HostRegistry()
    : description_(std::make_shared<const WorkerDescription>()) {}

std::shared_ptr<const WorkerDescription> HostRegistry::description() const {
  const MutexLock lock(mu_);
  return description_;
}

void HostRegistry::SetDescription(WorkerDescription description,
                                  uint64_t turn) {
  auto fresh =
      std::make_shared<const WorkerDescription>(std::move(description));
  const MutexLock lock(mu_);
  if (turn < turn_) return;
  turn_ = turn;
  description_ = std::move(fresh);
}

void HostRegistry::SetHealth(absl::string_view component,
                             const absl::Status& status) {
  const MutexLock lock(mu_);
  if (status.ok()) {
    unhealthy_.erase(std::string(component));
  } else {
    unhealthy_[std::string(component)] = std::string(status.message());
  }
}

std::map<std::string, std::string> HostRegistry::unhealthy() const {
  const MutexLock lock(mu_);
  return unhealthy_;
}

}  // namespace traza
