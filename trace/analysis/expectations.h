// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_EXPECTATIONS_H_
#define TRACE_ANALYSIS_EXPECTATIONS_H_

#include <vector>

#include "trace/analysis/answer.h"
#include "trace/trace.h"

namespace traza {

// What came of the expectations that the trace carries, given all the rest of
// its answer: those that it does not meet first, then those that it cannot
// decide, each group in the order of the header. An expression that makes no
// sense, or that names another trace, is one that cannot be decided. O(rows) an
// expectation.
std::vector<ExpectationAnswer> AnswerExpectations(const Trace& trace,
                                                  const Answer& answer);

}  // namespace traza

#endif  // TRACE_ANALYSIS_EXPECTATIONS_H_
