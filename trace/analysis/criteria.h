// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_CRITERIA_H_
#define TRACE_ANALYSIS_CRITERIA_H_

#include "trace/analysis/answer.h"
#include "trace/analysis/validity.h"
#include "trace/trace.h"

namespace traza {

// The criteria of JudgeValidity, each with its threshold and advice.
// Those that an INVALID trace misses: is the data whole?
void AddDataCriteria(const Trace& trace, Validity* validity);
// Those that an UNSTABLE trace misses: can the figures be relied on?
void AddStepCriteria(const Trace& trace, const StepsAnswer& steps,
                     Validity* validity);
void AddCollectionCriteria(const Trace& trace, const StepsAnswer& steps,
                           Validity* validity);

// Whether torch.profiler made the trace: advice about flags of ours would be of
// no use.
inline bool IsImported(const Trace& trace) {
  return trace.header.collector == "kineto";
}

// Adds a criterion; the advice is kept only where it is missed.
void AddCriterion(Criterion criterion, Validity* validity);

}  // namespace traza

#endif  // TRACE_ANALYSIS_CRITERIA_H_
