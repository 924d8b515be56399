// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_VERDICT_PARTS_H_
#define TRACE_ANALYSIS_VERDICT_PARTS_H_

#include <string>

#include "absl/strings/string_view.h"

#include "trace/analysis/answer.h"

namespace traza {

// What verdicts of the CPU and of devices have in common.

// Step times, and what tracing adds to them.
void AddStepNumbers(const StepsAnswer& steps, Verdict* verdict);

// Takes `loss` from the confidence, which stays at or above a least, and says
// why.
void LowerConfidence(double loss, std::string reason, Verdict* verdict);
// Does so for each criterion that was missed, but for `except`, which counted
// already; and a little for all that nobody could look at.
void LowerConfidence(const Validity& validity, absl::string_view except,
                     Verdict* verdict);

}  // namespace traza

#endif  // TRACE_ANALYSIS_VERDICT_PARTS_H_
