// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/device_lanes.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"

#include "spec/phase.h"
#include "trace/analysis/intervals.h"
#include "trace/analysis/row_names.h"
#include "trace/analysis/statistics.h"
#include "trace/analysis/stream_waits.h"
#include "trace/record.h"

namespace traza {
namespace {

Window WholeFile(const Trace& trace) {
  Window window{trace.start_ns.front(), trace.start_ns.front()};
  for (size_t row = 0; row < trace.rows(); ++row) {
    window.end_ns = std::max(window.end_ns, trace.end_ns(row));
  }
  return window;
}

// The end of the traced phase, where one was recorded.
std::optional<int64_t> TracedPhaseEnd(const Trace& trace) {
  for (size_t row = 0; row < trace.rows(); ++row) {
    if (trace.kind[row] == EventKind::kPhase &&
        trace.phase.at(row) == static_cast<int8_t>(Phase::kTraced)) {
      return trace.end_ns(row);
    }
  }
  return std::nullopt;
}

// [begin, end) in which a device did nothing.
struct Gap {
  int64_t begin_ns;
  int64_t end_ns;
  size_t next;  // row of the work that ends it; kNoEvent after the last
  bool waited;  // the stream of that work was told to wait for an event
};

// Tells why a device was idle (docs/definitions.md B4).
class IdleSplitter {
 public:
  IdleSplitter(const Trace& trace, int64_t kernel_gap_limit_ns,
               int64_t last_thread);

  // Adds the pieces of a gap of the lane, whose launch latency is known.
  void Split(const Gap& gap, DeviceLane* lane) const;

 private:
  // The class of a gap whose call had been made before it began.
  IdleClass LateClass(int64_t length_ns, bool waited) const {
    if (waited) return IdleClass::kDependency;
    return length_ns < kernel_gap_limit_ns_ ? IdleClass::kKernelGap
                                            : IdleClass::kOther;
  }
  void AddSyncs();
  const Intervals& SyncsOf(int64_t thread) const;

