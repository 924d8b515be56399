// SPDX-License-Identifier: Apache-2.0
#include "worker/describe.h"

#include "base/version.h"
#include "workloads/registry.h"

namespace traza {

WorkerDescription Describe(const TorchRuntime& runtime) {
  WorkerDescription description;
  description.versions = runtime.versions();
  description.versions["traza"] = kVersion;
  description.capabilities = {"ops", "shapes", "standby"};
  description.devices = runtime.devices();
  for (const WorkloadEntry& entry : AllWorkloads()) {
    description.workloads.push_back(entry.schema);
  }
  return description;
}

}  // namespace traza
