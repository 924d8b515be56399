// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_PERTURBED_H_
#define TRACE_ANALYSIS_PERTURBED_H_

#include <cstdint>
#include <vector>

#include "trace/analysis/answer.h"
#include "trace/analysis/step_index.h"
#include "trace/trace.h"

namespace traza {

// Work of the tracer itself beside the traced steps: a buffer that it had to
// make, or one that it wrote out on another thread.
struct Perturbation {
  std::vector<uint8_t> steps;  // 1 for those that it overlaps, by StepIndex
  int64_t count = 0;           // of ones
  int64_t tracer_ns = 0;       // what the overlaps add up to
};
Perturbation FindPerturbation(const Trace& trace, const StepIndex& steps);

// Chosen: more of the traced steps than this, and the figures of the rest are
// no longer those of the trace.
inline constexpr double kMaxPerturbedShare = 0.01;

// Whether the steps that were left out matter.
inline bool IsPerturbed(const PerturbedSteps& perturbed) {
  return static_cast<double>(perturbed.count) >
         kMaxPerturbedShare * static_cast<double>(perturbed.traced_steps);
}

}  // namespace traza

#endif  // TRACE_ANALYSIS_PERTURBED_H_
