// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/verdict_parts.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace traza {
namespace {

// Chosen: what one missed criterion takes, and what no number of them does.
constexpr double kLossPerMiss = 0.1;
constexpr double kLeastConfidence = 0.5;
// What nobody could look at is mostly right: what one such criterion takes, and
// all of them.
constexpr double kLossPerUnknown = 0.05;
constexpr double kMostLossOfUnknown = 0.1;

}  // namespace

void AddStepNumbers(const StepsAnswer& steps, Verdict* verdict) {
  if (steps.timed.has_value()) {
    verdict->numbers["step_time_p50"] = {
        static_cast<double>(*steps.timed->median_ns), "ns", "", ""};
  }
  if (steps.traced.has_value()) {
    verdict->numbers["traced_step_time_p50"] = {
        static_cast<double>(*steps.traced->median_ns), "ns", "", ""};
  }
  if (steps.own_overhead_share.has_value()) {
    verdict->numbers["own_overhead_share"] = {
        *steps.own_overhead_share, "ratio", "median traced - median timed step",
        "median timed step"};
  }
}

void LowerConfidence(double loss, std::string reason, Verdict* verdict) {
  verdict->confidence =
      std::round(std::max(verdict->confidence - loss, kLeastConfidence) * 100) /
      100;
  verdict->reasons.push_back(std::move(reason));
}

void LowerConfidence(const Validity& validity, absl::string_view except,
                     Verdict* verdict) {
  std::vector<std::string> unknown;
  for (const Criterion& criterion : validity.criteria) {
    if (criterion.met || criterion.id == except) continue;
    // "unknown", and "0 %; unknown: dropped".
    if (absl::StrContains(criterion.observed, "unknown")) {
      unknown.push_back(criterion.id);
      continue;
    }
    LowerConfidence(kLossPerMiss,
                    absl::StrCat(criterion.id, ": ", criterion.observed),
                    verdict);
  }
  if (unknown.empty()) return;
  LowerConfidence(
      std::min(kLossPerUnknown * static_cast<double>(unknown.size()),
               kMostLossOfUnknown),
      absl::StrCat("unknown: ", absl::StrJoin(unknown, ", ")), verdict);
}

}  // namespace traza
