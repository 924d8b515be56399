// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/step_index.h"

#include "spec/phase.h"
#include "trace/analysis/steps.h"

namespace traza {

StepIndex::StepIndex(const Trace& trace) : trace_(trace) {
  for (const size_t row : StepRowsOf(trace, Phase::kTraced)) {
    // Of two steps of one number, which no worker writes, the first takes all.
    numbers_.try_emplace(trace.step.at(row), rows_.size());
    rows_.push_back(row);
  }
}

size_t StepIndex::Of(size_t row) const {
  if (rows_.empty()) return 0;
  if (trace_.phase.at(row) != static_cast<int8_t>(Phase::kTraced)) {
    return count();
  }
  const auto found = numbers_.find(trace_.step.at(row));
  return found == numbers_.end() ? count() : found->second;
}

}  // namespace traza
