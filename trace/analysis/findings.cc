// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/findings.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "trace/analysis/steps.h"
#include "trace/quantity.h"

namespace traza {
namespace {

// Chosen: what warm steps vary by, even unsteady ones, stays below.
constexpr double kColdFactor = 3;

std::optional<Finding> FindColdStep(const Trace& trace,
                                    const StepsAnswer& steps) {
  const std::vector<size_t> cold = StepRowsOf(trace, Phase::kCold);
  const bool timed = steps.timed.has_value();
  const std::optional<StepStats>& warm = timed ? steps.timed : steps.traced;
  if (cold.empty() || !warm.has_value() || *warm->median_ns <= 0) {
    return std::nullopt;
  }
  const auto first = static_cast<double>(trace.duration_ns[cold.front()]);
  const auto median = static_cast<double>(*warm->median_ns);
  if (first < kColdFactor * median) return std::nullopt;
  const double factor = first / median;
  Finding finding;
  finding.id = "cold-step";
  finding.severity = "info";
  finding.title = absl::StrCat(
      "The first step took ", NsText(first), ", ",
      factor < 100 ? absl::StrFormat("%.1f", factor)
                   : CountText(std::llround(std::min(factor, 1e15))),
      " times a ", timed ? "timed" : "traced", " one (", NsText(median), ").");
  finding.numbers["first_cold_step"] = {first, "ns", "", ""};
  finding.numbers[timed ? "step_time_p50" : "traced_step_time_p50"] = {
      median, "ns", "", ""};
  finding.numbers["cold_factor"] = {
      factor, "ratio", "first cold step",
      timed ? "median timed step" : "median traced step"};
  finding.event_ids = {static_cast<int64_t>(cold.front())};
  finding.suggestion =
      "Keep it apart from the steps that follow: it pays for loading and "
      "allocation once. A service that starts often pays it often.";
  return finding;
}

}  // namespace

std::vector<Finding> FindFindings(const Trace& trace,
                                  const StepsAnswer& steps) {
  std::vector<Finding> findings;
  if (std::optional<Finding> cold = FindColdStep(trace, steps)) {
    findings.push_back(*std::move(cold));
  }
  return findings;
}

}  // namespace traza
