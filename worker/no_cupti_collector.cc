// SPDX-License-Identifier: Apache-2.0
// In place of cupti/ where traza is built without CUPTI.
#include "worker/device_collector.h"
#include "worker/null_collector.h"

namespace traza {

std::unique_ptr<Collector> MakeDeviceCollector(const DeviceDescription& device,
                                               const WindowClock& /*clock*/) {
  return std::make_unique<NullCollector>(
      device.kind == DeviceKind::kCpu
          ? "The job ran on the CPU, where operators are the work itself."
          : "This traza-worker was built without CUPTI.");
}

}  // namespace traza
