// SPDX-License-Identifier: Apache-2.0
#include "api/convert_breakdown.h"

#include <cstdint>

#include "api/optional_fields.h"

namespace traza {
namespace {

#define TRAZA_TIME_SHARES(X) \
  X(compute)                 \
  X(communication)           \
  X(copy)                    \
  X(head)                    \
  X(inner)                   \
  X(tail)

#define TRAZA_IDLE_CLASSES(X) \
  X(profiler)                 \
  X(sync)                     \
  X(host)                     \
  X(launch)                   \
  X(dependency)               \
  X(kernel_gap)               \
  X(other)                    \
  X(unknown)

#define TRAZA_BREAKDOWN_FIELDS(X) \
  X(communication_overlap)        \
  X(copy_overlap)                 \
  X(span_ns)                      \
  X(busy_per_step_p50_ns)         \
  X(kernel_gap_limit_ns)

#define TRAZA_LAUNCH_COUNTS(X) \
  X(launches)                  \
  X(idle)                      \
  X(queued)                    \
  X(latency_samples)           \
  X(waiting_max)               \
  X(outstanding_max)           \
  X(slow_calls)                \
  X(slow_launches)             \
  X(short_kernels)

#define TRAZA_LAUNCH_FIELDS(X) \
  X(late)                      \
  X(latency_min_ns)            \
  X(latency_p50_ns)            \
  X(latency_p90_ns)            \
  X(latency_p99_ns)            \
  X(queueing_p50_ns)           \
  X(queueing_p99_ns)           \
  X(waiting_mean)              \
  X(outstanding_mean)

// A time in ns and a message TimeShare of the same name; `window_ns` is in
// scope.
#define TRAZA_SET_TIME_SHARE(field) \
  if (from.field##_ns.has_value())  \
    *to.mutable_##field() = ShareOf(*from.field##_ns, window_ns);
#define TRAZA_GET_TIME_SHARE(field) \
  if (from.has_##field()) to.field##_ns = from.field().ns();
#define TRAZA_SET_PLAIN(field) to.set_##field(from.field);
#define TRAZA_GET_PLAIN(field) to.field = from.field();

v1::TimeShare ShareOf(int64_t ns, int64_t window_ns) {
  v1::TimeShare to;
  to.set_ns(ns);
  if (window_ns > 0) {
    to.set_share(static_cast<double>(ns) / static_cast<double>(window_ns));
  }
  return to;
}

v1::StreamBusy ToProto(const StreamBusy& from, int64_t window_ns) {
  v1::StreamBusy to;
  if (from.stream.has_value()) to.set_stream(*from.stream);
  to.set_busy_ns(from.busy_ns);
  if (window_ns > 0) {
    to.set_busy_share(ShareOf(from.busy_ns, window_ns).share());
  }
  to.set_records(from.records);
  return to;
}

StreamBusy FromProto(const v1::StreamBusy& from) {
  StreamBusy to;
  if (from.has_stream()) to.stream = from.stream();
  to.busy_ns = from.busy_ns();
  to.records = from.records();
  return to;
}

v1::IdleClasses ToProto(const IdleClasses& from, int64_t window_ns) {
  v1::IdleClasses to;
  TRAZA_IDLE_CLASSES(TRAZA_SET_TIME_SHARE)
  return to;
}

IdleClasses FromProto(const v1::IdleClasses& from) {
  IdleClasses to;
  TRAZA_IDLE_CLASSES(TRAZA_GET_TIME_SHARE)
  return to;
}

v1::LaunchStats ToProto(const LaunchStats& from) {
  v1::LaunchStats to;
  TRAZA_LAUNCH_COUNTS(TRAZA_SET_PLAIN)
  TRAZA_LAUNCH_FIELDS(TRAZA_SET_OPTIONAL)
  return to;
}

LaunchStats FromProto(const v1::LaunchStats& from) {
  LaunchStats to;
  TRAZA_LAUNCH_COUNTS(TRAZA_GET_PLAIN)
  TRAZA_LAUNCH_FIELDS(TRAZA_GET_OPTIONAL)
  return to;
}

}  // namespace

v1::DeviceBreakdown ToProto(const DeviceBreakdown& from) {
  const int64_t window_ns = from.window_ns;
  v1::DeviceBreakdown to;
  to.set_device(from.device);
  to.set_window_ns(from.window_ns);
  to.set_busy_ns(from.busy_ns);
  to.set_idle_ns(from.idle_ns);
  to.set_records(from.records);
  if (window_ns > 0) {
    to.set_busy_share(ShareOf(from.busy_ns, window_ns).share());
    to.set_idle_share(ShareOf(from.idle_ns, window_ns).share());
  }
  TRAZA_TIME_SHARES(TRAZA_SET_TIME_SHARE)
  TRAZA_BREAKDOWN_FIELDS(TRAZA_SET_OPTIONAL)
  for (const StreamBusy& stream : from.streams) {
    *to.add_streams() = ToProto(stream, window_ns);
  }
  to.set_stream_count(from.stream_count);
  *to.mutable_idle_classes() = ToProto(from.idle_classes, window_ns);
  if (from.launches.has_value()) {
    *to.mutable_launches() = ToProto(*from.launches);
  }
  return to;
}

DeviceBreakdown FromProto(const v1::DeviceBreakdown& from) {
  DeviceBreakdown to;
  to.device = from.device();
  to.window_ns = from.window_ns();
  to.busy_ns = from.busy_ns();
  to.idle_ns = from.idle_ns();
  to.records = from.records();
  TRAZA_TIME_SHARES(TRAZA_GET_TIME_SHARE)
  TRAZA_BREAKDOWN_FIELDS(TRAZA_GET_OPTIONAL)
  for (const v1::StreamBusy& stream : from.streams()) {
    to.streams.push_back(FromProto(stream));
  }
  to.stream_count = from.stream_count();
  to.idle_classes = FromProto(from.idle_classes());
  if (from.has_launches()) to.launches = FromProto(from.launches());
  return to;
}

}  // namespace traza
