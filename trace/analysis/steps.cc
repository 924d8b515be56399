// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/steps.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

#include "trace/analysis/statistics.h"
#include "trace/record.h"

namespace traza {
namespace {

constexpr size_t kFirstSteps = 8;

std::optional<StepStats> StatsOf(Phase phase, int64_t count,
                                 std::vector<int64_t> times) {
  if (times.empty()) return std::nullopt;
  StepStats stats;
  stats.phase = phase;
  stats.count = count;
  stats.first_ns.assign(
      times.begin(), times.begin() + static_cast<ptrdiff_t>(
                                         std::min(kFirstSteps, times.size())));
  stats.mean_ns = Mean(times);
  const auto [min, max] = std::minmax_element(times.begin(), times.end());
  stats.min_ns = *min;
  stats.max_ns = *max;
  stats.p99_ns = NearestRank(&times, 99);
  stats.median_ns = Median(&times);
  stats.mad_ns = MedianDeviation(times, *stats.median_ns);
  return stats;
}

std::optional<StepStats> StatsOfPhase(const Trace& trace, Phase phase) {
  std::vector<int64_t> times;
  for (const size_t row : StepRowsOf(trace, phase)) {
    times.push_back(trace.duration_ns[row]);
  }
  return StatsOf(phase, static_cast<int64_t>(times.size()), times);
}

// What tracing adds: the difference of the medians, and the two spreads in
// quadrature.
void FillOverhead(StepsAnswer* steps) {
  if (!steps->timed.has_value() || !steps->traced.has_value()) return;
  const int64_t timed = *steps->timed->median_ns;
  steps->own_overhead_ns = *steps->traced->median_ns - timed;
  steps->own_overhead_spread_ns = static_cast<int64_t>(
      std::llround(std::hypot(static_cast<double>(*steps->timed->mad_ns),
                              static_cast<double>(*steps->traced->mad_ns))));
  if (timed > 0) {
    steps->own_overhead_share = static_cast<double>(*steps->own_overhead_ns) /
                                static_cast<double>(timed);
  }
}

}  // namespace

std::vector<size_t> StepRowsOf(const Trace& trace, Phase phase) {
  std::vector<size_t> rows;
  for (size_t row = 0; row < trace.rows(); ++row) {
    if (trace.kind[row] == EventKind::kStep &&
        trace.phase.at(row) == static_cast<int8_t>(phase)) {
      rows.push_back(row);
    }
  }
  return rows;
}

std::vector<int64_t> TimedStepTimes(const TimedPass& timed) {
  std::vector<int64_t> times;
  int64_t left = timed.steps;
  for (const int64_t batch : timed.batch_ns) {
    // The last batch may be short. A time that no clock gives is no time.
    const int64_t steps = std::min(left, timed.steps_per_batch);
    if (steps <= 0 || batch < 0 || batch > kMaxDurationNs) break;
    times.push_back(batch / steps);
    left -= steps;
  }
  return times;
}

StepsAnswer AnalyzeSteps(const Trace& trace) {
  StepsAnswer steps;
  steps.cold = StatsOfPhase(trace, Phase::kCold);
  steps.warmup = StatsOfPhase(trace, Phase::kWarmup);
  steps.traced = StatsOfPhase(trace, Phase::kTraced);
  steps.timed = StatsOf(Phase::kTimed, trace.header.timed.steps,
                        TimedStepTimes(trace.header.timed));
  FillOverhead(&steps);
  if (steps.traced.has_value() && *steps.traced->median_ns > 0) {
    steps.first_traced_over_median =
        static_cast<double>(steps.traced->first_ns.front()) /
        static_cast<double>(*steps.traced->median_ns);
  }
  return steps;
}

}  // namespace traza
