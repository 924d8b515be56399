// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_HOST_MODEL_CATALOG_H_
#define SERVER_HOST_MODEL_CATALOG_H_

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"

#include "base/mutex.h"
#include "server/host/host_registry.h"
#include "spec/worker_description.h"

namespace traza {

// Keeps the operator's own models in the registry: the workloads of the worker
// and, behind them, what the manifests of the models folder register.
//
// Thread-safe. Does disk I/O: not for gRPC's own threads. `host` must outlive
// it.
class ModelCatalog {
 public:
  // `built_in` is what the worker described, without models.
  ModelCatalog(std::filesystem::path folder, WorkerDescription built_in,
               HostRegistry& host);

  // Brings the registry up to date with the folder. Looks at names, sizes and
  // times (20 us for a few files); reads only when they have changed. Call it
  // before workloads are listed or looked up.
  void Refresh() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  const std::filesystem::path folder_;
  const WorkerDescription built_in_;
  const std::vector<std::string> taken_;  // the names of its workloads
  HostRegistry& host_;
  // Of two that read at once, the one that began later saw the newer folder.
  std::atomic<uint64_t> turns_{0};

  Mutex mu_;
  uint64_t turn_ ABSL_GUARDED_BY(mu_) = 0;            // of `state_`
  std::string state_ ABSL_GUARDED_BY(mu_) = "never";  // as in the registry
};

}  // namespace traza

#endif  // SERVER_HOST_MODEL_CATALOG_H_
