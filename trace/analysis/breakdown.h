// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_BREAKDOWN_H_
#define TRACE_ANALYSIS_BREAKDOWN_H_

#include <vector>

#include "trace/analysis/device_answer.h"
#include "trace/analysis/device_lanes.h"
#include "trace/analysis/step_index.h"
#include "trace/trace.h"

namespace traza {

// Where the time of each lane went (docs/definitions.md B3, B4). Its launches
// are left out: see launches.h.
std::vector<DeviceBreakdown> AnalyzeBreakdown(
    const Trace& trace, const StepIndex& steps,
    const std::vector<DeviceLane>& lanes,
    int64_t kernel_gap_limit_ns = kKernelGapLimitNs);

}  // namespace traza

#endif  // TRACE_ANALYSIS_BREAKDOWN_H_