  const Trace& trace_;
  const bool has_calls_;
  const int64_t kernel_gap_limit_ns_;
  const int64_t last_thread_;  // whose doing explains the tail
  Intervals tracer_;
  Intervals l2_flushes_;
  absl::flat_hash_map<int64_t, Intervals> syncs_;  // by thread
  const Intervals none_;
};

IdleSplitter::IdleSplitter(const Trace& trace, int64_t kernel_gap_limit_ns,
                           int64_t last_thread)
    : trace_(trace),
      has_calls_(HasCalls(trace)),
      kernel_gap_limit_ns_(kernel_gap_limit_ns),
      last_thread_(last_thread) {
  for (size_t row = 0; row < trace.rows(); ++row) {
    if (trace.kind[row] != EventKind::kOverhead) continue;
    if (IsTracersOverhead(trace.name_of(row))) {
      tracer_.Add(trace.start_ns[row], trace.end_ns(row));
    } else if (trace.name_of(row) == kL2FlushName) {
      l2_flushes_.Add(trace.start_ns[row], trace.end_ns(row));
    }
  }
  AddSyncs();
}

// A call that copies from or to memory that is not pinned waits as well: the
// driver copies through memory of its own.
void IdleSplitter::AddSyncs() {
  absl::flat_hash_map<int64_t, std::vector<Intervals::Piece>> pieces;
  const auto add = [&](size_t row) {
    pieces[trace_.thread.at(row)].push_back(
        {trace_.start_ns[row], trace_.end_ns(row)});
  };
  for (size_t row = 0; row < trace_.rows(); ++row) {
    if (IsHostWait(trace_, row)) {
      add(row);
    } else if (trace_.kind[row] == EventKind::kCopy &&
               trace_.call.at(row) >= 0 &&
               absl::StrContains(trace_.name_of(row), "Pageable")) {
      add(static_cast<size_t>(trace_.call.at(row)));
    }
  }
  for (auto& [thread, list] : pieces) {
    std::ranges::sort(list, {}, &Intervals::Piece::begin_ns);
    Intervals& syncs = syncs_[thread];
    for (const Intervals::Piece& piece : list) {
      syncs.Add(piece.begin_ns, piece.end_ns);
    }
  }
}

const Intervals& IdleSplitter::SyncsOf(int64_t thread) const {
  const auto found = syncs_.find(thread);
  return found == syncs_.end() ? none_ : found->second;
}

void IdleSplitter::Split(const Gap& gap, DeviceLane* lane) const {
  const auto add = [&](int64_t from, int64_t to, IdleClass kind) {
    if (to > from) lane->idle.push_back({from, to, kind, gap.next});
  };
  const int64_t call =
      gap.next == kNoEvent ? kNull<int64_t> : trace_.call.at(gap.next);
  // Until then the thread had not called; after the last work it never does.
  int64_t called_ns = gap.end_ns;
  int64_t thread = last_thread_;
  // Until then a launch that was called before the gap was on its way.
  int64_t launched_ns = gap.begin_ns;
  if (call >= 0) {
    called_ns = std::clamp(trace_.start_ns[call], gap.begin_ns, gap.end_ns);
    thread = trace_.thread.at(call);
    launched_ns = std::clamp(AddSaturating(trace_.start_ns[call],
                                           lane->launch_latency_ns.value_or(0)),
                             gap.begin_ns, gap.end_ns);
  }
  const bool known = has_calls_ && (call >= 0 || gap.next == kNoEvent);
  const bool was_called = known && called_ns == gap.begin_ns;
  const IdleClass late = LateClass(gap.end_ns - gap.begin_ns, gap.waited);
  const auto explain = [&](int64_t from, int64_t to) {
    if (!known) return add(from, to, IdleClass::kUnknown);
    if (was_called) {
      const int64_t until =
          gap.waited ? from : std::clamp(launched_ns, from, to);
      add(from, until, IdleClass::kLaunch);
      return add(until, to, late);
    }
    SyncsOf(thread).Split(from, std::clamp(called_ns, from, to),
                          [&](int64_t a, int64_t b, bool in_sync) {
                            add(a, b,
                                in_sync ? IdleClass::kSync : IdleClass::kHost);
                          });
    add(std::clamp(called_ns, from, to), to, IdleClass::kLaunch);
  };
  const auto split = [&](int64_t from, int64_t to, bool flush) {
    if (flush) {
      lane->left_out_ns += to - from;
      return;
    }
    tracer_.Split(from, to, [&](int64_t a, int64_t b, bool tracer) {
      if (tracer) return add(a, b, IdleClass::kProfiler);
      explain(a, b);
    });
  };
  l2_flushes_.Split(gap.begin_ns, gap.end_ns, split);
}

// A lane in the making: why it was idle can be told when all its launches are
// known.
struct OpenLane {
  explicit OpenLane(const Trace& trace, const DeviceLane& first)
      : lane(first), queue(trace, first.window) {}

