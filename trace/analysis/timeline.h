// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_TIMELINE_H_
#define TRACE_ANALYSIS_TIMELINE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "trace/record.h"
#include "trace/trace.h"

namespace traza {

// A part of a trace for a picture of a given width. Times are CLOCK_REALTIME,
// in ns.

enum class LaneKind : uint8_t {
  kSteps,    // phases and steps
  kThread,   // ranges, operators, calls, waits, overhead of one CPU thread
  kStream,   // device work, and waits, of one stream
  kCounter,  // values of one counter, or the memory that was allocated
};

// One event that is wide enough to be shown.
struct TimelineEvent {
  int64_t id = 0;  // row of the trace
  EventKind kind = EventKind::kOp;
  int32_t name = 0;  // index into Timeline::names
  int64_t start_ns = 0;
  int64_t duration_ns = 0;
  // Two events of one lane and depth never overlap. Where events only enclose
  // each other, the number of those that enclose it.
  int32_t depth = 0;
  std::optional<int64_t> op, call;

  friend bool operator==(const TimelineEvent&, const TimelineEvent&) = default;
};

// Events of one depth that are too short, and start in one piece of the part.
// It lasts from the start of the first of them to the end of the last.
struct TimelineBucket {
  int64_t start_ns = 0;
  int64_t duration_ns = 0;
  int32_t depth = 0;
  int64_t count = 0;
  int64_t busy_ns = 0;  // union of their durations
  // Of the name that takes most of busy_ns.
  EventKind kind = EventKind::kOp;
  int32_t name = 0;  // index into Timeline::names

  friend bool operator==(const TimelineBucket&,
                         const TimelineBucket&) = default;
};

// Values of a counter in one piece of the part.
struct TimelineSample {
  int64_t time_ns = 0;  // start of the piece
  double mean = 0;
  double min = 0;
  double max = 0;
  int64_t count = 0;

  friend bool operator==(const TimelineSample&,
                         const TimelineSample&) = default;
};

struct TimelineLane {
  // "steps", "thread/PROCESS/THREAD", "stream/DEVICE/STREAM",
  // "counter/DEVICE/NAME", "-" for what is unknown. Valid UTF-8.
  std::string id;
  LaneKind kind = LaneKind::kSteps;
  std::string title;
  std::optional<int32_t> process, device, stream;
  std::optional<int64_t> thread;
  std::string unit;                     // of a counter: "W", "Hz", "bytes", ...
  int32_t max_depth = 0;                // of the whole trace
  std::vector<TimelineEvent> events;    // by start
  std::vector<TimelineBucket> buckets;  // by start
  std::vector<TimelineSample> samples;  // by time
};

struct Timeline {
  int64_t start_ns = 0;  // of the part
  int64_t end_ns = 0;
  int64_t trace_start_ns = 0;
  int64_t trace_end_ns = 0;
  int64_t bucket_ns = 1;            // of one piece; shorter events are merged
  std::vector<TimelineLane> lanes;  // in the order in which to show them
  std::vector<std::string> names;   // each once; long ones are cut
  bool truncated = false;  // what did not fit was left out, shortest first
};

inline constexpr int32_t kDefaultTimelineWidth = 1000;
inline constexpr int32_t kMaxTimelineWidth = 10'000;
inline constexpr size_t kMaxTimelineLanes = 1000;
inline constexpr size_t kMaxTimelineNameBytes = 256;

struct TimelineQuery {
  std::optional<int64_t> start_ns, end_ns;  // absent: those of the trace
  std::optional<int32_t> width;             // pieces; kDefaultTimelineWidth
  std::vector<std::string> lanes;           // ids; empty means all
  size_t max_bytes = size_t{3} << 20;       // of the reply, about
};

// `trace` is valid. A part that reaches beyond the trace is cut to it.
// INVALID_ARGUMENT, with the field in the violation, for a width out of range,
// an end before the start, too many lanes, and a lane that the trace has not
// (with those that it has). O(rows log rows), whatever the trace holds.
absl::StatusOr<Timeline> MakeTimeline(const Trace& trace,
                                      const TimelineQuery& query);

}  // namespace traza

#endif  // TRACE_ANALYSIS_TIMELINE_H_
