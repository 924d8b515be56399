// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_ROW_TIMES_H_
#define TRACE_ANALYSIS_ROW_TIMES_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "trace/trace.h"

namespace traza {

// What belongs to each row of a valid trace, in ns: the basis of every table.
// One pass down the rows and one up.
struct RowTimes {
  explicit RowTimes(const Trace& trace);

  // Duration less the direct children on the thread, clipped to it
  // (docs/definitions.md B1). Overhead is a child: it is in no row's own time.
  std::vector<int64_t> self_cpu;

  // 1 for an op or range that is its parent's only child and has its name.
  // torch.profiler merges such a row into its parent; its own time is in that
  // row then.
  std::vector<uint8_t> merged;

  // Device work (B2), empty when there is none in the trace. Self: by the op
  // that the work names; by its call; where no op is around the call, by the
  // innermost range or step. Total: also that of all rows inside.
  std::vector<int64_t> self_device;
  std::vector<int64_t> total_device;

  bool has_device_work() const { return !self_device.empty(); }

 private:
  void AddChildren(const Trace& trace);
  using Times = std::vector<std::pair<int64_t, int64_t>>;  // row, ns

  void AddDeviceWork(const Trace& trace);
  // Adds work to the total of an op that is not the innermost around the call,
  // and notes in `apart` which rows get it beside those around the op: the call
  // and what is around it, but for ops.
  void AddApart(const Trace& trace, int64_t call, int64_t op, int64_t time,
                Times* apart);
  void LiftMerged(const Trace& trace);
};

}  // namespace traza

#endif  // TRACE_ANALYSIS_ROW_TIMES_H_
