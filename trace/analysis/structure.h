// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_STRUCTURE_H_
#define TRACE_ANALYSIS_STRUCTURE_H_

#include <vector>

#include "trace/analysis/answer.h"
#include "trace/analysis/device_lanes.h"
#include "trace/analysis/row_times.h"
#include "trace/analysis/step_index.h"
#include "trace/trace.h"

namespace traza {

// What the traced steps have in common: of the most frequent kind of step, its
// device work, or its operators (merged as in the table) where the trace has no
// device work. A file without traced steps is one step.
//
// Device work that names no step (depth kernels) is averaged: that of the
// lanes, by the number of steps.
Structure AnalyzeStructure(const Trace& trace, const RowTimes& times,
                           const StepIndex& index,
                           const std::vector<DeviceLane>& lanes);

}  // namespace traza

#endif  // TRACE_ANALYSIS_STRUCTURE_H_
