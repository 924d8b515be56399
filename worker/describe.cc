// SPDX-License-Identifier: Apache-2.0
#include "worker/describe.h"

#include <string>
#include <vector>

#include "base/version.h"
#include "workloads/nvrtc.h"
#include "workloads/registry.h"

namespace traza {
namespace {

// The workload with a kernel of our own, which needs the run-time compiler.
// Others have fused variants too, which are PyTorch's.
constexpr char kOwnKernel[] = "geglu_mlp";

void MarkFusedVariants(const std::vector<DeviceDescription>& devices,
                       WorkloadSchema* workload) {
  for (VariantSchema& variant : workload->variants) {
    if (workload->name != kOwnKernel || variant.name != kFusedVariant) continue;
    for (const DeviceDescription& device : devices) {
      if (device.kind != DeviceKind::kGpu) continue;
      const absl::Status missing = NvrtcMissing();
      if (missing.ok()) return;
      variant.unavailable.try_emplace(device.id,
                                      std::string(missing.message()));
    }
  }
}

}  // namespace

WorkerDescription Describe(const TorchRuntime& runtime) {
  WorkerDescription description;
  description.versions = runtime.versions();
  description.versions["traza"] = kVersion;
  description.capabilities = {"ops", "shapes", "standby"};
  description.devices = runtime.devices();
  for (const WorkloadEntry& entry : AllWorkloads()) {
    description.workloads.push_back(entry.schema);
    MarkFusedVariants(description.devices, &description.workloads.back());
  }
  return description;
}

}  // namespace traza
