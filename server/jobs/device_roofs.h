// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_JOBS_DEVICE_ROOFS_H_
#define SERVER_JOBS_DEVICE_ROOFS_H_

#include <functional>
#include <string>

#include "base/clock.h"
#include "server/host/device_lease.h"
#include "server/jobs/worker_launcher.h"
#include "server/store/job_store.h"
#include "spec/worker_description.h"

namespace traza {

struct DeviceRoofsRooms {
  WorkerLauncher& launcher;
  JobStore& store;
  const Clock& clock;
  // Of a device id; null where nothing else can use the device.
  std::function<DeviceLease*(const std::string&)> lease_of;
};

// Fills in the roofs of every GPU of `host` that can run jobs: as they were
// measured for this GPU, driver and PyTorch before, or measured now, which
// takes some seconds for each. Where that is not possible (another daemon or
// program uses the GPU), the log says so and they stay unknown until the next
// start. Blocks; jobs must not run yet.
void FillRoofs(const DeviceRoofsRooms& rooms, WorkerDescription* host);

}  // namespace traza

#endif  // SERVER_JOBS_DEVICE_ROOFS_H_
