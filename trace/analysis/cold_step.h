// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_COLD_STEP_H_
#define TRACE_ANALYSIS_COLD_STEP_H_

#include <cstddef>
#include <optional>
#include <string>

#include "trace/analysis/answer.h"
#include "trace/analysis/step_index.h"
#include "trace/trace.h"

namespace traza {

// Chosen: what warm steps vary by, even unsteady ones, stays below.
inline constexpr double kColdFactor = 3;

// A first step that took much longer than those that follow.
struct ColdStep {
  size_t row = 0;
  double median_ns = 0;  // of the others; above 0
  bool marked = false;   // the job says that it is cold
  std::string other;     // what the others are: "timed", "traced"; of ranges
                         // their name
  std::string number;    // what their median is called: "step_time_p50", ...
};

// The first cold step, against a timed one (a traced one where none was timed).
// Of a trace without cold steps: the first traced step against the others, or
// in a file without steps the first of the outermost ranges of the name that
// comes most often, which such files mark their steps with; at least three of
// them. None below kColdFactor.
std::optional<ColdStep> FindColdStep(const Trace& trace, const StepIndex& index,
                                     const StepsAnswer& steps);

}  // namespace traza

#endif  // TRACE_ANALYSIS_COLD_STEP_H_
