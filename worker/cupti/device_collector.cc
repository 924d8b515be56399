// SPDX-License-Identifier: Apache-2.0
#include "worker/device_collector.h"

#include "worker/cupti/cupti_collector.h"
#include "worker/null_collector.h"

namespace traza {

std::unique_ptr<Collector> MakeDeviceCollector(const DeviceDescription& device,
                                               const WindowClock& clock) {
  if (device.kind == DeviceKind::kCpu) {
    return std::make_unique<NullCollector>(
        "The job ran on the CPU, where operators are the work itself.");
  }
  return std::make_unique<CuptiCollector>(clock, device.multiprocessor);
}

}  // namespace traza
