// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/diff.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "base/error.h"
#include "base/status_macros.h"
#include "trace/analysis/diff_bootstrap.h"
#include "trace/analysis/diff_entries.h"
#include "trace/analysis/diff_output.h"
#include "trace/analysis/diff_parts.h"
#include "trace/analysis/diff_side.h"
#include "trace/analysis/diff_text.h"
#include "trace/analysis/diff_unlike.h"
#include "trace/analysis/steps.h"
#include "trace/quantity.h"
#include "trace/record.h"

namespace traza {
namespace {

constexpr std::array<const char*, 5> kVerdictNames = {
    "faster", "slower", "no-difference", "not-comparable", "inconclusive"};
constexpr std::array<const char*, 4> kChangeNames = {"same", "changed", "added",
                                                     "removed"};

absl::Status BadOption(const char* field, const std::string& description) {
  return ErrorBuilder(absl::StatusCode::kInvalidArgument,
                      Reason::kInvalidArgument)
      .Violation(field, description)
      .Build(absl::StrCat(field, " ", description, "."));
}

absl::Status CheckOptions(const DiffOptions& options) {
  if (options.limit < 1 || options.limit > kMaxDiffEntries) {
    return BadOption("limit",
                     absl::StrCat("must be from 1 to ", kMaxDiffEntries));
  }
  // NaN is not in range.
  const bool in_range = options.confidence >= kMinConfidence &&
                        options.confidence <= kMaxConfidence;
  if (!in_range) {
    return BadOption("confidence", absl::StrCat("must be from ", kMinConfidence,
                                                " to ", kMaxConfidence));
  }
  return absl::OkStatus();
}

bool HasDeviceWork(const Trace& trace) {
  return std::ranges::any_of(trace.kind, IsDeviceWork);
}

// The times of the steps of one side, and of how many steps they are.
struct StepTimes {
  StepValues values;
  int64_t steps = 0;
};

StepTimes TimedTimes(const Trace& trace) {
  std::vector<double> values;
  for (const int64_t time : TimedStepTimes(trace.header.timed)) {
    values.push_back(static_cast<double>(time));
  }
  const size_t size = values.size();
  return {{std::move(values), size}, trace.header.timed.steps};
}

StepTimes TracedTimes(const DiffSide& side) {
  return {side.TracedTimes(), static_cast<int64_t>(side.steps())};
}

class Differ {
 public:
  Differ(const Trace& before, const Trace& after, const DiffOptions& options,
         const RunComparison& runs)
      : options_(options),
        runs_(runs),
        any_work_(HasDeviceWork(before) || HasDeviceWork(after)),
        sides_({DiffSide(before, any_work_), DiffSide(after, any_work_)}) {}

  Diff Run();

 private:
  const Trace& trace(int i) const { return sides_[i].trace(); }
  std::optional<MedianBootstrap> BootstrapOf(size_t before, size_t after,
                                             int64_t least_steps) const;
  void CompareSteps();
  void CompareDevices(const MedianBootstrap* bootstrap);
  void AddReasons();
  void AddReasonsOf(int i);

