// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_DIFF_FUSED_H_
#define TRACE_ANALYSIS_DIFF_FUSED_H_

#include <array>
#include <vector>

#include "trace/analysis/diff_parts.h"
#include "trace/analysis/diff_side.h"

namespace traza {

// Joins segments of one block that belong to one change: a fused kernel stands
// in one place, the kernels that it replaces in several, with work that is in
// both between them. Of a kernel that a side alone has, the other side's kernel
// is the one that names its operator (as PyTorch's compiler does:
// "triton_poi_fused_gelu_mul_0"), the nearest in order; else the only kernel
// that the other side has more, where the kernels of the one side are
// pointwise.
void JoinFused(const std::array<const DiffSide*, 2>& sides,
               std::vector<DiffPart>* parts);

}  // namespace traza

#endif  // TRACE_ANALYSIS_DIFF_FUSED_H_
