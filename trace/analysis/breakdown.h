// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_BREAKDOWN_H_
#define TRACE_ANALYSIS_BREAKDOWN_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "trace/analysis/answer.h"
#include "trace/trace.h"

namespace traza {

// [begin, end) in which device time is accounted for (tracing.md, part B): from
// the start of the first traced step to the later of the last one's end and the
// end of the last device work that a traced step launched. Without traced steps
// the whole file.
struct Window {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
};
std::optional<Window> WindowOf(const Trace& trace);

// One entry a device that did work, by number. Busy is the union of its work,
// clipped to the window.
std::vector<DeviceBreakdown> AnalyzeBreakdown(const Trace& trace);

}  // namespace traza

#endif  // TRACE_ANALYSIS_BREAKDOWN_H_
