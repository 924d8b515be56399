// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/table_groups.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"

#include "trace/analysis/statistics.h"
#include "trace/record.h"

namespace traza {
namespace {

bool InPhase(const Trace& trace, size_t row, std::optional<Phase> phase) {
  return !phase.has_value() ||
         trace.phase.at(row) == static_cast<int8_t>(*phase);
}

bool IsAbout(TableBy by, EventKind kind) {
  switch (by) {
    case TableBy::kOp:
      return kind == EventKind::kOp || kind == EventKind::kRange ||
             kind == EventKind::kOverhead;
    case TableBy::kKernel:
      return IsDeviceWork(kind);
    case TableBy::kCall:
      return kind == EventKind::kCall || kind == EventKind::kSync;
    case TableBy::kRange:
      return kind == EventKind::kRange;
    case TableBy::kStep:
      return kind == EventKind::kStep;
  }
  return false;
}

std::string Dimensions(int32_t x, int32_t y, int32_t z) {
  return absl::StrCat(x, ",", y, ",", z);
}

// The records of one name.
struct Group {
  TableRow row;
  std::vector<int64_t> durations;
  int64_t total_ns = 0, self_cpu_ns = 0, self_device_ns = 0;
  int64_t total_device_ns = 0, launchless = 0;
  size_t first_row = 0;
  bool on_device = false;  // an annotation or wait there: no time of a CPU
  bool same_shape = true;  // launch shape; as the first record
  bool same_occupancy = true;
};

bool SameShape(const Trace& trace, size_t a, size_t b) {
  const auto same = [a, b](const Column<int32_t>& column) {
    return column.at(a) == column.at(b);
  };
  return same(trace.grid_x) && same(trace.grid_y) && same(trace.grid_z) &&
         same(trace.block_x) && same(trace.block_y) && same(trace.block_z) &&
         same(trace.registers) && same(trace.shared_static) &&
         same(trace.shared_dynamic);
}

bool SameOccupancy(const Trace& trace, size_t a, size_t b) {
  return trace.occupancy.is_null(a)
             ? trace.occupancy.is_null(b)
             : trace.occupancy.at(a) == trace.occupancy.at(b);
}

// The launch shape is shown where all records of the name agree on it, and so
// is occupancy, which grids of any size share.
void FillShape(const Trace& trace, const Group& group, TableRow* row) {
  const size_t first = group.first_row;
  row->launchless = group.launchless;
  if (group.same_occupancy && !trace.occupancy.is_null(first)) {
    row->occupancy = trace.occupancy.at(first);
  }
  if (!group.same_shape) return;
  if (!trace.grid_x.is_null(first)) {
    row->grid = Dimensions(trace.grid_x.at(first), trace.grid_y.at(first),
                           trace.grid_z.at(first));
  }
  if (!trace.block_x.is_null(first)) {
    row->block = Dimensions(trace.block_x.at(first), trace.block_y.at(first),
                            trace.block_z.at(first));
  }
  if (!trace.registers.is_null(first)) {
    row->registers = trace.registers.at(first);
  }
  // Some profilers tell the sum only: it is in shared_dynamic then.
  if (!trace.shared_dynamic.is_null(first)) {
    const int64_t fixed =
        trace.shared_static.is_null(first) ? 0 : trace.shared_static.at(first);
    row->shared_bytes = fixed + trace.shared_dynamic.at(first);
  }
}

void FillDurations(std::vector<int64_t>* durations, TableRow* row) {
  row->count = static_cast<int64_t>(durations->size());
  row->mean_ns = Mean(*durations);
  row->p50_ns = NearestRank(durations, 50);
  row->p99_ns = NearestRank(durations, 99);
  row->min_ns = *std::ranges::min_element(*durations);
  row->max_ns = *std::ranges::max_element(*durations);
}

// Other profilers repeat an annotation on the lane of the device that did its
// work, and a wait of the CPU on that of the device it waited for.
bool IsOnDeviceLane(const Trace& trace, size_t row) {
  return (trace.kind[row] == EventKind::kRange ||
          trace.kind[row] == EventKind::kSync) &&
         trace.thread.is_null(row) && !trace.device.is_null(row);
}

// Collects records by name. Copies and kernels of one name stay apart, and so
// do annotations and waits of a thread and those of a device.
class Groups {
 public:
  Groups(const Trace& trace, const TableQuery& query, const RowTimes& times)
      : trace_(trace), by_(query.by), times_(times) {}

