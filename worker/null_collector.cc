// SPDX-License-Identifier: Apache-2.0
#include "worker/null_collector.h"

namespace traza {

CollectorCapabilities NullCollector::Capabilities() const {
  return {.name = "null", .device_records = false, .note = note_};
}

absl::Status NullCollector::Prepare(const CollectorOptions& /*options*/) {
  return absl::OkStatus();
}
absl::Status NullCollector::Arm() { return absl::OkStatus(); }
absl::Status NullCollector::Disarm() { return absl::OkStatus(); }
absl::Status NullCollector::OpenWindow() { return absl::OkStatus(); }
absl::Status NullCollector::CloseWindow() { return absl::OkStatus(); }
absl::Status NullCollector::Drain(RawRecords* /*records*/) {
  return absl::OkStatus();
}

// The counters of devices stay absent: nothing was observed.
void NullCollector::Losses(Completeness* /*completeness*/) const {}

}  // namespace traza
