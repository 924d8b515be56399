// SPDX-License-Identifier: Apache-2.0
#include "worker/replay_collector.h"

#include <unistd.h>

#include "base/clock.h"
#include "base/status_macros.h"

namespace traza {

absl::Status ReplayCollector::Played(const char* method) const {
  if (script_.failure && script_.failure->first == method) {
    return script_.failure->second;
  }
  return absl::OkStatus();
}

CollectorCapabilities ReplayCollector::Capabilities() const {
  return {.name = "replay", .device_records = true, .note = ""};
}

absl::Status ReplayCollector::Prepare(const CollectorOptions& /*options*/) {
  return Played("Prepare");
}
absl::Status ReplayCollector::Arm() { return Played("Arm"); }
absl::Status ReplayCollector::Disarm() { return Played("Disarm"); }
absl::Status ReplayCollector::OpenWindow() {
  opened_ns_ = RealtimeNs();
  return Played("OpenWindow");
}
absl::Status ReplayCollector::CloseWindow() { return Played("CloseWindow"); }

absl::Status ReplayCollector::Drain(RawRecords* records) {
  RETURN_IF_ERROR(Played("Drain"));
  const NameTable& names = script_.records.names;
  for (RawHostEvent event : script_.records.host) {
    event.name = records->names.Intern(names.at(event.name));
    event.start_ns += opened_ns_;
    event.end_ns += opened_ns_;
    event.process = static_cast<int32_t>(getpid());
    event.thread = gettid();
    records->host.push_back(event);
  }
  for (RawDeviceEvent event : script_.records.device) {
    event.name = records->names.Intern(names.at(event.name));
    event.start_ns += opened_ns_;
    event.end_ns += opened_ns_;
    records->device.push_back(event);
  }
  return absl::OkStatus();
}

void ReplayCollector::Losses(Completeness* completeness) const {
  const Completeness& losses = script_.losses;
  if (losses.dropped) completeness->dropped = losses.dropped;
  if (losses.truncated_buffers) {
    completeness->truncated_buffers = losses.truncated_buffers;
  }
  if (losses.pool_misses) completeness->pool_misses = losses.pool_misses;
  if (losses.overhead_ns_in_window) {
    completeness->overhead_ns_in_window = losses.overhead_ns_in_window;
  }
  if (losses.buffer_requests_in_window) {
    completeness->buffer_requests_in_window = losses.buffer_requests_in_window;
  }
}

}  // namespace traza
