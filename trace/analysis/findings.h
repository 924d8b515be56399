// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_FINDINGS_H_
#define TRACE_ANALYSIS_FINDINGS_H_

#include <vector>

#include "trace/analysis/answer.h"
#include "trace/analysis/device_lanes.h"
#include "trace/analysis/row_times.h"
#include "trace/analysis/step_index.h"
#include "trace/trace.h"

namespace traza {

// What stands out and can be proven from the trace, the most severe first.
// Needs the rest of `answer`, verdict included. In steps means: in traced ones.
// What rests on the names of kernels says nothing of names that it does not
// know. finding_ids.h lists what there is.
std::vector<Finding> FindFindings(const Trace& trace, const RowTimes& times,
                                  const StepIndex& index,
                                  const std::vector<DeviceLane>& lanes,
                                  const Answer& answer);

}  // namespace traza

#endif  // TRACE_ANALYSIS_FINDINGS_H_
