// SPDX-License-Identifier: Apache-2.0
#include "worker/describe.h"

#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "base/utf8.h"
#include "base/version.h"
#include "spec/model_folder.h"
#include "worker/host_python.h"
#include "workloads/nvrtc.h"
#include "workloads/registry.h"

namespace traza {
namespace {

// The workload with a kernel of our own, which needs the run-time compiler.
// Others have fused variants too, which are PyTorch's.
constexpr char kOwnKernel[] = "geglu_mlp";

// What the daemon reads of a reason, and a bit less.
constexpr size_t kMaxReasonBytes = 1000;

void MarkFusedVariants(const std::vector<DeviceDescription>& devices,
                       WorkloadSchema* workload) {
  if (workload->name != kOwnKernel) return;
  for (VariantSchema& variant : workload->variants) {
    if (variant.name != kFusedVariant) continue;
    for (const DeviceDescription& device : devices) {
      if (device.kind != DeviceKind::kGpu) continue;
      const absl::Status missing = NvrtcMissing();
      if (missing.ok()) return;
      variant.unavailable.try_emplace(device.id,
                                      std::string(missing.message()));
    }
  }
}

// Why nothing can be compiled here; empty when it can.
std::string WhyNotCompiled(const TorchRuntime& runtime) {
  const std::atomic<bool> never = false;
  const absl::StatusOr<HostPython> python =
      HostPython::Find(ProcessEnvironment());
  const absl::Status status =
      python.ok() ? python
                        ->Probe(runtime.versions().at("torch"),
                                {.timeout = kProbeTimeout, .stop = never})
                        .status()
                  : python.status();
  return std::string(status.message());
}

// GPU -> why a compiled variant cannot run there. A device that is itself
// unavailable says so itself.
std::map<std::string, std::string> CompiledUnavailable(
    const TorchRuntime& runtime) {
  std::map<std::string, std::string> reasons;
  std::optional<std::string> reason;  // of the GPUs, once asked for
  for (const DeviceDescription& device : runtime.devices()) {
    if (device.kind != DeviceKind::kGpu || device.unavailable.has_value()) {
      continue;
    }
    if (!reason.has_value()) reason = WhyNotCompiled(runtime);
    if (!reason->empty()) reasons[device.id] = *reason;
  }
  return reasons;
}

// Reasons are for people; what a program said of itself may be of any length.
void CutReasons(WorkloadSchema* workload) {
  for (VariantSchema& variant : workload->variants) {
    for (auto& [device, reason] : variant.unavailable) {
      if (reason.size() <= kMaxReasonBytes) continue;
      reason = absl::StrCat(CutUtf8(reason, kMaxReasonBytes), "...");
    }
  }
}

}  // namespace

WorkerDescription Describe(const TorchRuntime& runtime,
                           const std::filesystem::path& models) {
  WorkerDescription description;
  description.versions = runtime.versions();
  description.versions["traza"] = kVersion;
  description.capabilities = {"ops", "shapes", "standby"};
  description.devices = runtime.devices();
  const std::map<std::string, std::string> unavailable =
      CompiledUnavailable(runtime);
  for (const WorkloadEntry& entry : AllWorkloads()) {
    description.workloads.push_back(entry.schema);
    MarkFusedVariants(description.devices, &description.workloads.back());
    for (VariantSchema& variant : description.workloads.back().variants) {
      if (variant.name != kCompiledVariant) continue;
      variant.unavailable.insert(unavailable.begin(), unavailable.end());
    }
  }
  for (const RegisteredModel& model : ReadModels(models, WorkloadNames())) {
    description.workloads.push_back(
        SchemaOf(model, description.devices, description.versions.at("torch")));
  }
  for (WorkloadSchema& workload : description.workloads) CutReasons(&workload);
  return description;
}

}  // namespace traza
