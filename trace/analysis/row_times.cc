// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/row_times.h"

#include <algorithm>

#include "trace/analysis/statistics.h"
#include "trace/record.h"

namespace traza {
namespace {

// Whether the row counts as a child when an only child is looked for.
bool IsChild(EventKind kind) {
  return kind != EventKind::kOverhead && kind != EventKind::kAlloc &&
         kind != EventKind::kCounter;
}

bool CanMerge(EventKind kind) {
  return kind == EventKind::kOp || kind == EventKind::kRange;
}

// The innermost op around the row on its thread; below 0 for none.
int64_t InnermostOp(const Trace& trace, int64_t row) {
  int64_t around = trace.parent.at(row);
  while (around >= 0 && trace.kind[around] != EventKind::kOp) {
    around = trace.parent.at(around);
  }
  return around;
}

void Add(std::vector<int64_t>* times, int64_t row, int64_t time) {
  (*times)[row] = AddSaturating((*times)[row], time);
}

}  // namespace

RowTimes::RowTimes(const Trace& trace)
    : self_cpu(trace.duration_ns), merged(trace.rows(), 0) {
  AddChildren(trace);
  if (std::ranges::any_of(trace.kind, IsDeviceWork)) {
    AddDeviceWork(trace);
  }
  LiftMerged(trace);
}

void RowTimes::AddChildren(const Trace& trace) {
  const std::vector<int64_t>& parents = trace.parent.cells();
  std::vector<uint32_t> children(trace.rows(), 0);
  for (size_t row = 0; row < parents.size(); ++row) {
    const int64_t parent = parents[row];
    if (parent < 0) continue;
    if (IsChild(trace.kind[row])) ++children[parent];
    const int64_t inside =
        std::min(trace.end_ns(row), trace.end_ns(parent)) - trace.start_ns[row];
    int64_t& self = self_cpu[parent];
    self = std::max<int64_t>(0, self - std::max<int64_t>(0, inside));
  }
  for (size_t row = 0; row < parents.size(); ++row) {
    const int64_t parent = parents[row];
    merged[row] = parent >= 0 && children[parent] == 1 &&
                  trace.name[row] == trace.name[parent] &&
                  trace.kind[row] == trace.kind[parent] &&
                  CanMerge(trace.kind[row]);
  }
}

void RowTimes::AddDeviceWork(const Trace& trace) {
  self_device.assign(trace.rows(), 0);
  total_device.assign(trace.rows(), 0);
  Times apart;
  for (size_t row = 0; row < trace.rows(); ++row) {
    if (!IsDeviceWork(trace.kind[row])) continue;
    const int64_t time = trace.duration_ns[row];
    const int64_t op = trace.op.at(row);
    const int64_t call = trace.call.at(row);
    if (op >= 0) Add(&self_device, op, time);
    if (call >= 0) Add(&self_device, call, time);
    if (call >= 0 && op >= 0 && InnermostOp(trace, call) != op) {
      AddApart(trace, call, op, time, &apart);
    } else if (call >= 0 || op >= 0) {
      Add(&total_device, call >= 0 ? call : op, time);
    }
    if (call >= 0 && op < 0) {
      int64_t scope = trace.parent.at(call);
      while (scope >= 0 && trace.kind[scope] != EventKind::kRange &&
             trace.kind[scope] != EventKind::kStep) {
        scope = trace.parent.at(scope);
      }
      if (scope >= 0) Add(&self_device, scope, time);
    }
  }
  for (size_t row = trace.parent.cells().size(); row-- > 0;) {
    const int64_t parent = trace.parent.at(row);
    if (parent >= 0) Add(&total_device, parent, total_device[row]);
  }
  for (const auto& [row, time] : apart) Add(&total_device, row, time);
}

void RowTimes::AddApart(const Trace& trace, int64_t call, int64_t op,
                        int64_t time, Times* apart) {
  Add(&total_device, op, time);
  std::vector<int64_t> above;
  for (int64_t row = op; row >= 0; row = trace.parent.at(row)) {
    above.push_back(row);
  }
  for (int64_t row = call; row >= 0; row = trace.parent.at(row)) {
    if (std::ranges::find(above, row) != above.end()) return;
    if (trace.kind[row] != EventKind::kOp) apart->emplace_back(row, time);
  }
}

void RowTimes::LiftMerged(const Trace& trace) {
  // Upwards, so that a chain of merged rows ends in its top row.
  for (size_t row = trace.rows(); row-- > 0;) {
    if (merged[row] == 0) continue;
    const int64_t parent = trace.parent.at(row);
    Add(&self_cpu, parent, self_cpu[row]);
    if (has_device_work()) Add(&self_device, parent, self_device[row]);
  }
}

}  // namespace traza
