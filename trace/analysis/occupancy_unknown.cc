// SPDX-License-Identifier: Apache-2.0
//
// In builds without NVIDIA's cuda_occupancy.h, in place of occupancy.cc.
#include "trace/analysis/occupancy.h"

namespace traza {

std::optional<Occupancy> TheoreticalOccupancy(
    const MultiprocessorLimits& /*limits*/, const LaunchShape& /*shape*/) {
  return std::nullopt;
}

}  // namespace traza
