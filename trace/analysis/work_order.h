// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_WORK_ORDER_H_
#define TRACE_ANALYSIS_WORK_ORDER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

#include "trace/analysis/row_times.h"
#include "trace/analysis/step_index.h"
#include "trace/trace.h"

namespace traza {

// The name of an operator or range without what differs from one process to
// the next: the hash in "## Call CompiledFxGraph HASH ##" and the numbers in
// "Torch-Compiled Region: 0/0".
absl::string_view StableScopeName(absl::string_view name);

// A piece of work of a traced step.
struct Launched {
  size_t step;          // of StepIndex
  int64_t launched_ns;  // start of its call; its own where there is none
  int64_t call;         // row; below 0 without
  size_t row;
};

// The rows that `wanted` takes and that belong to a traced step: by step, then
// in the order in which they were launched (the nodes of a graph, which have
// one call, by start). Unlike that of their starts, this order does not depend
// on how streams happened to run.
std::vector<Launched> LaunchOrder(const Trace& trace, const StepIndex& index,
                                  const std::function<bool(size_t)>& wanted);

// The operators that caused work, from the outermost to the innermost. Ranges
// are none, and rows that the table merges into their parent count once. Holds
// references to both.
class OpChains {
 public:
  OpChains(const Trace& trace, const RowTimes& times);

  // Stable (stable_hash.h) over the names, outermost first; 0 without any. Of
  // device work the operators that launched it, of an operator those around it.
  uint64_t HashOf(size_t row) const;
  // "aten::linear > aten::addmm"; of more than 16 the innermost.
  std::string TextOf(size_t row) const;
  // Of the name of the row.
  uint64_t NameHashOf(size_t row) const {
    return names_[static_cast<size_t>(trace_.name[row])];
  }

 private:
  // The row whose chain is that of `row`; below 0 without.
  int64_t InnermostAround(size_t row) const;

  const Trace& trace_;
  const RowTimes& times_;
  std::vector<uint64_t> names_;   // by name
  std::vector<uint64_t> chains_;  // by row: of the row and all around it
};

}  // namespace traza

#endif  // TRACE_ANALYSIS_WORK_ORDER_H_
