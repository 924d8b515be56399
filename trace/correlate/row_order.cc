// SPDX-License-Identifier: Apache-2.0
#include "trace/correlate/row_order.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>

#include "base/check.h"

namespace traza {
namespace {

// Of the kinds of RawHostEvent; steps and phases are below, devices above.
uint8_t RankOf(EventKind kind) {
  switch (kind) {
    case EventKind::kRange:
      return 2;
    case EventKind::kOp:
      return 3;
    case EventKind::kCall:
      return 4;
    case EventKind::kSync:
      return 5;
    default:
      return 6;
  }
}

constexpr uint8_t kPhaseRank = 0;
constexpr uint8_t kStepRank = 1;
constexpr uint8_t kAllocRank = 7;
constexpr uint8_t kDeviceRank = 8;
constexpr uint8_t kCounterRank = 9;

bool Before(const RowOrder::Entry& a, const RowOrder::Entry& b) {
  if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
  if (a.end_ns != b.end_ns) return a.end_ns > b.end_ns;
  if (a.rank != b.rank) return a.rank < b.rank;
  return a.index < b.index;
}

}  // namespace

RowOrder::RowOrder(const RawRecords& records, const Launches& launches) {
  entries_.reserve(records.phases.size() + records.steps.size() +
                   records.host.size() + records.device.size() +
                   records.counters.size() + records.allocs.size());
  TRAZA_CHECK(entries_.capacity() < std::numeric_limits<uint32_t>::max());
  for (size_t i = 0; i < records.phases.size(); ++i) {
    const RawPhase& phase = records.phases[i];
    Append(Source::kPhase, i, kPhaseRank, phase.start_ns, phase.end_ns);
  }
  Merge();
  for (size_t i = 0; i < records.steps.size(); ++i) {
    const RawStep& step = records.steps[i];
    Append(Source::kStep, i, kStepRank, step.start_ns, step.end_ns);
  }
  Merge();
  for (size_t i = 0; i < records.host.size(); ++i) {
    const RawHostEvent& event = records.host[i];
    Append(Source::kHost, i, RankOf(event.kind), event.start_ns, event.end_ns);
  }
  Merge();
  for (size_t i = 0; i < records.allocs.size(); ++i) {
    const RawAlloc& alloc = records.allocs[i];
    Append(Source::kAlloc, i, kAllocRank, alloc.time_ns, alloc.time_ns);
  }
  Merge();
  AppendDevice(records, launches);
  Merge();
  for (size_t i = 0; i < records.counters.size(); ++i) {
    const RawCounter& counter = records.counters[i];
    Append(Source::kCounter, i, kCounterRank, counter.time_ns, counter.time_ns);
  }
  Merge();
}

void RowOrder::Append(Source source, size_t index, uint8_t rank,
                      int64_t start_ns, int64_t end_ns) {
  const int64_t start = std::clamp(start_ns, int64_t{0}, kMaxTimeNs);
  const int64_t end = std::clamp(end_ns, start, start + kMaxDurationNs);
  if (start != start_ns || end != end_ns) ++reversed_;
  entries_.push_back({start, end, static_cast<uint32_t>(index), source, rank});
}

void RowOrder::AppendDevice(const RawRecords& records,
                            const Launches& launches) {
  const int64_t begin = entries_.empty() ? 0 : entries_.front().start_ns;
  for (size_t i = 0; i < records.device.size(); ++i) {
    const RawDeviceEvent& event = records.device[i];
    int64_t start = event.start_ns, end = event.end_ns;
    if (HasNoTime(event)) {
      const std::optional<size_t> call = launches.CallOf(event);
      start = call.has_value() ? records.host[*call].start_ns : begin;
      end = start;
    }
    Append(Source::kDevice, i, kDeviceRank, start, end);
  }
}

void RowOrder::Merge() {
  const auto middle = entries_.begin() + static_cast<ptrdiff_t>(merged_);
  // Collectors hand over most records in order.
  if (!std::is_sorted(middle, entries_.end(), Before)) {
    std::sort(middle, entries_.end(), Before);
  }
  std::inplace_merge(entries_.begin(), middle, entries_.end(), Before);
  merged_ = entries_.size();
}

}  // namespace traza
