// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_POINTWISE_WORK_H_
#define TRACE_ANALYSIS_POINTWISE_WORK_H_

#include <cstdint>
#include <optional>

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

// None for other rows, and where neither shapes nor the name tell.
std::optional<PointwiseWork> PointwiseWorkOf(const Trace& trace, size_t row,
                                             const KernelName& name);

// Whether both have the same number of elements, as far as is known.
bool SameElements(const PointwiseWork& a, const PointwiseWork& b);

}  // namespace traza

#endif  // TRACE_ANALYSIS_POINTWISE_WORK_H_
