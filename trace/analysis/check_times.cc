// SPDX-License-Identifier: Apache-2.0
// Quantities of the time that steps take.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

#include "trace/analysis/check_observe.h"
#include "trace/analysis/check_quantity.h"
#include "trace/quantity.h"

namespace traza {
namespace {

std::optional<int64_t> ValueOf(const StepStats& stats,
                               CheckStatistic statistic) {
  switch (statistic) {
    case CheckStatistic::kP99:
      return stats.p99_ns;
    case CheckStatistic::kMean:
      return stats.mean_ns;
    case CheckStatistic::kMin:
      return stats.min_ns;
    case CheckStatistic::kMax:
      return stats.max_ns;
    default:
      return stats.median_ns;
  }
}

Observation Describe(const StepStats& stats, CheckStatistic statistic,
                     const char* basis) {
  const std::optional<int64_t> value = ValueOf(stats, statistic);
  if (!value.has_value()) {
    return Observation::Missing("The steps have no times.");
  }
  Observation observation = Observation::Of(static_cast<double>(*value));
  observation.basis = basis;
  observation.notes.push_back(
      absl::StrCat("Of ", CountText(stats.count, basis), "."));
  return observation;
}

void AddPerturbed(const StepsAnswer& steps, Observation* observation) {
  if (!steps.perturbed.has_value() || steps.perturbed->count == 0) return;
  const PerturbedSteps& perturbed = *steps.perturbed;
  observation->notes.push_back(absl::StrCat(
      "The tracer was at work in ", CountText(perturbed.count), " of ",
      CountText(perturbed.traced_steps, "traced step"),
      perturbed.count < perturbed.traced_steps ? "; they are left out." : "."));
}

}  // namespace

Observation ObserveTracedStepTime(const CheckSubject& subject,
                                  const CheckExpression& check) {
  const StepsAnswer& steps = subject.answer().steps;
  if (!steps.traced.has_value()) {
    return Observation::Missing(
        subject.imported()
            ? "No step was traced: mark those of the program (prof.step())."
            : "No step was traced: use --traced-steps.");
  }
  Observation observation =
      Describe(*steps.traced, check.quantity->statistic, "traced step");
  AddPerturbed(steps, &observation);
  return observation;
}

Observation ObserveStepTime(const CheckSubject& subject,
                            const CheckExpression& check) {
  const StepsAnswer& steps = subject.answer().steps;
  if (!steps.timed.has_value()) {
    Observation observation = ObserveTracedStepTime(subject, check);
    if (observation.known()) {
      observation.notes.emplace_back(
          "No step was timed without tracing, so this is what they take with "
          "it.");
    }
    return observation;
  }
  const CheckStatistic statistic = check.quantity->statistic;
  Observation observation = Describe(*steps.timed, statistic, "untraced step");
  const TimedPass& timed = subject.trace().header.timed;
  if (timed.steps_per_batch > 1 && statistic != CheckStatistic::kP50 &&
      statistic != CheckStatistic::kMean) {
    observation.notes.push_back(absl::StrCat(
        "They were timed in batches of ", CountText(timed.steps_per_batch),
        ": single steps may differ more."));
  }
  if (timed.armed_before) {
    observation.notes.emplace_back(
        "Collection had been on before: they may be slower than without it.");
  }
  return observation;
}

Observation ObserveColdStepTime(const CheckSubject& subject,
                                const CheckExpression& /*check*/) {
  if (std::string why = subject.MissingColdStep(); !why.empty()) {
    return Observation::Missing(std::move(why));
  }
  const std::optional<StepStats>& cold = subject.answer().steps.cold;
  return Observation::Of(static_cast<double>(cold->first_ns.front()));
}

Observation ObserveOwnOverhead(const CheckSubject& subject,
                               const CheckExpression& /*check*/) {
  const StepsAnswer& steps = subject.answer().steps;
  if (!steps.own_overhead_ns.has_value()) {
    return Observation::Missing(
        subject.imported()
            ? "What tracing adds is not known: torch.profiler times no step "
              "without itself."
            : "What tracing adds is not known: it takes timed and traced steps "
              "that can be compared (--depth launches or deeper on a GPU).");
  }
  Observation observation =
      Observation::Of(static_cast<double>(*steps.own_overhead_ns));
  if (steps.own_overhead_spread_ns.has_value()) {
    observation.notes.push_back(absl::StrCat(
        "Its spread is ",
        NsText(static_cast<double>(*steps.own_overhead_spread_ns)), "."));
  }
  return observation;
}

Observation ObserveOwnOverheadShare(const CheckSubject& subject,
                                    const CheckExpression& check) {
  const StepsAnswer& steps = subject.answer().steps;
  if (!steps.own_overhead_share.has_value()) {
    Observation observation = ObserveOwnOverhead(subject, check);
    return observation.known()
               ? Observation::Missing("An untraced step takes no time.")
               : observation;
  }
  Observation observation = Observation::Of(*steps.own_overhead_share);
  observation.numerator = "what tracing adds to a step";
  observation.denominator = "median untraced step";
  return observation;
}

}  // namespace traza
