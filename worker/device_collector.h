// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_DEVICE_COLLECTOR_H_
#define WORKER_DEVICE_COLLECTOR_H_

#include <memory>

#include "spec/worker_description.h"
#include "worker/collector.h"
#include "worker/tick_clock.h"

namespace traza {

// The collector for jobs on `device`: CUPTI's on a GPU, one that collects
// nothing and says why elsewhere. Call it once in a process, before the first
// context on the device. What goes wrong is said by Prepare().
std::unique_ptr<Collector> MakeDeviceCollector(const DeviceDescription& device,
                                               const WindowClock& clock);

}  // namespace traza

#endif  // WORKER_DEVICE_COLLECTOR_H_
