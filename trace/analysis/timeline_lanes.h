// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_TIMELINE_LANES_H_
#define TRACE_ANALYSIS_TIMELINE_LANES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "trace/analysis/timeline.h"
#include "trace/trace.h"

namespace traza {

// The rows of one lane of a timeline.
struct LaneRows {
  TimelineLane lane;         // without events, buckets, samples and depth
  std::vector<size_t> rows;  // by start
};

// The lanes of a trace: steps, threads, streams, counters, each by number.
std::vector<LaneRows> LanesOf(const Trace& trace);

// Gives each event of a lane the lowest depth that is free for all its time, so
// that no two of one depth overlap: not operators that cross each other, nor
// kernels of one stream that do. Events come by start. O(log events) each.
class DepthFinder {
 public:
  int32_t Next(int64_t start_ns, int64_t end_ns);
  // The largest so far.
  int32_t max_depth() const { return depths_ > 0 ? depths_ - 1 : 0; }

 private:
  template <typename T>
  using LeastFirst = std::priority_queue<T, std::vector<T>, std::greater<T>>;

  LeastFirst<std::pair<int64_t, int32_t>> busy_;  // until when, depth
  LeastFirst<int32_t> free_;
  int32_t depths_ = 0;
};

}  // namespace traza

#endif  // TRACE_ANALYSIS_TIMELINE_LANES_H_
