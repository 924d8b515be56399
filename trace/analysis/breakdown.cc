// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/breakdown.h"

#include <algorithm>
#include <cstddef>
#include <map>

#include "spec/phase.h"
#include "trace/analysis/steps.h"
#include "trace/record.h"

namespace traza {
namespace {

bool IsTraced(const Trace& trace, size_t row) {
  return trace.phase.at(row) == static_cast<int8_t>(Phase::kTraced) &&
         !trace.step.is_null(row);
}

Window WholeFile(const Trace& trace) {
  Window window{trace.start_ns.front(), trace.start_ns.front()};
  for (size_t row = 0; row < trace.rows(); ++row) {
    window.end_ns = std::max(window.end_ns, trace.end_ns(row));
  }
  return window;
}

// The work of one device, which comes in the order of its starts.
struct DeviceLane {
  Window window;
  int64_t busy_ns = 0;
  int64_t busy_until_ns = 0;
  int64_t records = 0;

  void Add(int64_t start_ns, int64_t end_ns) {
    const int64_t start = std::max(start_ns, window.begin_ns);
    const int64_t end = std::min(end_ns, window.end_ns);
    if (start > end || start_ns >= window.end_ns) return;
    ++records;
    const int64_t fresh = std::max(start, busy_until_ns);
    if (end > fresh) busy_ns += end - fresh;
    busy_until_ns = std::max(busy_until_ns, end);
  }
};

}  // namespace

std::optional<Window> WindowOf(const Trace& trace) {
  if (trace.rows() == 0) return std::nullopt;
  const std::vector<size_t> steps = StepRowsOf(trace, Phase::kTraced);
  if (steps.empty()) return WholeFile(trace);
  Window window{trace.start_ns[steps.front()], 0};
  for (const size_t row : steps) {
    window.end_ns = std::max(window.end_ns, trace.end_ns(row));
  }
  for (size_t row = 0; row < trace.rows(); ++row) {
    if (IsDeviceWork(trace.kind[row]) && IsTraced(trace, row)) {
      window.end_ns = std::max(window.end_ns, trace.end_ns(row));
    }
  }
  return window;
}

std::vector<DeviceBreakdown> AnalyzeBreakdown(const Trace& trace) {
  std::map<int32_t, DeviceLane> lanes;
  const std::optional<Window> window = WindowOf(trace);
  const bool have_calls = std::find(trace.kind.begin(), trace.kind.end(),
                                    EventKind::kCall) != trace.kind.end();
  for (size_t row = 0; row < trace.rows(); ++row) {
    if (!IsDeviceWork(trace.kind[row]) || trace.device.is_null(row)) continue;
    const auto [found, added] = lanes.try_emplace(trace.device.at(row));
    DeviceLane& lane = found->second;
    if (added) {
      lane.window = *window;
      // Work of before the recording: what the device did until its first
      // record is unknown, and no idle time.
      if (have_calls && trace.call.is_null(row)) {
        lane.window.begin_ns =
            std::clamp(trace.start_ns[row], window->begin_ns, window->end_ns);
      }
    }
    lane.Add(trace.start_ns[row], trace.end_ns(row));
  }
  std::vector<DeviceBreakdown> breakdown;
  for (const auto& [device, lane] : lanes) {
    const int64_t length = lane.window.end_ns - lane.window.begin_ns;
    breakdown.push_back(
        {device, length, lane.busy_ns, length - lane.busy_ns, lane.records});
  }
  return breakdown;
}

}  // namespace traza
