// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/copy_rate.h"

#include <cstddef>

#include "trace/record.h"

namespace traza {

std::optional<double> CopyRateOf(const Trace& trace, const DeviceLane& lane) {
  double bytes = 0;
  double ns = 0;
  double fills_ns = 0;
  for (const size_t row : lane.rows) {
    const auto taken = static_cast<double>(trace.duration_ns[row]);
    if (trace.kind[row] == EventKind::kFill) fills_ns += taken;
    if (trace.kind[row] != EventKind::kCopy) continue;
    if (trace.bytes.is_null(row)) return std::nullopt;
    bytes += static_cast<double>(trace.bytes.at(row));
    ns += taken;
  }
  if (ns <= fills_ns) return std::nullopt;
  return bytes * 1e9 / ns;
}

}  // namespace traza
