// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_POINTWISE_WORK_H_
#define TRACE_ANALYSIS_POINTWISE_WORK_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/container/flat_hash_map.h"

#include "trace/analysis/kernel_names.h"
#include "trace/trace.h"

namespace traza {

// How much a kernel that works element by element, or a copy within the
// device, reads and writes.
struct PointwiseWork {
  double elements = 0;  // of its output
  // Of one element of what it hands on; 0 is unknown.
  int64_t element_bytes = 0;
  // Read and written; absent where the types or the operands are unknown.
  std::optional<double> bytes;
  // From the launch shape: grid x block x elements of a thread, which rounds up
  // to a whole block. Else from shapes of the operator, or the record's bytes.
  bool estimated = false;
  // Elements that one block works on: what an estimate may be too large by.
  double block_elements = 0;
};

// Of the rows of one trace; shapes are read once each. Holds a reference to the
// trace.
class PointwiseWorks {
 public:
  explicit PointwiseWorks(const Trace& trace) : trace_(trace) {}

  // None for other rows, and where neither shapes nor the name tell.
  std::optional<PointwiseWork> Of(size_t row, const KernelName& name);

 private:
  // Of the largest input of the operator, what the others are broadcast to; 0
  // is unknown.
  double ElementsByShapes(size_t row);

  const Trace& trace_;
  absl::flat_hash_map<int32_t, double> elements_;  // by name id of the shapes
};

// Whether both have the same number of elements, as far as is known.
bool SameElements(const PointwiseWork& a, const PointwiseWork& b);

}  // namespace traza

#endif  // TRACE_ANALYSIS_POINTWISE_WORK_H_
