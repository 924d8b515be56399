// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_DESCRIBE_H_
#define WORKER_DESCRIBE_H_

#include <filesystem>

#include "spec/worker_description.h"
#include "worker/torch_runtime.h"

namespace traza {

// What this build can do on this host. Without the speed of the devices, which
// takes time to measure. The operator's own models are those of the folder
// `models`; empty is none.
WorkerDescription Describe(const TorchRuntime& runtime,
                           const std::filesystem::path& models);

}  // namespace traza

#endif  // WORKER_DESCRIBE_H_
