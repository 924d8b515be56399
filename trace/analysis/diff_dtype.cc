// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/diff_dtype.h"

#include <algorithm>
#include <cstdint>
#include <map>

#include "trace/record.h"

namespace traza {
namespace {

bool IsMatrixWork(KernelKind kind) {
  return kind == KernelKind::kGemm || kind == KernelKind::kConvolution ||
         kind == KernelKind::kAttention;
}

KernelType Longest(const std::map<KernelType, int64_t>& times) {
  const auto longest = std::ranges::max_element(
      times, {}, [](const auto& time) { return time.second; });
  return longest == times.end() ? KernelType::kUnknown : longest->first;
}

}  // namespace

KernelType MainKernelType(const Trace& trace) {
  KernelNames names(trace);
  std::map<KernelType, int64_t> matrix;
  std::map<KernelType, int64_t> other;
  for (size_t row = 0; row < trace.rows(); ++row) {
    if (trace.kind[row] != EventKind::kKernel) continue;
    const KernelName& name = names.Of(row);
    (IsMatrixWork(name.kind) ? matrix : other)[name.type] +=
        trace.duration_ns[row];
  }
  return Longest(matrix.empty() ? other : matrix);
}

}  // namespace traza
