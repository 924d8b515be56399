// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/steps.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "trace/analysis/device_lanes.h"
#include "trace/analysis/perturbed.h"
#include "trace/analysis/statistics.h"
#include "trace/analysis/validity.h"
#include "trace/record.h"

namespace traza {
namespace {

constexpr size_t kFirstSteps = 8;
constexpr size_t kMaxPerturbed = 16;

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
  const auto [min, max] = std::ranges::minmax_element(times);
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

// Times of the traced steps, by StepIndex.
std::vector<int64_t> TimesOnTheCpu(const Trace& trace, const StepIndex& index) {
  std::vector<int64_t> times;
  times.reserve(index.rows().size());
  for (const size_t row : index.rows()) times.push_back(trace.duration_ns[row]);
  return times;
}

// From the end of the step before, its work done, to the same of this one; from
// its own start where the cache was flushed in between.
std::vector<int64_t> TimesUntilDone(const Trace& trace,
                                    const StepIndex& index) {
  std::vector<int64_t> done;
  done.reserve(index.rows().size());
  for (const size_t row : index.rows()) done.push_back(trace.end_ns(row));
  for (size_t row = 0; row < trace.rows(); ++row) {
    if (!IsDeviceWork(trace.kind[row])) continue;
    const size_t step = index.Of(row);
    if (step < done.size()) {
      done[step] = std::max(done[step], trace.end_ns(row));
    }
  }
  std::vector<int64_t> times;
  times.reserve(done.size());
  const bool flushed = trace.header.job.l2 == L2Policy::kFlush;
  int64_t before = trace.start_ns[index.rows().front()];
  for (size_t i = 0; i < done.size(); ++i) {
    if (flushed) before = std::max(before, trace.start_ns[index.rows()[i]]);
    times.push_back(std::max<int64_t>(0, done[i] - before));
    before = std::max(before, done[i]);
  }
  return times;
}

// Without the steps that the tracer perturbed, unless it perturbed all.
std::optional<StepStats> StatsOfTraced(const std::vector<int64_t>& times,
                                       const Perturbation& perturbation) {
  std::vector<int64_t> kept;
  kept.reserve(times.size());
  for (size_t i = 0; i < times.size(); ++i) {
    if (perturbation.steps[i] == 0) kept.push_back(times[i]);
  }
  if (kept.empty()) kept = times;
  const auto count = static_cast<int64_t>(kept.size());
  return StatsOf(Phase::kTraced, count, std::move(kept));
}

PerturbedSteps Describe(const Trace& trace, const StepIndex& index,
                        const Perturbation& perturbation) {
  PerturbedSteps steps;
  steps.count = perturbation.count;
  steps.traced_steps = static_cast<int64_t>(index.rows().size());
  steps.tracer_ns = perturbation.tracer_ns;
  for (size_t i = 0; i < perturbation.steps.size(); ++i) {
    const int32_t number = trace.step.at(index.rows()[i]);
    if (perturbation.steps[i] == 0 || number < 0) continue;
    if (steps.numbers.size() == kMaxPerturbed) break;
    steps.numbers.push_back(number);
  }
  return steps;
}

std::optional<double> FirstOverMedian(const std::vector<int64_t>& times,
                                      const std::optional<StepStats>& stats) {
  if (!stats.has_value() || *stats->median_ns <= 0) return std::nullopt;
  return static_cast<double>(times.front()) /
         static_cast<double>(*stats->median_ns);
}

// Whether the CPU was done with the steps long before the device.
bool RanAhead(const Trace& trace, const StepIndex& index,
              const StepStats& host) {
  const std::optional<Window> window = WindowOf(trace, index);
  return window.has_value() &&
         window->end_ns - trace.end_ns(index.rows().back()) > *host.median_ns;
}

void FillTraced(const Trace& trace, const StepIndex& index,
                StepsAnswer* steps) {
  if (index.rows().empty()) return;
  const Perturbation perturbation = FindPerturbation(trace, index);
  if (!HasNoDeviceCollector(trace)) {
    steps->perturbed = Describe(trace, index, perturbation);
  }
  const std::vector<int64_t> host = TimesOnTheCpu(trace, index);
  steps->traced = StatsOfTraced(host, perturbation);
  steps->first_traced_over_median = FirstOverMedian(host, steps->traced);
  if (!WorkNamesSteps(trace, index)) return;
  steps->traced_host = std::move(steps->traced);
  const std::vector<int64_t> done = TimesUntilDone(trace, index);
  steps->traced = StatsOfTraced(done, perturbation);
  const auto first = FirstOverMedian(done, steps->traced);
  if (first.has_value() && steps->first_traced_over_median.has_value()) {
    steps->first_traced_over_median =
        std::min(*first, *steps->first_traced_over_median);
  }
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

std::vector<int64_t> TracedStepTimes(const Trace& trace,
                                     const StepIndex& index) {
  if (index.rows().empty()) return {};
  return WorkNamesSteps(trace, index) ? TimesUntilDone(trace, index)
                                      : TimesOnTheCpu(trace, index);
}

bool WorkNamesSteps(const Trace& trace, const StepIndex& index) {
  if (index.rows().empty()) return false;
  for (size_t row = 0; row < trace.rows(); ++row) {
    if (IsDeviceWork(trace.kind[row]) && index.Of(row) < index.count()) {
      return true;
    }
  }
  return false;
}

StepsAnswer AnalyzeSteps(const Trace& trace, const StepIndex& index) {
  StepsAnswer steps;
  steps.cold = StatsOfPhase(trace, Phase::kCold);
  steps.warmup = StatsOfPhase(trace, Phase::kWarmup);
  steps.timed = StatsOf(Phase::kTimed, trace.header.timed.steps,
                        TimedStepTimes(trace.header.timed));
  FillTraced(trace, index, &steps);
  const bool unlike = steps.traced.has_value() &&
                      !steps.traced_host.has_value() &&
                      std::ranges::any_of(trace.kind, IsDeviceWork) &&
                      RanAhead(trace, index, *steps.traced);
  if (!unlike) FillOverhead(&steps);
  return steps;
}

}  // namespace traza
