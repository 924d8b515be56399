// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_OCCUPANCY_H_
#define TRACE_ANALYSIS_OCCUPANCY_H_

#include <cstdint>
#include <optional>

#include "trace/header.h"
#include "trace/trace.h"

namespace traza {

// Theoretical occupancy (docs/definitions.md B8): the warps that can be active
// on a multiprocessor at once, as a share of those that it can hold. It follows
// from the launch shape alone. How many warps were active is another number,
// which only a counter pass knows; the size of the grid is not in it.

// How a kernel was launched; absent is unknown.
struct LaunchShape {
  std::optional<int64_t> block_threads;
  std::optional<int64_t> registers;       // per thread
  std::optional<int64_t> shared_static;   // bytes per block
  std::optional<int64_t> shared_dynamic;  // bytes per block
  // Blocks of a cluster; absent, 0 and 1 mean that each block is on its own.
  std::optional<int64_t> cluster_blocks;
  // Clusters of this kernel that the whole GPU can run at once, as CUPTI's
  // record says; 0 is unknown too.
  std::optional<int64_t> max_active_clusters;
};

struct Occupancy {
  double fraction = 0;  // above 0, at most 1
  int32_t blocks = 0;   // active on one multiprocessor, clusters aside
  // What admits no more: at least one, several that tie.
  bool by_warps = false;
  bool by_blocks = false;  // the number of blocks
  bool by_registers = false;
  bool by_shared_memory = false;
  bool by_clusters = false;

  friend bool operator==(const Occupancy&, const Occupancy&) = default;
};

// Null when it is unknown: a part of `shape` but for the clusters is absent,
// the compute capability is not one that NVIDIA's calculator knows, no block of
// that shape fits (a kernel that ran did fit, so the numbers are not its own),
// or this build has no calculator. Never 0.
//
// Shared memory may go up to the opt-in limit: a kernel that has more than the
// default limit has asked for it.
//
// Clusters: the blocks of one are placed together, so some multiprocessors may
// have room that no cluster can take; `max_active_clusters` is the driver's
// count. (On an H200, 30 clusters of 4 blocks where each of the 132
// multiprocessors can run one block. For kernels without shared memory the
// driver counts at most 8 blocks a multiprocessor, whatever the cluster.)
// Without it only whole clusters are counted: an upper bound, for the limits do
// not tell which multiprocessors can share a cluster.
std::optional<Occupancy> TheoreticalOccupancy(
    const MultiprocessorLimits& limits, const LaunchShape& shape);

// Sets the occupancy of every kernel of `trace` that has none yet and whose
// launch shape is known; leaves the other cells as they are. All kernels ran on
// GPUs with these limits. The columns know no clusters, so theirs is an upper
// bound: a collector that knows them sets the occupancy itself.
//
// A distinct launch shape is computed once.
void FillOccupancy(const MultiprocessorLimits& limits, Trace* trace);

}  // namespace traza

#endif  // TRACE_ANALYSIS_OCCUPANCY_H_
