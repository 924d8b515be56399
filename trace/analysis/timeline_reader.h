// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_TIMELINE_READER_H_
#define TRACE_ANALYSIS_TIMELINE_READER_H_

#include <algorithm>
#include <cstdint>

#include "trace/analysis/timeline_lanes.h"
#include "trace/trace.h"

namespace traza {

// The part that is shown, and its pieces.
struct TimelinePart {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t bucket_ns = 1;

  bool Contains(int64_t start, int64_t end) const {
    return start == end ? start >= start_ns && start <= end_ns
                        : start < end_ns && end > start_ns;
  }
  int64_t PieceOf(int64_t time_ns) const {
    return (std::max(time_ns, start_ns) - start_ns) / bucket_ns;
  }
};

// Fills in what the lane shows of the part, at its resolution: events, buckets,
// samples, largest depth. Names are those of the trace.
void ReadLane(const Trace& trace, const TimelinePart& part, LaneRows* lane);

}  // namespace traza

#endif  // TRACE_ANALYSIS_TIMELINE_READER_H_
