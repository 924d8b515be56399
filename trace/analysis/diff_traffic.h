// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_DIFF_TRAFFIC_H_
#define TRACE_ANALYSIS_DIFF_TRAFFIC_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "trace/analysis/diff_side.h"

namespace traza {

// Elements that a vectorised kernel of PyTorch works on: grid x block x the
// vector width in its name ("vectorized_elementwise_kernel<8, ..."). An
// estimate, too high by less than a block. Absent for other kernels and without
// a grid.
std::optional<int64_t> PointwiseElements(const Trace& trace, size_t row);

// Bytes of an element of the type that the name of a kernel has in it: 2 for
// BFloat16 and Half, 4 for float, 8 for double. Absent where there is none.
std::optional<int64_t> ElementBytes(absl::string_view kernel);

// Bytes of memory traffic that it saves when one pointwise kernel does what
// `separate` did in a chain: each result but the last was written and read
// again. Estimated from grids and names; absent where one does not tell, or
// where not all are pointwise.
std::optional<int64_t> SavedByFusion(const DiffSide& side,
                                     const std::vector<int32_t>& separate,
                                     const DiffSide& other,
                                     const std::vector<int32_t>& fused);

}  // namespace traza

#endif  // TRACE_ANALYSIS_DIFF_TRAFFIC_H_
