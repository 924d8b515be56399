// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_LAUNCHES_H_
#define TRACE_ANALYSIS_LAUNCHES_H_

#include <optional>
#include <vector>

#include "trace/analysis/device_answer.h"
#include "trace/analysis/device_lanes.h"
#include "trace/trace.h"

namespace traza {

// Latency, queues and outliers of the launches whose calls lie in the window of
// each lane (docs/definitions.md B5 to B7), in the order of the lanes. None
// where no call of such work is known.
//
// Latencies are those of kernels alone: a copy is called at another layer of
// CUDA, and such calls do not compare.
std::vector<std::optional<LaunchStats>> AnalyzeLaunches(
    const Trace& trace, const std::vector<DeviceLane>& lanes);

}  // namespace traza

#endif  // TRACE_ANALYSIS_LAUNCHES_H_
