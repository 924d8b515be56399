// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_CUDA_DRIVER_H_
#define WORKER_CUDA_DRIVER_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "spec/worker_description.h"

namespace traza {

// Why the last dlopen of this thread failed.
std::string LoadError();

// What NVIDIA's driver says about this host. It is opened at run time, so that
// one binary runs with and without.
struct CudaDriver {
  std::map<std::string, std::string> versions;  // "driver", "cuda"
  std::vector<DeviceDescription> devices;       // "gpu0", ...

  // NOT_FOUND, with the reason in one sentence, where there is no driver or no
  // GPU. Starts the driver; the first time in a process takes about 0.1 s.
  static absl::StatusOr<CudaDriver> Open();
};

}  // namespace traza

#endif  // WORKER_CUDA_DRIVER_H_
