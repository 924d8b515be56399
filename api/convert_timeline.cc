// SPDX-License-Identifier: Apache-2.0
#include "api/convert_timeline.h"

#include "api/convert_enum.h"
#include "api/optional_fields.h"
#include "base/utf8.h"

namespace traza {
namespace {

v1::TimelineEvent ToProto(const TimelineEvent& from) {
  v1::TimelineEvent to;
  to.set_id(from.id);
  to.set_kind(traza::ToProto(from.kind));
  to.set_name_index(from.name);
  to.set_start_ns(from.start_ns);
  to.set_duration_ns(from.duration_ns);
  to.set_depth(from.depth);
  TRAZA_SET_OPTIONAL(op)
  TRAZA_SET_OPTIONAL(call)
  return to;
}

v1::TimelineBucket ToProto(const TimelineBucket& from) {
  v1::TimelineBucket to;
  to.set_start_ns(from.start_ns);
  to.set_duration_ns(from.duration_ns);
  to.set_depth(from.depth);
  to.set_count(from.count);
  to.set_busy_ns(from.busy_ns);
  to.set_kind(traza::ToProto(from.kind));
  to.set_name_index(from.name);
  return to;
}

v1::TimelineSample ToProto(const TimelineSample& from) {
  v1::TimelineSample to;
  to.set_time_ns(from.time_ns);
  to.set_mean(from.mean);
  to.set_min(from.min);
  to.set_max(from.max);
  to.set_count(from.count);
  return to;
}

v1::TimelineLane ToProto(const TimelineLane& from) {
  v1::TimelineLane to;
  to.set_id(from.id);
  to.set_kind(traza::ToProto(from.kind));
  to.set_title(from.title);
  TRAZA_SET_OPTIONAL(process)
  TRAZA_SET_OPTIONAL(thread)
  TRAZA_SET_OPTIONAL(device)
  TRAZA_SET_OPTIONAL(stream)
  to.set_unit(from.unit);
  to.set_max_depth(from.max_depth);
  for (const TimelineEvent& event : from.events) {
    *to.add_events() = ToProto(event);
  }
  for (const TimelineBucket& bucket : from.buckets) {
    *to.add_buckets() = ToProto(bucket);
  }
  for (const TimelineSample& sample : from.samples) {
    *to.add_samples() = ToProto(sample);
  }
  return to;
}

}  // namespace

v1::Timeline ToProto(const Timeline& timeline) {
  v1::Timeline to;
  to.set_start_ns(timeline.start_ns);
  to.set_end_ns(timeline.end_ns);
  to.set_trace_start_ns(timeline.trace_start_ns);
  to.set_trace_end_ns(timeline.trace_end_ns);
  to.set_bucket_ns(timeline.bucket_ns);
  for (const TimelineLane& lane : timeline.lanes) {
    *to.add_lanes() = ToProto(lane);
  }
  for (const std::string& name : timeline.names) {
    to.add_names(ToValidUtf8(name));
  }
  to.set_truncated(timeline.truncated);
  return to;
}

}  // namespace traza
