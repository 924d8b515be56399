// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/perturbed.h"

#include <cstddef>

#include "trace/analysis/intervals.h"
#include "trace/analysis/row_names.h"
#include "trace/analysis/statistics.h"
#include "trace/record.h"

namespace traza {

Perturbation FindPerturbation(const Trace& trace, const StepIndex& steps) {
  Intervals tracer;
  for (size_t row = 0; row < trace.rows(); ++row) {
    if (trace.kind[row] == EventKind::kOverhead &&
        IsTracersOverhead(trace.name_of(row))) {
      tracer.Add(trace.start_ns[row], trace.end_ns(row));
    }
  }
  Perturbation found;
  found.steps.assign(steps.rows().size(), 0);
  if (tracer.empty()) return found;
  for (size_t i = 0; i < steps.rows().size(); ++i) {
    const size_t row = steps.rows()[i];
    const int64_t ns = tracer.Overlap(trace.start_ns[row], trace.end_ns(row));
    if (ns == 0) continue;
    found.steps[i] = 1;
    ++found.count;
    found.tracer_ns = AddSaturating(found.tracer_ns, ns);
  }
  return found;
}

}  // namespace traza
