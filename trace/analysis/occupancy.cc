// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/occupancy.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "cuda_occupancy.h"

namespace traza {
namespace {

// On an H200 (driver 580) the blocks below are those of the driver's
// cuOccupancyMaxActiveBlocksPerMultiprocessor for 31,668 launch shapes of 22
// kernels: 29 to 252 registers, up to 49,152 B of static and 232,448 B of
// dynamic shared memory, 1 to 1,024 threads.

// The calculator multiplies without a look: within these it cannot overflow.
// Real ones are 2^10 threads, 2^8 registers, 2^18 bytes.
constexpr int64_t kMaxBlockThreads = 1 << 16;
constexpr int64_t kMaxRegisters = 1 << 10;
constexpr int64_t kMaxBytes = 1 << 28;
constexpr int64_t kMaxClusters = 1 << 28;

bool IsIn(const std::optional<int64_t>& value, int64_t min, int64_t max) {
  return value.has_value() && *value >= min && *value <= max;
}

bool IsPlausible(const LaunchShape& shape) {
  return IsIn(shape.block_threads, 1, kMaxBlockThreads) &&
         IsIn(shape.registers, 0, kMaxRegisters) &&
         IsIn(shape.shared_static, 0, kMaxBytes) &&
         IsIn(shape.shared_dynamic, 0, kMaxBytes);
}

bool IsPlausible(const MultiprocessorLimits& limits) {
  return limits.warp_threads > 0 && limits.warp_threads <= kMaxRegisters &&
         limits.max_threads >= limits.warp_threads &&
         limits.shared_bytes_per_block_optin >= 0 &&
         limits.shared_bytes_reserved_per_block >= 0 &&
         limits.shared_bytes_reserved_per_block <= kMaxBytes;
}

cudaOccDeviceProp PropertiesOf(const MultiprocessorLimits& limits) {
  cudaOccDeviceProp properties;
  properties.computeMajor = limits.compute_major;
  properties.computeMinor = limits.compute_minor;
  properties.maxThreadsPerBlock = limits.max_threads_per_block;
  properties.maxThreadsPerMultiprocessor = limits.max_threads;
  properties.regsPerBlock = limits.registers_per_block;
  properties.regsPerMultiprocessor = limits.registers;
  properties.warpSize = limits.warp_threads;
  properties.sharedMemPerBlock = std::max(limits.shared_bytes_per_block, 0);
  properties.sharedMemPerMultiprocessor = std::max(limits.shared_bytes, 0);
  properties.numSms = limits.count;
  properties.sharedMemPerBlockOptin = limits.shared_bytes_per_block_optin;
  properties.reservedSharedMemPerBlock = limits.shared_bytes_reserved_per_block;
  return properties;
}

cudaOccFuncAttributes AttributesOf(const MultiprocessorLimits& limits,
                                   const LaunchShape& shape) {
  cudaOccFuncAttributes attributes;
  attributes.maxThreadsPerBlock = std::numeric_limits<int>::max();
  attributes.numRegs = static_cast<int>(*shape.registers);
  attributes.sharedSizeBytes = static_cast<size_t>(*shape.shared_static);
  // Left at 0, the opted-in kernel would have no room for what it launched
  // with.
  attributes.maxDynamicSharedSizeBytes =
      static_cast<size_t>(*shape.shared_dynamic);
  if (*shape.shared_static + *shape.shared_dynamic >
      limits.shared_bytes_per_block) {
    attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  }
  attributes.numBlockBarriers = 1;
  return attributes;
}

// Takes away what clusters leave free of the `count` multiprocessors.
void ApplyClusters(const LaunchShape& shape, int32_t count,
                   Occupancy* occupancy) {
  const int64_t cluster = shape.cluster_blocks.value_or(1);
  if (cluster <= 1) return;
  const int64_t room = int64_t{occupancy->blocks} * count;
  int64_t clusters = room / cluster;
  // CUPTI writes 0 where it has none: a cluster of a kernel that ran did fit.
  if (IsIn(shape.max_active_clusters, 1, kMaxClusters)) {
    clusters = std::min(clusters, *shape.max_active_clusters);
  }
  if (clusters * cluster == room) return;
  occupancy->fraction *=
      static_cast<double>(clusters * cluster) / static_cast<double>(room);
  occupancy->by_warps = false;
  occupancy->by_blocks = false;
  occupancy->by_registers = false;
  occupancy->by_shared_memory = false;
  occupancy->by_clusters = true;
}

}  // namespace

std::optional<Occupancy> TheoreticalOccupancy(
    const MultiprocessorLimits& limits, const LaunchShape& shape) {
  if (!IsPlausible(limits) || !IsPlausible(shape)) return std::nullopt;
  const cudaOccDeviceProp properties = PropertiesOf(limits);
  const cudaOccFuncAttributes attributes = AttributesOf(limits, shape);
  const cudaOccDeviceState state;
  cudaOccResult result = {};
  const auto threads = static_cast<int>(*shape.block_threads);
  if (cudaOccMaxActiveBlocksPerMultiprocessor(
          &result, &properties, &attributes, &state, threads,
          static_cast<size_t>(*shape.shared_dynamic)) != CUDA_OCC_SUCCESS) {
    return std::nullopt;
  }
  const int max_blocks =
      std::min(result.blockLimitBlocks,
               limits.max_blocks.value_or(result.blockLimitBlocks));
  Occupancy occupancy;
  occupancy.blocks = std::min(result.activeBlocksPerMultiprocessor, max_blocks);
  if (occupancy.blocks <= 0) return std::nullopt;
  occupancy.by_warps = occupancy.blocks == result.blockLimitWarps;
  occupancy.by_blocks = occupancy.blocks == max_blocks;
  occupancy.by_registers = occupancy.blocks == result.blockLimitRegs;
  occupancy.by_shared_memory = occupancy.blocks == result.blockLimitSharedMem;
  const int warps = (threads + limits.warp_threads - 1) / limits.warp_threads;
  occupancy.fraction =
      static_cast<double>(occupancy.blocks * warps) /
      static_cast<double>(limits.max_threads / limits.warp_threads);
  ApplyClusters(shape, limits.count, &occupancy);
  if (!(occupancy.fraction > 0)) return std::nullopt;
  return occupancy;
}

}  // namespace traza
