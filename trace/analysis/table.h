// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_TABLE_H_
#define TRACE_ANALYSIS_TABLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "spec/phase.h"
#include "trace/record.h"
#include "trace/trace.h"

namespace traza {

// Kernels include copies and fills (all device work), calls include waits.
enum class TableBy { kOp, kKernel, kCall, kRange, kStep };
// "op", "kernel", "call", "range", "step".
absl::string_view TableByName(TableBy by);
std::optional<TableBy> TableByFromName(absl::string_view name);

struct TableQuery {
  TableBy by = TableBy::kOp;
  // The column to sort by, largest first; empty means the default of the
  // table: self_cpu_ns for op, call and range, self_device_ns for kernel,
  // and the order in time for step. Names as in TableRow; "name" sorts A to Z.
  std::string sort;
  int64_t limit = 0;           // rows; 0 means all
  std::optional<Phase> phase;  // only records of that phase
};

// One row: all records of one name. Times in ns. Absent = does not apply or is
// not known.
//
// total_cpu = sum of durations; self_cpu = total_cpu less the direct children
// on the thread, clipped to the parent (docs/definitions.md B1). self_device =
// device work that the row's ops caused directly, total_device = with their
// children (B2). For kernels the duration is self_device.
//
// The table of ops also has rows of kinds range (annotations) and overhead (the
// tracer's or driver's own time), after the ops: they are in no total and have
// no share. A range or a wait on the lane of a device is no time of the device,
// and none of a CPU: it has a row of its own, whose name ends in
// kDeviceLaneSuffix, in no total.
struct TableRow {
  std::string name;
  EventKind kind = EventKind::kOp;
  int64_t count = 0;
  std::optional<int64_t> self_cpu_ns;
  std::optional<int64_t> total_cpu_ns;
  std::optional<int64_t> self_device_ns;
  std::optional<int64_t> total_device_ns;
  // Of the single records' durations; percentiles by nearest rank.
  std::optional<int64_t> mean_ns, p50_ns, p99_ns, min_ns, max_ns;
  std::optional<double> self_cpu_share;     // of totals.self_cpu_ns, 0..1
  std::optional<double> self_device_share;  // of totals.self_device_ns, 0..1
  std::optional<int64_t> flops;             // sum, where known
  std::optional<int64_t> bytes;             // sum: copied, filled; where known
  // By kernel: the launch shape, where all records of the name agree.
  std::optional<std::string> grid, block;  // "128,1,1"
  std::optional<int64_t> registers, shared_bytes;
  std::optional<double> occupancy;    // theoretical, 0..1; for any grid
  std::optional<int64_t> launchless;  // records without a launch call
  // By step: which one.
  std::optional<Phase> phase;
  std::optional<int64_t> step;
};

inline constexpr char kDeviceLaneSuffix[] = " (device lane)";

// Whether a row of a table is in its totals.
inline bool IsInTotals(TableBy by, const TableRow& row) {
  if (by == TableBy::kOp) return row.kind == EventKind::kOp;
  const bool on_device_lane =
      (row.kind == EventKind::kRange || row.kind == EventKind::kSync) &&
      !row.total_cpu_ns.has_value();
  return !on_device_lane;
}

struct TableTotals {
  int64_t count = 0;
  std::optional<int64_t>
      self_cpu_ns;  // sum over all rows that count, also those cut by limit
  std::optional<int64_t>
      self_device_ns;  // = device work attributed + unattributed
  std::optional<int64_t> unattributed_device_ns;  // device work of no op
  std::optional<int64_t> overhead_ns;  // the tracer's own time, in no total
};

struct Table {
  TableBy by = TableBy::kOp;
  std::vector<TableRow> rows;
  int64_t all_rows = 0;  // before limit
  TableTotals totals;
};

// INVALID_ARGUMENT for an unknown sort column, with the known ones.
//
// By op: a row that is its parent's only child (calls included) and has the
// parent's name merges into it, as in torch.profiler's key_averages().
// Overhead is in no total but `overhead_ns`, and no part of any other row.
absl::StatusOr<Table> MakeTable(const Trace& trace, const TableQuery& query);

}  // namespace traza

#endif  // TRACE_ANALYSIS_TABLE_H_
