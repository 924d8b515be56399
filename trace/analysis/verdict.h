// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_VERDICT_H_
#define TRACE_ANALYSIS_VERDICT_H_

#include <optional>

#include "trace/analysis/answer.h"
#include "trace/analysis/row_times.h"
#include "trace/trace.h"

namespace traza {

// What a step spends its time on. Needs validity, steps and structure of
// `answer`, and adds to its note why there is no verdict.
//
// None for an INVALID trace. None where a device may have worked unseen, or did
// work: this version knows cpu-only alone.
std::optional<Verdict> MakeVerdict(const Trace& trace, const RowTimes& times,
                                   Answer* answer);

}  // namespace traza

#endif  // TRACE_ANALYSIS_VERDICT_H_
