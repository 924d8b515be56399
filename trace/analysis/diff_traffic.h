// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_DIFF_TRAFFIC_H_
#define TRACE_ANALYSIS_DIFF_TRAFFIC_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "trace/analysis/diff_side.h"

namespace traza {

// Bytes of memory traffic that it saves when one pointwise kernel does what
// `separate` did in a chain: each result but the last was written and read
// again. From shapes, or estimated from grids and names (pointwise_work.h);
// absent where neither tells, or where not all are pointwise.
std::optional<int64_t> SavedByFusion(const DiffSide& side,
                                     const std::vector<int32_t>& separate,
                                     const DiffSide& other,
                                     const std::vector<int32_t>& fused);

}  // namespace traza

#endif  // TRACE_ANALYSIS_DIFF_TRAFFIC_H_
