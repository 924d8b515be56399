// SPDX-License-Identifier: Apache-2.0
// The first step, and what it pays for.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "trace/analysis/cold_cost.h"
#include "trace/analysis/cold_step.h"
#include "trace/analysis/finding_parts.h"
#include "trace/quantity.h"
#include "trace/record.h"

namespace traza {
namespace {

// Chosen: a part of the first step that is worth words, but for those that only
// first steps have.
constexpr double kMinPart = 0.005;

bool IsOnceOnly(ColdClass kind) {
  return kind == ColdClass::kTracer || kind == ColdClass::kLoading ||
         kind == ColdClass::kContext || kind == ColdClass::kAllocation;
}
std::string FactorText(double factor) {
  return factor < 100 ? absl::StrFormat("%.1f", factor)
                      : CountText(std::llround(std::min(factor, 1e15)));
}

// The parts of the first step, largest first, and their numbers.
std::string PartsText(const ColdCost& cost, double whole, Finding* finding) {
  // Nothing of it was recorded.
  if (cost[static_cast<size_t>(ColdClass::kRest)] >=
      static_cast<int64_t>(whole)) {
    return "";
  }
  std::vector<std::pair<int64_t, size_t>> parts;
  for (size_t i = 0; i < kColdClasses; ++i) {
    if (cost[i] <= 0) continue;
    finding->numbers[absl::StrCat(
        "cold_", ColdClassName(static_cast<ColdClass>(i)))] = NsNumber(cost[i]);
    if (IsOnceOnly(static_cast<ColdClass>(i)) ||
        static_cast<double>(cost[i]) >= kMinPart * whole) {
      parts.emplace_back(-cost[i], i);
    }
  }
  std::ranges::sort(parts);
  std::vector<std::string> texts;
  for (const auto& [ns, i] : parts) {
    texts.push_back(absl::StrCat(NsText(static_cast<double>(-ns)), " ",
                                 ColdClassText(static_cast<ColdClass>(i))));
  }
  return absl::StrJoin(texts, ", ");
}

// Calls and overhead in the first step that took longest.
void AddLongest(const Trace& trace, size_t step, Finding* finding) {
  std::vector<std::pair<int64_t, size_t>> rows;
  const int64_t end = trace.end_ns(step);
  for (size_t row = step; row < trace.rows() && trace.start_ns[row] < end;
       ++row) {
    const EventKind kind = trace.kind[row];
    if (kind == EventKind::kOverhead ||
        ((kind == EventKind::kCall || kind == EventKind::kSync) &&
         trace.thread.at(row) == trace.thread.at(step))) {
      rows.emplace_back(-trace.duration_ns[row], row);
    }
  }
  const size_t shown = std::min<size_t>(kMaxEventIds - 1, rows.size());
  std::partial_sort(rows.begin(), rows.begin() + static_cast<ptrdiff_t>(shown),
                    rows.end());
  for (size_t i = 0; i < shown; ++i) AddEventId(rows[i].second, finding);
}

}  // namespace

void AddColdFindings(const FindingInput& in, std::vector<Finding>* findings) {
  const std::optional<ColdStep> cold =
      FindColdStep(in.trace, in.steps, in.answer.steps);
  if (!cold.has_value()) return;
  const auto first = static_cast<double>(in.trace.duration_ns[cold->row]);
  // Another one took longer: being the first is not what made it slow.
  const auto& traced = in.answer.steps.traced;
  if (traced.has_value() &&
      static_cast<double>(traced->max_ns.value_or(0)) > first)
    return;
  const double factor = first / cold->median_ns;
  const bool range = cold->number == "range_time_p50";
  Finding finding;
  finding.id = "cold-step";
  finding.severity = "info";
  finding.title = absl::StrCat(
      range ? absl::StrCat("The first ", cold->other)
            : std::string("The first step"),
      " took ", NsText(first), ", ", FactorText(factor), " times ",
      cold->marked ? absl::StrCat("a ", cold->other, " one") : "the others",
      " (", NsText(cold->median_ns), ")");
  finding.numbers["first_cold_step"] = {first, "ns", "", ""};
  finding.numbers[cold->number] = {cold->median_ns, "ns", "", ""};
  finding.numbers["cold_factor"] = {
      factor, "ratio", range ? "first range" : "first cold step",
      range ? "median of the other ranges"
            : absl::StrCat("median ", cold->other, " step")};
  const std::optional<Window> window = WindowOf(in.trace, in.steps);
  if (!cold->marked && window.has_value() && window->length_ns() > 0) {
    finding.numbers["window_share"] =
        RatioNumber(first / static_cast<double>(window->length_ns()),
                    range ? "first range" : "first step", "window");
  }
  AddEventId(cold->row, &finding);
  const std::string parts =
      PartsText(ColdCostOf(in.trace, cold->row), first, &finding);
  absl::StrAppend(&finding.title, parts.empty() ? "" : ": ", parts, ".");
  AddLongest(in.trace, cold->row, &finding);
  finding.suggestion =
      "Keep it apart from the steps that follow: it pays for loading and "
      "allocation once. A service that starts often pays it often.";
  findings->push_back(std::move(finding));
}

}  // namespace traza
