// SPDX-License-Identifier: Apache-2.0
// The criteria that ask whether collecting or the state of the device disturbed
// the figures: UNSTABLE when missed.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "trace/analysis/criteria.h"
#include "trace/analysis/statistics.h"
#include "trace/quantity.h"

namespace traza {
namespace {

constexpr char kNoCollector[] = "does not apply: no device collector";
constexpr char kUnknown[] = "unknown";

// A step of CLOCK_REALTIME against MONOTONIC_RAW (tracing.md section 7).
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

// Allocations and buffer work of the tracer inside the traced steps.
void AddPerturbed(const Trace& trace, Validity* validity) {
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
                      "Trace fewer steps, or use a lower --depth."};
  if (overhead.has_value()) {
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
  if (counters.clock_step_ns.has_value()) {
    const int64_t step = *counters.clock_step_ns;
    criterion.met =
        step <= kMaxClockStepNs && step >= -kMaxClockStepNs && early <= 0;
    criterion.observed =
        absl::StrCat("moved by ", NsText(static_cast<double>(step)));
    if (early > 0) {
      absl::StrAppend(&criterion.observed, ", ", CountText(early),
                      " before their call");
    }
  } else if (HasNoDeviceCollector(trace)) {
    criterion.met = true;
    criterion.observed = kNoCollector;
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

// Reasons that say that the device has nothing to do, or runs as configured.
bool IsHarmless(const std::string& reason) {
  return reason == "none" || reason == "idle" || reason == "gpu_idle" ||
         reason == "applications_clocks_setting";
}

void AddDeviceState(const Trace& trace, Validity* validity) {
  std::vector<std::string> throttled;
  std::optional<int64_t> others;
  bool known = false;
  for (const std::optional<DeviceState>& state :
       {trace.header.state_before, trace.header.state_after}) {
    if (!state.has_value()) continue;
    known = true;
    for (const std::string& reason : state->throttle_reasons) {
      if (!IsHarmless(reason) &&
          std::ranges::find(throttled, reason) == throttled.end()) {
        throttled.push_back(reason);
      }
    }
    if (state->other_processes.has_value()) {
      others = std::max(others.value_or(0), *state->other_processes);
    }
  }
  if (known) {
    AddCriterion({"throttling", throttled.empty(), ValidityLevel::kUnstable,
                  "the device does not slow itself down",
                  throttled.empty() ? "none" : absl::StrJoin(throttled, ", "),
                  "Let it cool, or lift its power limit; compare medians only "
                  "with runs in the same state."},
                 validity);
  }
  if (others.has_value()) {
    AddCriterion({"other-processes", *others == 0, ValidityLevel::kUnstable,
                  "no other process on the device",
                  absl::StrCat(CountText(*others), " others"),
                  "Stop what else runs on the device."},
                 validity);
  }
}

}  // namespace

void AddCollectionCriteria(const Trace& trace, Validity* validity) {
  AddDroppedOps(trace, validity);
  AddPerturbed(trace, validity);
  AddClock(trace, validity);
  AddOpStack(trace, validity);
  AddDeviceState(trace, validity);
}

}  // namespace traza
