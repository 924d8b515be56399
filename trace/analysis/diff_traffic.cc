// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/diff_traffic.h"

#include "trace/analysis/diff_names.h"
#include "trace/analysis/kernel_names.h"
#include "trace/analysis/pointwise_work.h"

namespace traza {
namespace {

// More is no traffic of a device: the factors are from a file.
constexpr double kMaxBytes = 0x1p50;

}  // namespace

std::optional<int64_t> SavedByFusion(const DiffSide& side,
                                     const std::vector<int32_t>& separate,
                                     const DiffSide& other,
                                     const std::vector<int32_t>& fused) {
  if (fused.size() != 1 || separate.size() < 2 ||
      !IsPointwise(other.NameOf(fused[0]))) {
    return std::nullopt;
  }
  PointwiseWorks works(side.trace());
  double saved = 0;
  for (size_t i = 0; i < separate.size(); ++i) {
    const auto work = works.Of(side.nodes()[separate[i]].row,
                               DecodeKernelName(side.NameOf(separate[i])));
    if (!work.has_value() || work->element_bytes == 0) return std::nullopt;
    if (i + 1 == separate.size()) break;
    saved += 2 * work->elements * static_cast<double>(work->element_bytes);
    if (saved > kMaxBytes) return std::nullopt;
  }
  return static_cast<int64_t>(saved);
}

}  // namespace traza
