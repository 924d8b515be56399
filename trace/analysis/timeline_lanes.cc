// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/timeline_lanes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "base/utf8.h"
#include "trace/record.h"

namespace traza {
namespace {

// The name of the lane of all allocations of one device.
constexpr int32_t kAllocations = -1;
constexpr int32_t kNoName = -2;

// What tells lanes apart, and their order: kind, process or device, thread or
// stream, name of a counter.
using LaneKey = std::tuple<LaneKind, int64_t, int64_t, int32_t>;

LaneKey KeyOf(const Trace& trace, size_t row) {
  switch (trace.kind[row]) {
    case EventKind::kPhase:
    case EventKind::kStep:
      return {LaneKind::kSteps, 0, 0, kNoName};
    case EventKind::kCounter:
      return {LaneKind::kCounter, trace.device.at(row), 0, trace.name[row]};
    case EventKind::kAlloc:
      return {LaneKind::kCounter, trace.device.at(row), 0, kAllocations};
    case EventKind::kKernel:
    case EventKind::kCopy:
    case EventKind::kFill:
      return {LaneKind::kStream, trace.device.at(row), trace.stream.at(row),
              kNoName};
    default:
      break;
  }
  // A wait of a stream has no thread.
  if (trace.thread.is_null(row) && !trace.device.is_null(row)) {
    return {LaneKind::kStream, trace.device.at(row), trace.stream.at(row),
            kNoName};
  }
  return {LaneKind::kThread, trace.process.at(row), trace.thread.at(row),
          kNoName};
}

template <typename T>
std::optional<T> Known(T value) {
  return value == kNull<T> ? std::nullopt : std::optional<T>(value);
}

template <typename T>
std::string Text(const std::optional<T>& value) {
  return value.has_value() ? absl::StrCat(*value) : "-";
}

// What the name of a counter ends with.
const char* UnitOf(absl::string_view name) {
  constexpr std::pair<const char*, const char*> kUnits[] = {
      {"_watts", "W"},    {"_hz", "Hz"},       {"_bytes", "bytes"},
      {"_celsius", "°C"}, {"_ratio", "ratio"}, {"_ns", "ns"}};
  for (const auto& [ending, unit] : kUnits) {
    if (absl::EndsWith(name, ending)) return unit;
  }
  return "";
}

void DescribeCounter(const Trace& trace, int32_t name, TimelineLane* lane) {
  std::string text = "allocated";
  lane->unit = "bytes";
  if (name != kAllocations) {
    const std::string& full = trace.names.at(name);
    lane->unit = UnitOf(full);
    // Long names would differ beyond where they are cut.
    text = ToValidUtf8(CutUtf8(full, kMaxTimelineNameBytes));
    if (text != full) absl::StrAppend(&text, "#", name);
  }
  lane->id = absl::StrCat("counter/", Text(lane->device), "/", text);
  lane->title = lane->device.has_value()
                    ? absl::StrCat(text, " of device ", *lane->device)
                    : text;
}

TimelineLane Describe(const Trace& trace, size_t row) {
  const LaneKey key = KeyOf(trace, row);
  TimelineLane lane;
  lane.kind = std::get<0>(key);
  switch (lane.kind) {
    case LaneKind::kSteps:
      lane.id = "steps";
      lane.title = "Steps";
      break;
    case LaneKind::kThread:
      lane.process = Known(trace.process.at(row));
      lane.thread = Known(trace.thread.at(row));
      lane.id =
          absl::StrCat("thread/", Text(lane.process), "/", Text(lane.thread));
      lane.title = absl::StrCat("Thread ", Text(lane.thread), " of process ",
                                Text(lane.process));
      break;
    case LaneKind::kStream:
      lane.device = Known(trace.device.at(row));
      lane.stream = Known(trace.stream.at(row));
      lane.id =
          absl::StrCat("stream/", Text(lane.device), "/", Text(lane.stream));
      lane.title = absl::StrCat("Stream ", Text(lane.stream), " of device ",
                                Text(lane.device));
      break;
    case LaneKind::kCounter:
      lane.device = Known(trace.device.at(row));
      DescribeCounter(trace, std::get<3>(key), &lane);
      break;
  }
  return lane;
}

}  // namespace

std::vector<LaneRows> LanesOf(const Trace& trace) {
  std::map<LaneKey, LaneRows> lanes;
  LaneRows* last = nullptr;
  LaneKey last_key{};
  for (size_t row = 0; row < trace.rows(); ++row) {
    const LaneKey key = KeyOf(trace, row);
    // Neighbours mostly share a lane.
    if (last == nullptr || key != last_key) {
      last = &lanes[key];
      last_key = key;
    }
    if (last->rows.empty()) last->lane = Describe(trace, row);
    last->rows.push_back(row);
  }
  std::vector<LaneRows> result;
  result.reserve(lanes.size());
  for (auto& [key, lane] : lanes) result.push_back(std::move(lane));
  return result;
}

int32_t DepthFinder::Next(int64_t start_ns, int64_t end_ns) {
  while (!busy_.empty() && busy_.top().first <= start_ns) {
    free_.push(busy_.top().second);
    busy_.pop();
  }
  int32_t depth = depths_;
  if (free_.empty()) {
    ++depths_;
  } else {
    depth = free_.top();
    free_.pop();
  }
  busy_.emplace(end_ns, depth);
  return depth;
}

}  // namespace traza
