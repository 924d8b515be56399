// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/breakdown.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "trace/analysis/row_names.h"
#include "trace/analysis/statistics.h"
#include "trace/analysis/union_length.h"
#include "trace/record.h"

namespace traza {
namespace {

// Busy time by kind. Communication beside compute is compute.
void FillBusy(const Trace& trace, const DeviceLane& lane,
              KernelClasses* classes, DeviceBreakdown* breakdown) {
  UnionLength compute, communication, copies, beside, kernels;
  for (const size_t row : lane.rows) {
    const int64_t start = std::max(trace.start_ns[row], lane.window.begin_ns);
    const int64_t end = std::min(trace.end_ns(row), lane.window.end_ns);
    // By name before kind: NCCL copies too.
    if (classes->Of(row) == KernelClass::kCommunication) {
      communication.Add(start, end);
    } else if (trace.kind[row] == EventKind::kKernel) {
      compute.Add(start, end);
      beside.Add(start, end);
    } else {
      copies.Add(start, end);
      beside.Add(start, end);
      continue;
    }
    kernels.Add(start, end);
  }
  breakdown->compute_ns = compute.ns();
  breakdown->communication_ns = kernels.ns() - compute.ns();
  breakdown->copy_ns = lane.busy_ns - kernels.ns();
  if (communication.ns() > 0) {
    const int64_t both = compute.ns() + communication.ns() - kernels.ns();
    breakdown->communication_overlap =
        static_cast<double>(both) / static_cast<double>(communication.ns());
  }
  if (copies.ns() > 0) {
    const int64_t both = compute.ns() + copies.ns() - beside.ns();
    breakdown->copy_overlap =
        static_cast<double>(both) / static_cast<double>(copies.ns());
  }
}

// Of each stream, and of how many.
void FillStreams(const Trace& trace, const DeviceLane& lane,
                 DeviceBreakdown* breakdown) {
  absl::flat_hash_map<int32_t, std::pair<UnionLength, int64_t>> streams;
  for (const size_t row : lane.rows) {
    auto& [busy, records] = streams[trace.stream.at(row)];
    busy.Add(std::max(trace.start_ns[row], lane.window.begin_ns),
             std::min(trace.end_ns(row), lane.window.end_ns));
    ++records;
  }
  std::vector<std::pair<int64_t, int32_t>> order;
  order.reserve(streams.size());
  for (const auto& [id, work] : streams) {
    order.emplace_back(-work.first.ns(), id);
  }
  const size_t kept = std::min(kMaxStreams, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(kept),
                    order.end());
  order.resize(kept);
  for (const auto& [busy, id] : order) {
    StreamBusy stream;
    if (id >= 0) stream.stream = id;
    stream.busy_ns = -busy;
    stream.records = streams.at(id).second;
    breakdown->streams.push_back(stream);
  }
  breakdown->stream_count = static_cast<int64_t>(streams.size());
}

void FillIdle(const Trace& trace, const DeviceLane& lane,
              DeviceBreakdown* breakdown) {
  std::array<int64_t, kIdleClasses> sums{};
  for (const IdlePiece& piece : lane.idle) {
    sums[static_cast<size_t>(piece.kind)] += piece.end_ns - piece.begin_ns;
  }
  const auto sum = [&](IdleClass kind) {
    return sums[static_cast<size_t>(kind)];
  };
  IdleClasses& idle = breakdown->idle_classes;
  idle.profiler_ns = sum(IdleClass::kProfiler);
  idle.unknown_ns = sum(IdleClass::kUnknown);
  if (HasCalls(trace)) {
    if (lane.waits_known) idle.dependency_ns = sum(IdleClass::kDependency);
    idle.sync_ns = sum(IdleClass::kSync);
    idle.host_ns = sum(IdleClass::kHost);
    idle.launch_ns = sum(IdleClass::kLaunch);
    idle.kernel_gap_ns = sum(IdleClass::kKernelGap);
    idle.other_ns = sum(IdleClass::kOther);
  }
  const int64_t head =
      lane.rows.empty() ? 0 : lane.first_ns - lane.window.begin_ns;
  const int64_t tail =
      lane.window.end_ns -
      (lane.rows.empty() ? lane.window.begin_ns : lane.last_ns);
  if (lane.head_known) breakdown->head_ns = head;
  breakdown->tail_ns = tail;
  breakdown->inner_ns = breakdown->idle_ns - head - tail;
}

// The median over the traced steps, those without work too. None where no step
// is known of the work.
std::optional<int64_t> BusyPerStep(const Trace& trace, const StepIndex& steps,
                                   const DeviceLane& lane) {
  absl::flat_hash_map<size_t, UnionLength> busy;
  for (const size_t row : lane.rows) {
    const size_t step = steps.Of(row);
    if (step < steps.count()) {
      busy[step].Add(trace.start_ns[row], trace.end_ns(row));
    }
  }
  if (busy.empty()) return std::nullopt;
  // Many devices with a little work each must not cost a list of all steps
  // each.
  if (busy.size() < steps.count() / 2) return 0;
  std::vector<int64_t> times(steps.count() - busy.size(), 0);
  for (const auto& [step, length] : busy) times.push_back(length.ns());
  return Median(&times);
}

}  // namespace

std::vector<DeviceBreakdown> AnalyzeBreakdown(
    const Trace& trace, const StepIndex& steps,
    const std::vector<DeviceLane>& lanes, int64_t kernel_gap_limit_ns) {
  KernelClasses classes(trace);
  std::vector<DeviceBreakdown> all;
  for (const DeviceLane& lane : lanes) {
    DeviceBreakdown breakdown;
    breakdown.device = lane.device;
    breakdown.window_ns = lane.window_ns();
    breakdown.busy_ns = lane.busy_ns;
    breakdown.idle_ns = breakdown.window_ns - lane.busy_ns;
    breakdown.records = static_cast<int64_t>(lane.rows.size());
    FillBusy(trace, lane, &classes, &breakdown);
    FillStreams(trace, lane, &breakdown);
    FillIdle(trace, lane, &breakdown);
    if (!lane.rows.empty()) breakdown.span_ns = lane.last_ns - lane.first_ns;
    breakdown.busy_per_step_p50_ns = BusyPerStep(trace, steps, lane);
    breakdown.kernel_gap_limit_ns = kernel_gap_limit_ns;
    all.push_back(std::move(breakdown));
  }
  return all;
}

}  // namespace traza