  DeviceLane lane;
  LaunchQueue queue;
  std::vector<Gap> gaps;
};

// Of kernels. Slow launches tell of something else: one that loads code for
// 40 ms would make every launch late.
std::optional<int64_t> LaunchLatency(const Trace& trace,
                                     const std::vector<Launch>& launches) {
  std::vector<int64_t> latencies_ns;
  for (const Launch& launch : launches) {
    if (launch.alone() && launch.latency_ns <= kSlowLaunchNs &&
        trace.kind[launch.row] == EventKind::kKernel) {
      latencies_ns.push_back(launch.latency_ns);
    }
  }
  if (latencies_ns.empty()) return std::nullopt;
  return NearestRank(&latencies_ns, 50);
}

// Adds a record to its lane, and the gap before it.
void Add(const Trace& trace, size_t row, StreamWaits* waits, OpenLane* open) {
  const bool waited = waits->WaitedBefore(row);
  DeviceLane* const lane = &open->lane;
  if (const std::optional<Launch> launch = open->queue.Next(row, waited)) {
    lane->launches.push_back(*launch);
  }
  const Window& window = lane->window;
  const int64_t start = std::max(trace.start_ns[row], window.begin_ns);
  const int64_t end = std::min(trace.end_ns(row), window.end_ns);
  // What ended before the window, and what has no length at its start.
  if (trace.start_ns[row] >= window.end_ns || end < window.begin_ns ||
      (end == window.begin_ns && trace.start_ns[row] < window.begin_ns)) {
    return;
  }
  const bool first = lane->rows.empty();
  const int64_t busy_until = first ? window.begin_ns : lane->last_ns;
  lane->rows.push_back(row);
  if (start > busy_until) {
    open->gaps.push_back({busy_until, start, row, waited});
  }
  lane->busy_ns += std::max<int64_t>(0, end - std::max(start, busy_until));
  if (first) lane->first_ns = start;
  lane->last_ns = first ? end : std::max(lane->last_ns, end);
}

// Splits the gaps, the one after the last work as well.
DeviceLane Close(const Trace& trace, const IdleSplitter& splitter,
                 OpenLane open) {
  DeviceLane& lane = open.lane;
  const int64_t busy_until =
      lane.rows.empty() ? lane.window.begin_ns : lane.last_ns;
  if (busy_until < lane.window.end_ns) {
    open.gaps.push_back({busy_until, lane.window.end_ns, kNoEvent, false});
  }
  lane.launch_latency_ns = LaunchLatency(trace, lane.launches);
  lane.idle.reserve(open.gaps.size());
  for (const Gap& gap : open.gaps) splitter.Split(gap, &lane);
  return std::move(lane);
}

// The lane of a device whose first record is `row`.
DeviceLane OpenedBy(const Trace& trace, size_t row, const Window& window,
                    bool has_calls) {
  DeviceLane lane;
  lane.device = trace.device.at(row);
  lane.window = window;
  // Work of before the recording: what the device did until its first record
  // is unknown, and no idle time.
  if (has_calls && trace.call.is_null(row)) {
    lane.head_known = trace.start_ns[row] <= window.begin_ns;
    lane.window.begin_ns =
        std::clamp(trace.start_ns[row], window.begin_ns, window.end_ns);
  }
  return lane;
}

// The thread that would have launched more: that of the last step, or call.
int64_t LastThread(const Trace& trace, const StepIndex& steps) {
  if (!steps.rows().empty()) return trace.thread.at(steps.rows().back());
  for (size_t row = trace.rows(); row-- > 0;) {
    if (trace.kind[row] == EventKind::kCall) return trace.thread.at(row);
  }
  return kNull<int64_t>;
}

}  // namespace

bool HasCalls(const Trace& trace) {
  return std::ranges::find(trace.kind, EventKind::kCall) != trace.kind.end();
}

std::optional<Window> WindowOf(const Trace& trace, const StepIndex& steps) {
  if (trace.rows() == 0) return std::nullopt;
  if (steps.rows().empty()) return WholeFile(trace);
  Window window{trace.start_ns[steps.rows().front()], 0};
  for (const size_t row : steps.rows()) {
    window.end_ns = std::max(window.end_ns, trace.end_ns(row));
  }
  const int64_t by_time_until =
      HasCalls(trace) ? window.begin_ns
                      : TracedPhaseEnd(trace).value_or(window.begin_ns);
  for (size_t row = 0; row < trace.rows(); ++row) {
    if (!IsDeviceWork(trace.kind[row])) continue;
    const bool by_time = trace.step.is_null(row) &&
                         trace.start_ns[row] >= window.begin_ns &&
                         trace.start_ns[row] < by_time_until;
    if (by_time || steps.Of(row) < steps.count()) {
      window.end_ns = std::max(window.end_ns, trace.end_ns(row));
    }
  }
  return window;
}

std::vector<DeviceLane> DeviceLanesOf(const Trace& trace,
                                      const StepIndex& steps,
                                      int64_t kernel_gap_limit_ns) {
  const std::optional<Window> window = WindowOf(trace, steps);
  if (!window.has_value()) return {};
  const IdleSplitter splitter(trace, kernel_gap_limit_ns,
                              LastThread(trace, steps));
  const bool has_calls = HasCalls(trace);
  StreamWaits waits(trace);
  std::map<int32_t, OpenLane> open;
  for (size_t row = 0; row < trace.rows(); ++row) {
    if (!IsDeviceWork(trace.kind[row]) || trace.device.is_null(row)) continue;
    auto found = open.find(trace.device.at(row));
    if (found == open.end()) {
      DeviceLane lane = OpenedBy(trace, row, *window, has_calls);
      lane.waits_known = waits.any();
      found = open.try_emplace(lane.device, trace, lane).first;
    }
    Add(trace, row, &waits, &found->second);
  }
  std::vector<DeviceLane> all;
  for (auto& [device, lane] : open) {
    all.push_back(Close(trace, splitter, std::move(lane)));
  }
  return all;
}

}  // namespace traza
