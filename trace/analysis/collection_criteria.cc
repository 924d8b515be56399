// SPDX-License-Identifier: Apache-2.0
// The criteria that ask whether collecting or the state of the device disturbed
// the figures: UNSTABLE when missed.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "trace/analysis/criteria.h"
#include "trace/analysis/perturbed.h"
#include "trace/analysis/row_names.h"
#include "trace/analysis/statistics.h"
#include "trace/quantity.h"
#include "trace/record.h"

namespace traza {
namespace {

constexpr char kNoCollector[] = "does not apply: no device collector";
constexpr char kUnknown[] = "unknown";

// A step of CLOCK_REALTIME against CLOCK_MONOTONIC.
constexpr int64_t kMaxClockStepNs = 5'000;

void AddDroppedOps(const Trace& trace, Validity* validity) {
  const std::optional<int64_t>& dropped = trace.header.completeness.dropped_ops;
  const bool applies = trace.header.job.depth >= Depth::kOps;
  std::string observed = kUnknown;
  if (dropped.has_value()) {
    observed = CountText(*dropped, "operator");
  } else if (!applies) {
    observed = "does not apply: operators are not recorded at this depth";
  }
  AddCriterion({"dropped-ops", dropped.has_value() ? *dropped <= 0 : !applies,
                ValidityLevel::kUnstable, "no operator dropped",
                std::move(observed), "Trace fewer steps."},
               validity);
}

bool HasTracersRows(const Trace& trace) {
  for (size_t row = 0; row < trace.rows(); ++row) {
    if (trace.kind[row] == EventKind::kOverhead &&
        IsTracersOverhead(trace.name_of(row))) {
      return true;
    }
  }
  return false;
}

// Allocations and buffer work of the tracer inside the traced steps. Its rows
// tell which steps; counters of a trace without them tell only that there was
// some, in whatever was recorded.
void AddPerturbed(const Trace& trace, const StepsAnswer& steps,
                  Validity* validity) {
  const Completeness& counters = trace.header.completeness;
  const std::optional<int64_t>& overhead = counters.overhead_ns_in_window;
  const int64_t requests =
      AddSaturating(counters.buffer_requests_in_window.value_or(0),
                    counters.pool_misses.value_or(0));
  Criterion criterion{"perturbed",
                      false,
                      ValidityLevel::kUnstable,
                      "no overhead of the tracer in the traced steps",
                      kUnknown,
                      IsImported(trace)
                          ? "Record less: no shapes, no stacks, fewer steps."
                          : "Trace fewer steps, or use a lower --depth."};
  if (steps.perturbed.has_value() && HasTracersRows(trace)) {
    const PerturbedSteps& perturbed = *steps.perturbed;
    criterion.met = !IsPerturbed(perturbed);
    criterion.threshold =
        "overhead of the tracer in at most 1 % of the traced steps";
    criterion.observed =
        absl::StrCat(CountText(perturbed.count), " of ",
                     CountText(perturbed.traced_steps, "step"), ", ",
                     NsText(static_cast<double>(perturbed.tracer_ns)));
  } else if (overhead.has_value()) {
    criterion.met = *overhead == 0 && requests == 0;
    criterion.observed = NsText(static_cast<double>(*overhead));
    if (requests > 0) {
      absl::StrAppend(&criterion.observed, ", ",
                      CountText(requests, "buffer request"));
    }
  } else if (HasNoDeviceCollector(trace)) {
    criterion.met = true;
    criterion.observed = kNoCollector;
  }
  AddCriterion(std::move(criterion), validity);
}

void AddClock(const Trace& trace, Validity* validity) {
  const Completeness& counters = trace.header.completeness;
  Criterion criterion{"clock",
                      false,
                      ValidityLevel::kUnstable,
                      "clocks moved by at most 5 us, no work before its call",
                      kUnknown,
                      "The clock was set during the job, or those of host and "
                      "device differ: run it again."};
  const int64_t early = counters.before_launch.value_or(0);
  const std::string early_text =
      absl::StrCat(early > 0 ? CountText(early) : "nothing", " before ",
                   early > 1 ? "their" : "its", " call");
  if (counters.clock_step_ns.has_value()) {
    const int64_t step = *counters.clock_step_ns;
    criterion.met =
        step <= kMaxClockStepNs && step >= -kMaxClockStepNs && early <= 0;
    criterion.observed =
        absl::StrCat("moved by ", NsText(static_cast<double>(step)));
    if (early > 0) absl::StrAppend(&criterion.observed, ", ", early_text);
  } else if (HasNoDeviceCollector(trace)) {
    criterion.met = true;
    criterion.observed = kNoCollector;
  } else {
    if (counters.before_launch.has_value()) {
      criterion.observed = absl::StrCat("move unknown, ", early_text);
    }
    if (early <= 0) {
      criterion.advice = "Nothing says whether the clock was set during it.";
    }
  }
  AddCriterion(std::move(criterion), validity);
}

// An operator that did not end: what follows it has the wrong parents.
void AddOpStack(const Trace& trace, Validity* validity) {
  const std::optional<int64_t>& depth =
      trace.header.completeness.id_stack_depth;
  if (!depth.has_value()) return;
  AddCriterion({"op-stack", *depth == 0, ValidityLevel::kUnstable,
                "every operator ended", CountText(*depth, "open operator"),
                "An operator threw, or ended on another thread: look at the "
                "nesting with care."},
               validity);
}

// Other tools do not look at the device. Our worker does on a GPU: where it
// found no driver to ask, nothing is known.
bool IsWatched(const Header& header) {
  return header.state_before.has_value() || header.state_after.has_value() ||
         (header.device.kind == DeviceKind::kGpu &&
          header.collector == "cupti");
}

// Reasons that say that the device has nothing to do, or runs as configured.
bool IsHarmless(const std::string& reason) {
  return reason == "none" || reason == "idle" || reason == "gpu_idle" ||
         reason == "applications_clocks_setting" ||
         reason == "display_clock_setting";
}

// What to do about the worst of the reasons.
std::string ThrottlingAdvice(const std::vector<std::string>& reasons) {
  const auto any = [&](absl::string_view part) {
    return std::ranges::any_of(reasons, [&](const std::string& reason) {
      return absl::StrContains(reason, part);
    });
  };
  if (any("thermal")) {
    return "Let it cool, and look at its fans and its neighbours; compare "
           "medians only with runs in the same state.";
  }
  if (any("hw_")) {
    return "The hardware halves the clocks: look at power supply and cooling "
           "(nvidia-smi -q -d PERFORMANCE).";
  }
  if (any("power")) {
    return "It ran at its power limit, so its clocks follow its temperature: "
           "compare medians only with runs at that limit, or lock lower "
           "clocks (nvidia-smi -lgc).";
  }
  if (any("sync_boost")) {
    return "Its group of GPUs shares the lowest clock: look for the one that "
           "slows down, or take it out of the group.";
  }
  return "Compare medians only with runs in the same state.";
}

// The state after the job knows what happened since the one before; without
// it nothing is known of the time that was measured.
void AddThrottling(const Header& header, Validity* validity) {
  if (!IsWatched(header)) return;
  std::vector<std::string> throttled;
  for (const std::optional<DeviceState>& state :
       {header.state_before, header.state_after}) {
    if (!state.has_value()) continue;
    for (const std::string& reason : state->throttle_reasons) {
      if (!IsHarmless(reason) &&
          std::ranges::find(throttled, reason) == throttled.end()) {
        throttled.push_back(reason);
      }
    }
  }
  const bool known = header.state_after.has_value() &&
                     !header.state_after->throttle_reasons.empty();
  Criterion criterion{"throttling",
                      known && throttled.empty(),
                      ValidityLevel::kUnstable,
                      "the device does not slow itself down",
                      known ? "none" : kUnknown,
                      "Nothing says whether it did: its driver does not tell, "
                      "or could not be asked."};
  if (!throttled.empty()) {
    criterion.observed = absl::StrJoin(throttled, ", ");
    criterion.advice = ThrottlingAdvice(throttled);
  }
  AddCriterion(std::move(criterion), validity);
}

std::string OthersText(const std::optional<DeviceState>& state) {
  if (!state.has_value() || !state->other_processes.has_value()) {
    return kUnknown;
  }
  return CountText(*state->other_processes);
}

void AddOtherProcesses(const Header& header, Validity* validity) {
  if (!IsWatched(header)) return;
  std::optional<int64_t> most;
  for (const std::optional<DeviceState>& state :
       {header.state_before, header.state_after}) {
    if (state.has_value() && state->other_processes.has_value()) {
      most = std::max(most.value_or(0), *state->other_processes);
    }
  }
  Criterion criterion{"other-processes",
                      most == 0,
                      ValidityLevel::kUnstable,
                      "no other process on the device",
                      kUnknown,
                      "The driver shows no processes here, as in a container: "
                      "make sure that nothing else uses the device."};
  if (most.has_value()) {
    criterion.observed =
        absl::StrCat(OthersText(header.state_before), " before, ",
                     OthersText(header.state_after), " since");
    criterion.advice = "Stop what else runs on the device (nvidia-smi).";
  }
  AddCriterion(std::move(criterion), validity);
}

}  // namespace

void AddCollectionCriteria(const Trace& trace, const StepsAnswer& steps,
                           Validity* validity) {
  AddDroppedOps(trace, validity);
  AddPerturbed(trace, steps, validity);
  AddClock(trace, validity);
  AddOpStack(trace, validity);
  AddThrottling(trace.header, validity);
  AddOtherProcesses(trace.header, validity);
}

}  // namespace traza
