// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_FINDINGS_H_
#define TRACE_ANALYSIS_FINDINGS_H_

#include <vector>

#include "trace/analysis/answer.h"
#include "trace/trace.h"

namespace traza {

// What stands out and can be proven from the trace:
//   cold-step  info: the first cold step took at least three times as long as
//              a timed one (a traced one where none was timed)
std::vector<Finding> FindFindings(const Trace& trace, const StepsAnswer& steps);

}  // namespace traza

#endif  // TRACE_ANALYSIS_FINDINGS_H_
