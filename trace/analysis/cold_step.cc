// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/cold_step.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "trace/analysis/statistics.h"
#include "trace/analysis/steps.h"
#include "trace/record.h"

namespace traza {
namespace {

constexpr size_t kMinRows = 3;

std::optional<ColdStep> OfColdPhase(const Trace& trace,
                                    const StepsAnswer& steps) {
  const std::vector<size_t> cold = StepRowsOf(trace, Phase::kCold);
  const bool timed = steps.timed.has_value();
  const std::optional<StepStats>& warm = timed ? steps.timed : steps.traced;
  if (cold.empty() || !warm.has_value()) return std::nullopt;
  return ColdStep{.row = cold.front(),
                  .median_ns = static_cast<double>(*warm->median_ns),
                  .marked = true,
                  .other = timed ? "timed" : "traced",
                  .number = timed ? "step_time_p50" : "traced_step_time_p50"};
}

// The first of rows that do the same.
std::optional<ColdStep> OfRows(const Trace& trace,
                               const std::vector<size_t>& rows,
                               std::string other, std::string number) {
  if (rows.size() < kMinRows) return std::nullopt;
  std::vector<int64_t> times;
  for (size_t i = 1; i < rows.size(); ++i) {
    times.push_back(trace.duration_ns[rows[i]]);
  }
  return ColdStep{.row = rows.front(),
                  .median_ns = static_cast<double>(Median(&times)),
                  .marked = false,
                  .other = std::move(other),
                  .number = std::move(number)};
}

std::vector<size_t> RepeatedRanges(const Trace& trace) {
  absl::flat_hash_map<int32_t, std::vector<size_t>> by_name;
  for (size_t row = 0; row < trace.rows(); ++row) {
    if (trace.kind[row] == EventKind::kRange && trace.parent.at(row) < 0) {
      by_name[trace.name[row]].push_back(row);
    }
  }
  const std::vector<size_t>* most = nullptr;
  for (const auto& [name, rows] : by_name) {
    if (most == nullptr || rows.size() > most->size() ||
        (rows.size() == most->size() && rows.front() < most->front())) {
      most = &rows;
    }
  }
  return most == nullptr ? std::vector<size_t>() : *most;
}

std::optional<ColdStep> FirstOf(const Trace& trace, const StepIndex& index,
                                const StepsAnswer& steps) {
  if (auto cold = OfColdPhase(trace, steps)) return cold;
  if (!index.rows().empty()) {
    return OfRows(trace, index.rows(), "traced", "traced_step_time_p50");
  }
  const std::vector<size_t> ranges = RepeatedRanges(trace);
  if (ranges.empty()) return std::nullopt;
  return OfRows(trace, ranges, trace.name_of(ranges.front()), "range_time_p50");
}

}  // namespace

std::optional<ColdStep> FindColdStep(const Trace& trace, const StepIndex& index,
                                     const StepsAnswer& steps) {
  std::optional<ColdStep> cold = FirstOf(trace, index, steps);
  if (!cold.has_value() || cold->median_ns <= 0 ||
      static_cast<double>(trace.duration_ns[cold->row]) <
          kColdFactor * cold->median_ns) {
    return std::nullopt;
  }
  return cold;
}

}  // namespace traza
