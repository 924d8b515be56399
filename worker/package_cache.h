// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_PACKAGE_CACHE_H_
#define WORKER_PACKAGE_CACHE_H_

#include <atomic>
#include <filesystem>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "spec/worker_description.h"
#include "worker/host_python.h"
#include "workloads/workload.h"

namespace traza {

// A package is asked for by all that decides what is in it.
struct PackageRequest {
  std::string workload;      // for its readable name
  CompiledStep step;         // what is compiled
  DeviceDescription device;  // a GPU: model and compute capability count
  std::string torch;         // that the worker runs, "2.11.0"
};

struct CachedPackage {
  std::filesystem::path path;
  bool built = false;  // just now
};

// The packages of compiled workloads, in a folder that workers share.
//
//   NAME.pt2   the package; NAME is the workload and 16 hex digits over all of
//              PackageRequest, the script and the versions of Python's PyTorch
//              and Triton
//   NAME.json  written last: the SHA-256 of the package, and what it was built
//              from. Without it, or when it does not fit, there is no package.
//   NAME.lock  held by the one that builds it; the others wait and use it
//   NAME.build scratch of the one that builds it; gone afterwards
//
// Nothing removes old packages: delete the folder to have all of them built
// anew. Thread-compatible; `python` and `stop` must outlive it.
class PackageCache {
 public:
  PackageCache(std::filesystem::path folder, absl::Duration compile_timeout,
               const HostPython& python, const std::atomic<bool>& stop);

  // The package, built where it is missing or damaged. The timeout covers the
  // wait for another builder and the compilation.
  //
  // CANCELLED, PHASE_TIMEOUT or COMPILE_FAILED of HostPython, or the error of
  // the file system.
  absl::StatusOr<CachedPackage> Get(const PackageRequest& request) const;

 private:
  absl::Status Build(const PackageRequest& request, const std::string& name,
                     absl::Duration timeout) const;
  absl::StatusOr<absl::Duration> LockUntil(int fd, const std::string& name,
                                           absl::Duration deadline) const;

  const std::filesystem::path folder_;
  const absl::Duration compile_timeout_;
  const HostPython& python_;
  const std::atomic<bool>& stop_;
};

}  // namespace traza

#endif  // WORKER_PACKAGE_CACHE_H_
