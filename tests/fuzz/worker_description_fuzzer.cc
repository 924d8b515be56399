// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>

#include "nlohmann/json.hpp"

#include "base/check.h"
#include "spec/admission.h"
#include "spec/json_fields.h"
#include "spec/worker_description.h"

// A description by an unknown worker: whatever is accepted must come back
// equal and must not break the admission of jobs.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto host = traza::WorkerDescriptionFromJson(
      absl::string_view(reinterpret_cast<const char*>(data), size));
  if (!host.ok()) return 0;
  const auto again =
      traza::WorkerDescriptionFromJson(traza::DumpJson(ToJson(*host)));
  TRAZA_CHECK(again.ok() && *again == *host);
  for (const traza::WorkloadSchema& workload : host->workloads) {
    for (const traza::DeviceDescription& device : host->devices) {
      (void)traza::Admit({.workload = workload.name, .device = device.id},
                         *host, traza::AdmissionLimits());
    }
  }
  return 0;
}
