// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_TIMELINE_FIT_H_
#define TRACE_ANALYSIS_TIMELINE_FIT_H_

#include <cstddef>

#include "trace/analysis/timeline.h"
#include "trace/trace.h"

namespace traza {

// Keeps of a timeline what fits into `max_bytes` on the wire, the longest
// first, and says whether that was all. Names are those of the trace before,
// and those of the timeline after it.
void FitTimeline(const Trace& trace, size_t max_bytes, Timeline* timeline);

}  // namespace traza

#endif  // TRACE_ANALYSIS_TIMELINE_FIT_H_