  void Add(size_t row);
  std::vector<TableRow> Take();

 private:
  Group& Of(size_t row);

  const Trace& trace_;
  const TableBy by_;
  const RowTimes& times_;
  absl::flat_hash_map<std::tuple<int32_t, EventKind, bool>, size_t> index_;
  std::vector<Group> groups_;
};

Group& Groups::Of(size_t row) {
  const bool on_device = IsOnDeviceLane(trace_, row);
  const auto [found, added] = index_.try_emplace(
      std::make_tuple(trace_.name[row], trace_.kind[row], on_device),
      groups_.size());
  if (added) {
    Group& group = groups_.emplace_back();
    group.row.name = trace_.name_of(row);
    if (on_device) group.row.name += kDeviceLaneSuffix;
    group.row.kind = trace_.kind[row];
    group.on_device = on_device;
    group.first_row = row;
  }
  return groups_[found->second];
}

void Groups::Add(size_t row) {
  Group& group = Of(row);
  const int64_t duration = trace_.duration_ns[row];
  group.durations.push_back(duration);
  group.total_ns = AddSaturating(group.total_ns, duration);
  if (!trace_.bytes.is_null(row)) {
    group.row.bytes =
        AddSaturating(group.row.bytes.value_or(0), trace_.bytes.at(row));
  }
  if (by_ == TableBy::kKernel) {
    group.launchless += trace_.call.is_null(row);
    group.same_shape =
        group.same_shape && SameShape(trace_, group.first_row, row);
    group.same_occupancy =
        group.same_occupancy && SameOccupancy(trace_, group.first_row, row);
    return;
  }
  group.self_cpu_ns = AddSaturating(group.self_cpu_ns, times_.self_cpu[row]);
  if (times_.has_device_work()) {
    group.self_device_ns =
        AddSaturating(group.self_device_ns, times_.self_device[row]);
    group.total_device_ns =
        AddSaturating(group.total_device_ns, times_.total_device[row]);
  }
  if (!trace_.flops.is_null(row)) {
    group.row.flops =
        AddSaturating(group.row.flops.value_or(0), trace_.flops.at(row));
  }
}

std::vector<TableRow> Groups::Take() {
  std::vector<TableRow> rows;
  rows.reserve(groups_.size());
  for (Group& group : groups_) {
    TableRow& row = group.row;
    FillDurations(&group.durations, &row);
    if (by_ == TableBy::kKernel) {
      row.self_device_ns = group.total_ns;
      FillShape(trace_, group, &row);
    } else if (!group.on_device) {
      row.total_cpu_ns = group.total_ns;
      row.self_cpu_ns = group.self_cpu_ns;
      if (times_.has_device_work()) {
        row.self_device_ns = group.self_device_ns;
        row.total_device_ns = group.total_device_ns;
      }
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// Rows that lie inside a range, or are one.
std::vector<uint8_t> RowsInRanges(const Trace& trace) {
  std::vector<uint8_t> inside(trace.rows(), 0);
  for (size_t row = 0; row < trace.rows(); ++row) {
    const int64_t parent = trace.parent.at(row);
    inside[row] = trace.kind[row] == EventKind::kRange ||
                  (parent >= 0 && inside[parent] != 0);
  }
  return inside;
}

}  // namespace

std::vector<TableRow> GroupedRows(const Trace& trace, const TableQuery& query,
                                  const RowTimes& times) {
  Groups groups(trace, query, times);
  for (size_t row = 0; row < trace.rows(); ++row) {
    if (IsAbout(query.by, trace.kind[row]) && times.merged[row] == 0 &&
        InPhase(trace, row, query.phase)) {
      groups.Add(row);
    }
  }
  return groups.Take();
}

std::vector<TableRow> StepRows(const Trace& trace, const TableQuery& query,
                               const RowTimes& times) {
  std::vector<TableRow> rows;
  // Device work counts for the step that launched it, whichever thread did.
  absl::flat_hash_map<std::pair<int8_t, int32_t>, int64_t> device;
  for (size_t row = 0; row < trace.rows(); ++row) {
    if (IsDeviceWork(trace.kind[row])) {
      int64_t& sum = device[{trace.phase.at(row), trace.step.at(row)}];
      sum = AddSaturating(sum, trace.duration_ns[row]);
    }
  }
  for (size_t row = 0; row < trace.rows(); ++row) {
    if (trace.kind[row] != EventKind::kStep ||
        !InPhase(trace, row, query.phase)) {
      continue;
    }
    TableRow step;
    step.kind = EventKind::kStep;
    step.name = trace.name_of(row);
    std::vector<int64_t> duration = {trace.duration_ns[row]};
    FillDurations(&duration, &step);
    step.self_cpu_ns = times.self_cpu[row];
    step.total_cpu_ns = trace.duration_ns[row];
    if (!trace.phase.is_null(row)) {
      step.phase = static_cast<Phase>(trace.phase.at(row));
      step.name = std::string(PhaseName(*step.phase));
    }
    if (!trace.step.is_null(row)) {
      step.step = trace.step.at(row);
      absl::StrAppend(&step.name, " ", *step.step);
    }
    if (times.has_device_work()) {
      step.self_device_ns = times.self_device[row];
      step.total_device_ns = device[{trace.phase.at(row), trace.step.at(row)}];
    }
    rows.push_back(std::move(step));
  }
  return rows;
}

DeviceSums SumDeviceWork(const Trace& trace, const TableQuery& query) {
  DeviceSums sums;
  std::vector<uint8_t> in_range;
  if (query.by == TableBy::kRange) in_range = RowsInRanges(trace);
  const auto is_attributed = [&](size_t row) {
    const int64_t call = trace.call.at(row);
    const int64_t op = trace.op.at(row);
    switch (query.by) {
      case TableBy::kOp:
        return op >= 0;
      case TableBy::kCall:
        return call >= 0;
      case TableBy::kRange:
        return (call >= 0 && in_range[call] != 0) ||
               (op >= 0 && in_range[op] != 0);
      case TableBy::kStep:
        return !trace.step.is_null(row);
      case TableBy::kKernel:
        return true;
    }
    return true;
  };
  for (size_t row = 0; row < trace.rows(); ++row) {
    if (!IsDeviceWork(trace.kind[row]) || !InPhase(trace, row, query.phase)) {
      continue;
    }
    sums.all_ns = AddSaturating(sums.all_ns, trace.duration_ns[row]);
    if (!is_attributed(row)) {
      sums.unattributed_ns =
          AddSaturating(sums.unattributed_ns, trace.duration_ns[row]);
    }
  }
  return sums;
}

std::optional<int64_t> SumOverhead(const Trace& trace,
                                   std::optional<Phase> phase) {
  std::optional<int64_t> sum;
  for (size_t row = 0; row < trace.rows(); ++row) {
    if (trace.kind[row] == EventKind::kOverhead && InPhase(trace, row, phase)) {
      sum = AddSaturating(sum.value_or(0), trace.duration_ns[row]);
    }
  }
  return sum.has_value() ? sum
                         : trace.header.completeness.overhead_ns_in_window;
}

}  // namespace traza
