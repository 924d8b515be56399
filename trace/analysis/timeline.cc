// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/timeline.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "base/error.h"
#include "base/status_macros.h"
#include "base/utf8.h"
#include "trace/analysis/timeline_fit.h"
#include "trace/analysis/timeline_lanes.h"
#include "trace/analysis/timeline_reader.h"

namespace traza {
namespace {

// Lanes that an error lists.
constexpr size_t kShownLanes = 20;

absl::Status Wrong(absl::string_view field, absl::string_view what) {
  return ErrorBuilder(absl::StatusCode::kInvalidArgument,
                      Reason::kInvalidArgument)
      .Violation(field, what)
      .Build(absl::StrCat("The field ", field, " ", what, "."));
}

absl::Status CheckQuery(const TimelineQuery& query) {
  const int32_t width = query.width.value_or(kDefaultTimelineWidth);
  if (width < 1 || width > kMaxTimelineWidth) {
    return Wrong("width", absl::StrCat("is ", width, "; must be 1 to ",
                                       kMaxTimelineWidth));
  }
  if (query.start_ns.has_value() && query.end_ns.has_value() &&
      *query.end_ns < *query.start_ns) {
    return Wrong("end_ns",
                 absl::StrCat("is ", *query.end_ns, ", before the start ",
                              *query.start_ns));
  }
  if (query.lanes.size() > kMaxTimelineLanes) {
    return Wrong("lanes", absl::StrCat("has ", query.lanes.size(),
                                       " ids; at most ", kMaxTimelineLanes));
  }
  return absl::OkStatus();
}

absl::Status KeepAsked(const std::vector<std::string>& asked,
                       std::vector<LaneRows>* lanes) {
  absl::flat_hash_set<std::string> known;
  std::vector<std::string> shown;
  for (const LaneRows& lane : *lanes) {
    known.insert(lane.lane.id);
    if (shown.size() < kShownLanes) shown.push_back(lane.lane.id);
  }
  if (lanes->size() > kShownLanes) shown.emplace_back("...");
  for (const std::string& id : asked) {
    if (known.contains(id)) continue;
    return Wrong(
        "lanes",
        absl::StrCat("names ", Quoted(id),
                     ", which the trace has not; it has: ",
                     shown.empty() ? "none" : absl::StrJoin(shown, ", ")));
  }
  const absl::flat_hash_set<std::string> wanted(asked.begin(), asked.end());
  std::erase_if(*lanes, [&](const LaneRows& lane) {
    return !wanted.empty() && !wanted.contains(lane.lane.id);
  });
  return absl::OkStatus();
}

TimelinePart PartOf(const TimelineQuery& query, const Timeline& timeline) {
  const auto cut = [&](int64_t time_ns) {
    return std::clamp(time_ns, timeline.trace_start_ns, timeline.trace_end_ns);
  };
  TimelinePart part;
  part.start_ns = cut(query.start_ns.value_or(timeline.trace_start_ns));
  part.end_ns = cut(query.end_ns.value_or(timeline.trace_end_ns));
  const int64_t width = query.width.value_or(kDefaultTimelineWidth);
  const int64_t length = part.end_ns - part.start_ns;
  part.bucket_ns = std::max<int64_t>(1, length / width + (length % width > 0));
  return part;
}

}  // namespace

absl::StatusOr<Timeline> MakeTimeline(const Trace& trace,
                                      const TimelineQuery& query) {
  RETURN_IF_ERROR(CheckQuery(query));
  std::vector<LaneRows> lanes = LanesOf(trace);
  RETURN_IF_ERROR(KeepAsked(query.lanes, &lanes));
  Timeline timeline;
  if (trace.rows() > 0) {
    timeline.trace_start_ns = timeline.trace_end_ns = trace.start_ns.front();
  }
  for (size_t row = 0; row < trace.rows(); ++row) {
    timeline.trace_end_ns = std::max(timeline.trace_end_ns, trace.end_ns(row));
  }
  const TimelinePart part = PartOf(query, timeline);
  timeline.start_ns = part.start_ns;
  timeline.end_ns = part.end_ns;
  timeline.bucket_ns = part.bucket_ns;
  if (lanes.size() > kMaxTimelineLanes) {
    lanes.resize(kMaxTimelineLanes);
    timeline.truncated = true;
  }
  for (LaneRows& lane : lanes) {
    ReadLane(trace, part, &lane);
    timeline.lanes.push_back(std::move(lane.lane));
  }
  FitTimeline(trace, query.max_bytes, &timeline);
  return timeline;
}

}  // namespace traza
