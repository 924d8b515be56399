// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_HOST_HOST_REGISTRY_H_
#define SERVER_HOST_HOST_REGISTRY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

#include "base/mutex.h"
#include "spec/worker_description.h"

namespace traza {

// What the daemon knows of its host: the worker's description of devices and
// workloads, and the reasons why it is not ready, by component.
//
// Thread-safe; does no I/O.
class HostRegistry {
 public:
  HostRegistry();

  // A snapshot that stays valid when the description is replaced.
  std::shared_ptr<const WorkerDescription> description() const
      ABSL_LOCKS_EXCLUDED(mu_);
  // One of an earlier turn than that in force is dropped: two that describe the
  // host at once do not overtake each other.
  void SetDescription(WorkerDescription description, uint64_t turn = 0)
      ABSL_LOCKS_EXCLUDED(mu_);

  // `component` is "store", "worker", "draining". An OK status clears it.
  void SetHealth(absl::string_view component, const absl::Status& status)
      ABSL_LOCKS_EXCLUDED(mu_);
  // Component -> why it is not healthy; empty when the host is ready.
  std::map<std::string, std::string> unhealthy() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  mutable Mutex mu_;
  std::shared_ptr<const WorkerDescription> description_ ABSL_GUARDED_BY(mu_);
  uint64_t turn_ ABSL_GUARDED_BY(mu_) = 0;  // of `description_`
  std::map<std::string, std::string> unhealthy_ ABSL_GUARDED_BY(mu_);
};

}  // namespace traza

#endif  // SERVER_HOST_HOST_REGISTRY_H_
