// SPDX-License-Identifier: Apache-2.0
// The criteria that ask whether the step times can be relied on: UNSTABLE when
// missed.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "trace/analysis/criteria.h"
#include "trace/analysis/steps.h"
#include "trace/quantity.h"

namespace traza {
namespace {

// Chosen: a median of fewer says little of its spread.
constexpr int64_t kMinSteps = 10;
constexpr double kMaxSpread = 0.05;
constexpr double kMaxFirstOverMedian = 1.3;
// A spread of fewer values is none.
constexpr size_t kMinSamples = 3;

void AddStepCount(const char* id, const std::optional<StepStats>& steps,
                  std::string advice, Validity* validity) {
  const int64_t count = steps.has_value() ? steps->count : 0;
  AddCriterion(
      {id, count >= kMinSteps, ValidityLevel::kUnstable, "at least 10 steps",
       CountText(count, "step"), std::move(advice)},
      validity);
}

void AddStepCounts(const Trace& trace, const StepsAnswer& steps,
                   Validity* validity) {
  const bool imported = IsImported(trace);
  AddStepCount("traced-steps", steps.traced,
               imported
                   ? "Record at least 10 of them: torch.profiler.schedule with "
                     "active=30, and prof.step() after each."
                   : "Run at least 10 of them: --traced-steps 30.",
               validity);
  AddStepCount("timed-steps", steps.timed,
               imported ? "torch.profiler times no step without itself: run "
                          "the work with `traza run` to know the real time."
                        : "Run at least 10 of them: --timed-steps 30.",
               validity);
}

// Of the timed steps; of the traced ones where the timed ones are too few to
// have a spread.
void AddStepSpread(const Trace& trace, const StepsAnswer& steps,
                   Validity* validity) {
  const bool timed = TimedStepTimes(trace.header.timed).size() >= kMinSamples;
  const std::optional<StepStats>& stats = timed ? steps.timed : steps.traced;
  Criterion criterion{"step-spread",
                      false,
                      ValidityLevel::kUnstable,
                      "MAD of the step times at most 5 % of their median",
                      "unknown",
                      ""};
  criterion.advice =
      IsImported(trace)
          ? "Stop other work on the host, or record more steps."
          : "Stop other work on the host, or measure longer: --timed-steps "
            "300.";
  if (stats.has_value() && *stats->median_ns > 0 &&
      (timed || stats->count >= static_cast<int64_t>(kMinSamples))) {
    const double spread = static_cast<double>(*stats->mad_ns) /
                          static_cast<double>(*stats->median_ns);
    criterion.met = spread <= kMaxSpread;
    criterion.observed =
        absl::StrCat(PercentText(spread), " of ",
                     NsText(static_cast<double>(*stats->median_ns)),
                     timed ? "" : " (traced steps)");
  }
  AddCriterion(std::move(criterion), validity);
}

void AddWarmup(const Trace& trace, Validity* validity) {
  const WarmupResult& warmup = trace.header.warmup;
  Criterion criterion{"warm-up",
                      true,
                      ValidityLevel::kUnstable,
                      "step times steady before its time limit",
                      "",
                      ""};
  const std::string steps = CountText(warmup.steps, "step");
  if (IsImported(trace)) {
    criterion.met = false;
    criterion.observed = "unknown";
    criterion.advice =
        "The file does not say what ran before it: warm up in the profiler's "
        "schedule.";
  } else if (!warmup.checked) {
    criterion.observed =
        absl::StrCat("does not apply: a fixed number of steps (",
                     CountText(warmup.steps), ")");
  } else {
    criterion.met = warmup.steady && !warmup.cap_hit;
    criterion.observed =
        absl::StrCat(criterion.met ? "steady after " : "", steps,
                     criterion.met ? "" : ", not steady");
    if (warmup.cap_hit) absl::StrAppend(&criterion.observed, " at its limit");
    if (warmup.spread.has_value()) {
      absl::StrAppend(&criterion.observed,
                      "; the middle half of the last 8 within ",
                      PercentText(*warmup.spread));
    }
    criterion.advice = absl::StrCat(
        "Warm up longer: --warmup ",
        4 * std::clamp<int64_t>(warmup.steps, 25, kMaxSteps / 4), ".");
  }
  AddCriterion(std::move(criterion), validity);
}

// A disturbed first step is run again in a window of its own; that is said.
std::string Openings(const Header& header) {
  if (header.window_openings == 1) return "";
  return absl::StrCat(", at the ", header.window_openings,
                      header.window_openings == 2   ? "nd"
                      : header.window_openings == 3 ? "rd"
                                                    : "th",
                      " attempt");
}

void AddFirstStep(const Trace& trace, const StepsAnswer& steps,
                  Validity* validity) {
  if (!steps.first_traced_over_median.has_value()) return;
  const double ratio = *steps.first_traced_over_median;
  AddCriterion(
      {"first-step", ratio <= kMaxFirstOverMedian, ValidityLevel::kUnstable,
       "first traced step at most 1.3 x the median",
       absl::StrFormat("%.2f x%s", ratio, Openings(trace.header)),
       "Keep the first traced step out of averages: medians do."},
      validity);
}

void AddComplete(const Trace& trace, const StepsAnswer& steps,
                 Validity* validity) {
  int64_t done = steps.traced.has_value() ? steps.traced->count : 0;
  // Those that the tracer perturbed were traced too.
  if (steps.perturbed.has_value()) done = steps.perturbed->traced_steps;
  AddCriterion(
      {"complete", !trace.header.partial, ValidityLevel::kUnstable,
       "all steps were traced",
       trace.header.partial
           ? absl::StrCat(CountText(done), " of ",
                          CountText(trace.header.job.traced_steps, "step"))
           : "all of them",
       "The job was stopped early: run it again, with a longer --timeout if "
       "that ended it."},
      validity);
}

}  // namespace

void AddStepCriteria(const Trace& trace, const StepsAnswer& steps,
                     Validity* validity) {
  AddStepCounts(trace, steps, validity);
  AddStepSpread(trace, steps, validity);
  AddWarmup(trace, validity);
  AddFirstStep(trace, steps, validity);
  AddComplete(trace, steps, validity);
}

}  // namespace traza