  const DiffOptions& options_;
  const RunComparison& runs_;
  const bool any_work_;
  const std::array<DiffSide, 2> sides_;
  int64_t timed_or_traced_[2] = {0, 0};  // steps that step_ns is of
  Diff diff_;
};

std::optional<MedianBootstrap> Differ::BootstrapOf(size_t before, size_t after,
                                                   int64_t least_steps) const {
  if (least_steps < kMinIntervalSteps ||
      std::min(before, after) < kMinIntervalValues) {
    return std::nullopt;
  }
  return MedianBootstrap(before, after, options_.confidence);
}

void Differ::CompareSteps() {
  StepTimes times[2] = {TimedTimes(trace(0)), TimedTimes(trace(1))};
  diff_.step_phase = Phase::kTimed;
  if (times[0].values.size() == 0 || times[1].values.size() == 0) {
    times[0] = TracedTimes(sides_[0]);
    times[1] = TracedTimes(sides_[1]);
    diff_.step_phase = Phase::kTraced;
  }
  diff_.step_ns.unit = "ns";
  if (times[0].values.size() == 0 || times[1].values.size() == 0) {
    diff_.step_phase.reset();
    diff_.verdict = DiffVerdict::kNotComparable;
    return;
  }
  for (int i = 0; i < 2; ++i) timed_or_traced_[i] = times[i].steps;
  const std::optional<MedianBootstrap> bootstrap =
      BootstrapOf(times[0].values.size(), times[1].values.size(),
                  std::min(times[0].steps, times[1].steps));
  diff_.step_ns = MakeDelta(times[0].values, times[1].values, "ns",
                            bootstrap.has_value() ? &*bootstrap : nullptr);
  if (!diff_.step_ns.significant.has_value()) {
    diff_.verdict = DiffVerdict::kInconclusive;
  } else if (!*diff_.step_ns.significant) {
    diff_.verdict = DiffVerdict::kNoDifference;
  } else {
    diff_.verdict = *diff_.step_ns.difference < 0 ? DiffVerdict::kFaster
                                                  : DiffVerdict::kSlower;
  }
}

void Differ::CompareDevices(const MedianBootstrap* bootstrap) {
  std::optional<StepValues> busy[2];
  std::optional<StepValues> idle[2];
  for (int i = 0; i < 2; ++i) {
    if (sides_[i].knows_work()) busy[i] = sides_[i].BusyOfSteps();
    if (sides_[i].knows_idle()) idle[i] = sides_[i].IdleOfSteps();
  }
  diff_.busy_ns = MakeDelta(busy[0], busy[1], "ns", bootstrap);
  diff_.idle_ns = MakeDelta(idle[0], idle[1], "ns", bootstrap);
}

void Differ::AddReasonsOf(int i) {
  const char* which = i == 0 ? "before" : "after";
  const Structure& structure = sides_[i].structure();
  if (!sides_[i].has_steps()) {
    diff_.reasons.push_back(absl::StrCat(
        "The trace ", which,
        " does not say where its steps are: all of it counts as one."));
    return;
  }
  if (structure.averaged) {
    diff_.reasons.push_back(
        sides_[i].knows_work()
            ? absl::StrCat("Calls were not recorded ", which,
                           ": the steps of device work are told apart by its "
                           "order, which repeats itself.")
            : absl::StrCat("Calls were not recorded ", which,
                           ", and device work does not repeat itself: its "
                           "steps cannot be told apart."));
  }
  const auto left_out = static_cast<int64_t>(
      static_cast<size_t>(structure.steps) - sides_[i].steps());
  if (left_out > 0) {
    diff_.reasons.push_back(absl::StrCat("Left out ", which, ": ",
                                         CountText(left_out, "step"),
                                         " in which the tracer was at work."));
  }
  if (!structure.averaged && structure.deviating_steps > 0) {
    diff_.reasons.push_back(absl::StrCat(
        CountText(structure.deviating_steps), " of ",
        CountText(structure.steps, "step"), " ", which,
        " do other work than most: they are in the medians, and what they do "
        "more is not named."));
  }
}

void Differ::AddReasons() {
  for (const RunDifference& difference : runs_.unlike) {
    diff_.reasons.push_back(
        absl::StrCat("The runs are unlike: ", DifferenceText(difference), "."));
  }
  if (!runs_.unknown.empty()) {
    diff_.reasons.push_back(
        absl::StrCat("Not said by both, so that they may differ: ",
                     absl::StrJoin(runs_.unknown, ", "), "."));
  }
  diff_.reasons.insert(diff_.reasons.end(), runs_.doubts.begin(),
                       runs_.doubts.end());
  if (diff_.step_phase == Phase::kTraced) {
    diff_.reasons.emplace_back(
        "Step times are of traced steps, and have the work of the tracer in "
        "them.");
  }
  for (int i = 0; i < 2; ++i) AddReasonsOf(i);
  const size_t least = std::min(sides_[0].steps(), sides_[1].steps());
  if (static_cast<int64_t>(least) < kMinIntervalSteps) {
    diff_.reasons.push_back(absl::StrCat(
        "Traced were ", sides_[0].steps(), " and ", sides_[1].steps(),
        " steps; intervals need ", kMinIntervalSteps,
        " on each side. Without them no difference of times is claimed."));
  }
}

Diff Differ::Run() {
  diff_.confidence = options_.confidence;
  diff_.same_output =
      SameOutput(trace(0).header.fingerprint, trace(1).header.fingerprint);
  diff_.fingerprint_before = sides_[0].structure().fingerprint;
  diff_.fingerprint_after = sides_[1].structure().fingerprint;
  diff_.work_fingerprint_before = sides_[0].structure().work_fingerprint;
  diff_.work_fingerprint_after = sides_[1].structure().work_fingerprint;
  CompareSteps();
  const std::optional<MedianBootstrap> bootstrap = BootstrapOf(
      sides_[0].steps(), sides_[1].steps(),
      static_cast<int64_t>(std::min(sides_[0].steps(), sides_[1].steps())));
  const MedianBootstrap* intervals =
      bootstrap.has_value() ? &*bootstrap : nullptr;
  CompareDevices(intervals);
  const std::vector<DiffPart> parts = AlignSides(sides_[0], sides_[1]);
  diff_.all_entries = static_cast<int64_t>(parts.size());
  diff_.entries =
      MakeEntries(parts, {sides_[0], sides_[1], intervals}, options_.limit);
  const double step_ns = diff_.step_ns.before.value_or(0);
  for (const DiffEntry& entry : diff_.entries) {
    if (auto change = ChangeSentence(entry, step_ns)) {
      diff_.changes.push_back(*std::move(change));
    }
  }
  AddReasons();
  diff_.summary = SummaryOf(diff_, timed_or_traced_[0], timed_or_traced_[1]);
  return std::move(diff_);
}

}  // namespace

absl::string_view DiffVerdictName(DiffVerdict verdict) {
  return kVerdictNames[static_cast<size_t>(verdict)];
}

absl::string_view DiffChangeName(DiffChange change) {
  return kChangeNames[static_cast<size_t>(change)];
}

absl::StatusOr<Diff> DiffTraces(const Trace& before, const Trace& after,
                                const DiffOptions& options) {
  RETURN_IF_ERROR(CheckOptions(options));
  RETURN_IF_ERROR(Validate(before));
  RETURN_IF_ERROR(Validate(after));
  const RunComparison runs = CompareRuns(before, after);
  if (!runs.unlike.empty() && !options.force) return RunsUnlike(runs.unlike);
  return Differ(before, after, options, runs).Run();
}

}  // namespace traza
