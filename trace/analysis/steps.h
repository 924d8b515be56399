// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_STEPS_H_
#define TRACE_ANALYSIS_STEPS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "spec/phase.h"
#include "trace/analysis/answer.h"
#include "trace/analysis/step_index.h"
#include "trace/header.h"
#include "trace/trace.h"

namespace traza {

// The rows of the steps of `phase`, in the order of time.
std::vector<size_t> StepRowsOf(const Trace& trace, Phase phase);

// One time a batch: its wall time by its steps. Steps of one batch cannot be
// told apart.
std::vector<int64_t> TimedStepTimes(const TimedPass& timed);

StepsAnswer AnalyzeSteps(const Trace& trace, const StepIndex& index);

// How long each traced step took, by StepIndex, perturbed or not: what
// StepsAnswer.traced is of. Empty in a file without traced steps.
std::vector<int64_t> TracedStepTimes(const Trace& trace,
                                     const StepIndex& index);

// Whether device work says in which traced step it was launched.
bool WorkNamesSteps(const Trace& trace, const StepIndex& index);

}  // namespace traza

#endif  // TRACE_ANALYSIS_STEPS_H_
