// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/launches.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "trace/analysis/launch_queue.h"
#include "trace/analysis/statistics.h"
#include "trace/record.h"

namespace traza {
namespace {

// Chosen (docs/definitions.md B7): a call that takes longer than this stands
// out.
constexpr int64_t kSlowCallNs = 50'000;

// The counted launches of one stream.
struct Stream {
  std::vector<int64_t> called_ns, begun_ns, ended_ns;
};

// The most launches at once between `from` and `to`.
int64_t MostBetween(std::vector<int64_t> from, std::vector<int64_t> to) {
  std::ranges::sort(from);
  std::ranges::sort(to);
  int64_t most = 0;
  size_t left = 0;
  for (size_t entered = 0; entered < from.size(); ++entered) {
    while (left < to.size() && to[left] <= from[entered]) ++left;
    // Skewed clocks may let work begin before its call.
    most = std::max(
        most, static_cast<int64_t>(entered + 1) - static_cast<int64_t>(left));
  }
  return most;
}

class LaunchCounter {
 public:
  LaunchCounter(const Trace& trace, const DeviceLane& lane)
      : trace_(trace), lane_(lane) {}

  void Add(const Launch& launch);
  std::optional<LaunchStats> Take();

 private:
  int64_t InWindow(int64_t from_ns, int64_t to_ns) const {
    const Window& window = lane_.window;
    return std::max<int64_t>(
        0, std::min(to_ns, window.end_ns) - std::max(from_ns, window.begin_ns));
  }

  const Trace& trace_;
  const DeviceLane& lane_;
  LaunchStats stats_;
  std::map<int32_t, Stream> streams_;
  std::vector<int64_t> latencies_, queueing_;
  int64_t late_ = 0, waiting_ns_ = 0, outstanding_ns_ = 0;
};

void LaunchCounter::Add(const Launch& launch) {
  const size_t row = launch.row;
  const int64_t begun = trace_.start_ns[row];
  const int64_t ended = trace_.end_ns(row);
  const int64_t call_ns = trace_.duration_ns[trace_.call.at(row)];
  ++stats_.launches;
  stats_.slow_calls += call_ns > kSlowCallNs;
  const bool kernel = trace_.kind[row] == EventKind::kKernel;
  stats_.short_kernels += kernel && trace_.duration_ns[row] < call_ns;
  stats_.idle += !launch.queueing_ns.has_value();
  late_ += !launch.waited && launch.queueing_ns.value_or(-1) <
                                 lane_.launch_latency_ns.value_or(0);
  if (launch.queueing_ns.has_value()) {
    ++stats_.queued;
    queueing_.push_back(*launch.queueing_ns);
  } else if (launch.alone()) {
    if (kernel) latencies_.push_back(launch.latency_ns);
    stats_.slow_launches += launch.latency_ns > kSlowLaunchNs;
  }
  Stream& stream = streams_[trace_.stream.at(row)];
  stream.called_ns.push_back(launch.called_ns);
  stream.begun_ns.push_back(begun);
  stream.ended_ns.push_back(ended);
  waiting_ns_ = AddSaturating(waiting_ns_, InWindow(launch.called_ns, begun));
  outstanding_ns_ =
      AddSaturating(outstanding_ns_, InWindow(launch.called_ns, ended));
}

std::optional<LaunchStats> LaunchCounter::Take() {
  if (stats_.launches == 0) return std::nullopt;
  stats_.late = late_;
  stats_.latency_samples = static_cast<int64_t>(latencies_.size());
  if (!latencies_.empty()) {
    stats_.latency_min_ns = *std::ranges::min_element(latencies_);
    stats_.latency_p50_ns = NearestRank(&latencies_, 50);
    stats_.latency_p90_ns = NearestRank(&latencies_, 90);
    stats_.latency_p99_ns = NearestRank(&latencies_, 99);
  }
  if (!queueing_.empty()) {
    stats_.queueing_p50_ns = NearestRank(&queueing_, 50);
    stats_.queueing_p99_ns = NearestRank(&queueing_, 99);
  }
  if (lane_.window_ns() > 0) {
    const auto window = static_cast<double>(lane_.window_ns());
    stats_.waiting_mean = static_cast<double>(waiting_ns_) / window;
    stats_.outstanding_mean = static_cast<double>(outstanding_ns_) / window;
  }
  for (auto& [id, stream] : streams_) {
    stats_.waiting_max =
        std::max(stats_.waiting_max,
                 MostBetween(stream.called_ns, std::move(stream.begun_ns)));
    stats_.outstanding_max =
        std::max(stats_.outstanding_max,
                 MostBetween(stream.called_ns, std::move(stream.ended_ns)));
  }
  return stats_;
}

}  // namespace

std::vector<std::optional<LaunchStats>> AnalyzeLaunches(
    const Trace& trace, const std::vector<DeviceLane>& lanes) {
  std::vector<std::optional<LaunchStats>> stats;
  stats.reserve(lanes.size());
  for (const DeviceLane& lane : lanes) {
    LaunchCounter counter(trace, lane);
    for (const Launch& launch : lane.launches) counter.Add(launch);
    stats.push_back(counter.Take());
  }
  return stats;
}

}  // namespace traza
