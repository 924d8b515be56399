// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_VERDICT_H_
#define TRACE_ANALYSIS_VERDICT_H_

#include <optional>
#include <vector>

#include "trace/analysis/answer.h"
#include "trace/analysis/device_lanes.h"
#include "trace/analysis/row_times.h"
#include "trace/trace.h"

namespace traza {

// What a step spends its time on (docs/definitions.md B11). Needs validity,
// steps, structure and breakdown of `answer`, and adds to its note why there is
// no verdict.
//
// None for an INVALID trace. None where a device may have worked unseen, and
// where it was idle for reasons that were not recorded.
std::optional<Verdict> MakeVerdict(const Trace& trace, const RowTimes& times,
                                   const std::vector<DeviceLane>& lanes,
                                   Answer* answer);

}  // namespace traza

#endif  // TRACE_ANALYSIS_VERDICT_H_
