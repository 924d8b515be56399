// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"

#include "trace/analysis/occupancy.h"
#include "trace/record.h"

namespace traza {
namespace {

// The cells that a launch shape is made of.
using ShapeCells =
    std::tuple<int32_t, int32_t, int32_t, int32_t, int32_t, int32_t>;

ShapeCells CellsOf(const Trace& trace, size_t row) {
  return {trace.block_x.at(row),       trace.block_y.at(row),
          trace.block_z.at(row),       trace.registers.at(row),
          trace.shared_static.at(row), trace.shared_dynamic.at(row)};
}

// Null cells are negative, and so is what a hostile file may hold.
std::optional<int64_t> Known(int32_t cell) {
  return cell < 0 ? std::nullopt : std::optional<int64_t>(cell);
}

std::optional<int64_t> BlockThreads(int32_t x, int32_t y, int32_t z) {
  if (x <= 0 || y <= 0 || z <= 0) return std::nullopt;
  constexpr int64_t kMaxBlockDimension = 1 << 16;  // the hardware's is 2^10
  if (x > kMaxBlockDimension || y > kMaxBlockDimension ||
      z > kMaxBlockDimension) {
    return std::nullopt;
  }
  return int64_t{x} * y * z;
}

double OccupancyOf(const MultiprocessorLimits& limits,
                   const ShapeCells& cells) {
  const auto [x, y, z, registers, shared_static, shared_dynamic] = cells;
  // Only the sum of the two matters, and foreign traces have it alone.
  const bool is_sum = shared_static == kNull<int32_t>;
  const std::optional<Occupancy> occupancy = TheoreticalOccupancy(
      limits, {.block_threads = BlockThreads(x, y, z),
               .registers = Known(registers),
               .shared_static = is_sum ? 0 : Known(shared_static),
               .shared_dynamic = Known(shared_dynamic)});
  return occupancy.has_value() ? occupancy->fraction : Column<double>::Null();
}

}  // namespace

void FillOccupancy(const MultiprocessorLimits& limits, Trace* trace) {
  absl::flat_hash_map<ShapeCells, double> known;
  for (size_t row = 0; row < trace->rows(); ++row) {
    if (trace->kind[row] != EventKind::kKernel ||
        !trace->occupancy.is_null(row)) {
      continue;
    }
    const auto [found, added] = known.try_emplace(CellsOf(*trace, row), 0);
    if (added) found->second = OccupancyOf(limits, found->first);
    trace->occupancy.Set(row, found->second, trace->rows());
  }
}

}  // namespace traza
