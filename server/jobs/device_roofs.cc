// SPDX-License-Identifier: Apache-2.0
#include "server/jobs/device_roofs.h"

#include <optional>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"

#include "base/log.h"
#include "base/status_macros.h"

namespace traza {
namespace {

std::string VersionOf(const WorkerDescription& host, const char* what) {
  const auto found = host.versions.find(what);
  return found == host.versions.end() ? "" : found->second;
}

// Another driver or PyTorch brings other kernels.
std::string KeyOf(const WorkerDescription& host,
                  const DeviceDescription& device) {
  return absl::StrCat(*device.uuid, " driver ", VersionOf(host, "driver"),
                      " torch ", VersionOf(host, "torch"));
}

absl::StatusOr<DeviceRoofs> Measure(const DeviceRoofsRooms& rooms,
                                    const std::string& device) {
  DeviceLease* const lease = rooms.lease_of(device);
  if (lease == nullptr) return rooms.launcher.Measure(device);
  ASSIGN_OR_RETURN(const bool leased,
                   lease->TryAcquire(DeviceLease::IfTaken::kGiveUp));
  if (!leased) return absl::UnavailableError("Another daemon measures on it.");
  const absl::Cleanup release = [&] { lease->Release(); };
  return rooms.launcher.Measure(device);
}

absl::StatusOr<DeviceRoofs> FindOrMeasure(const DeviceRoofsRooms& rooms,
                                          const std::string& key,
                                          const std::string& device) {
  ASSIGN_OR_RETURN(std::optional<DeviceRoofs> known,
                   rooms.store.FindRoofs(key));
  if (known.has_value()) return *std::move(known);
  LogInfo("Measuring what ", device, " can do at most.");
  ASSIGN_OR_RETURN(DeviceRoofs roofs, Measure(rooms, device));
  RETURN_IF_ERROR(rooms.store.PutRoofs(key, roofs, rooms.clock.Now()));
  return roofs;
}

}  // namespace

void FillRoofs(const DeviceRoofsRooms& rooms, WorkerDescription* host) {
  for (DeviceDescription& device : host->devices) {
    if (device.kind != DeviceKind::kGpu || device.unavailable.has_value() ||
        !device.uuid.has_value()) {
      continue;
    }
    absl::StatusOr<DeviceRoofs> roofs =
        FindOrMeasure(rooms, KeyOf(*host, device), device.id);
    if (roofs.ok()) {
      device.roofs = *std::move(roofs);
    } else {
      LogWarning("What ", device.id,
                 " can do at most is unknown: ", roofs.status().message());
    }
  }
}

}  // namespace traza
