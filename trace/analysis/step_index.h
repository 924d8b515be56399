// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_STEP_INDEX_H_
#define TRACE_ANALYSIS_STEP_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "trace/trace.h"

namespace traza {

// Numbers the traced steps of a trace in the order of time, and says in which
// of them a row counts: that of its call, wherever it ran. Holds a reference to
// the trace.
class StepIndex {
 public:
  explicit StepIndex(const Trace& trace);

  // A file without traced steps is one step.
  size_t count() const { return rows_.empty() ? 1 : rows_.size(); }
  // The rows of the steps; empty in a file without.
  const std::vector<size_t>& rows() const { return rows_; }
  // count() where the row is in no traced step.
  size_t Of(size_t row) const;

 private:
  const Trace& trace_;
  std::vector<size_t> rows_;
  absl::flat_hash_map<int32_t, size_t> numbers_;
};

}  // namespace traza

#endif  // TRACE_ANALYSIS_STEP_INDEX_H_
