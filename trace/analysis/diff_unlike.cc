// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/diff_unlike.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "base/error.h"
#include "base/utf8.h"
#include "trace/analysis/device_lanes.h"
#include "trace/analysis/diff_dtype.h"
#include "trace/analysis/step_index.h"
#include "trace/analysis/steps.h"
#include "trace/analysis/validity.h"
#include "trace/record.h"

namespace traza {
namespace {

constexpr char kCpu[] = "a CPU";
constexpr char kGpu[] = "a GPU";
constexpr size_t kMaxValueBytes = 60;   // of a value in a message
constexpr size_t kMaxDifferences = 10;  // in a message

std::string Shown(const std::string& value) {
  return EscapeControlCharacters(CutUtf8(value, kMaxValueBytes));
}

// What the device of a trace is, as far as it says.
std::string DeviceKindText(const Trace& trace) {
  if (std::ranges::any_of(trace.kind, IsDeviceWork)) return kGpu;
  const DeviceDescription& device = trace.header.device;
  if (device.id.empty() && device.model.empty()) return "";
  return device.kind == DeviceKind::kCpu ? kCpu : kGpu;
}

// Whether our own worker made the trace, so that its header says how.
bool IsOwn(const Trace& trace) { return !trace.header.job.workload.empty(); }

class RunComparer {
 public:
  RunComparer(const Trace& before, const Trace& after)
      : before_(before), after_(after) {}

  RunComparison Run();

 private:
  // Empty is unknown.
  void Compare(std::string what, const std::string& before,
               const std::string& after);
  void CompareMaps(const char* what,
                   const std::map<std::string, std::string>& before,
                   const std::map<std::string, std::string>& after,
                   const std::set<std::string>& keys);
  void CompareDevices();
  void CompareRecords();
  void AddWorth();
  void AddStates(const Trace& trace, const char* which);
  void AddDtypes();
  void AddDoubts();

  const Trace& before_;
  const Trace& after_;
  RunComparison result_;
};

void RunComparer::Compare(std::string what, const std::string& before,
                          const std::string& after) {
  if (before == after) return;
  if (before.empty() || after.empty()) {
    result_.unknown.push_back(std::move(what));
  } else {
    result_.unlike.push_back({std::move(what), before, after});
  }
}

void RunComparer::CompareMaps(const char* what,
                              const std::map<std::string, std::string>& before,
                              const std::map<std::string, std::string>& after,
                              const std::set<std::string>& keys) {
  const auto value = [](const std::map<std::string, std::string>& map,
                        const std::string& key) {
    const auto found = map.find(key);
    return found == map.end() ? std::string() : found->second;
  };
  for (const std::string& key : keys) {
    Compare(absl::StrCat(what, key), value(before, key), value(after, key));
  }
}

// A trace with nothing of a device in it and nothing about one may be of
// either kind, but there is nothing to compare with the work of a GPU.
void RunComparer::CompareDevices() {
  const std::string before = DeviceKindText(before_);
  const std::string after = DeviceKindText(after_);
  if (before.empty() && after == kGpu) {
    result_.unlike.push_back({"device work", "none", "recorded"});
  } else if (after.empty() && before == kGpu) {
    result_.unlike.push_back({"device work", "recorded", "none"});
  } else {
    Compare("kind of device", before, after);
  }
}

// What is not there although it should: work without its calls tells another
// story than work with them.
void RunComparer::CompareRecords() {
  const bool own = IsOwn(before_) && IsOwn(after_);
  if (own) {
    Compare("depth", std::string(DepthName(before_.header.job.depth)),
            std::string(DepthName(after_.header.job.depth)));
  }
  const auto works = [](const Trace& trace) {
    return std::ranges::any_of(trace.kind, IsDeviceWork);
  };
  if (!works(before_) || !works(after_)) return;
  const auto calls = [](const Trace& trace) {
    return std::string(HasCalls(trace) ? "recorded" : "not recorded");
  };
  if (!own) Compare("calls that launch work", calls(before_), calls(after_));
}

std::string MissedText(const Validity& validity) {
  std::vector<std::string> missed;
  for (const Criterion& criterion : validity.criteria) {
    if (!criterion.met && criterion.if_missed == validity.level) {
      missed.push_back(absl::StrCat(criterion.id, ": ", criterion.observed));
    }
  }
  return absl::StrCat(ValidityLevelName(validity.level), " (",
                      absl::StrJoin(missed, ", "), ")");
}

std::string MissedIds(const Validity& validity) {
  std::vector<std::string> ids;
  for (const Criterion& criterion : validity.criteria) {
    if (!criterion.met) ids.push_back(criterion.id);
  }
  return absl::StrJoin(ids, ", ");
}

void RunComparer::AddWorth() {
  const auto judge = [](const Trace& trace) {
    return JudgeValidity(trace, AnalyzeSteps(trace, StepIndex(trace)));
  };
  const auto whole = [](const Trace& trace) {
    return trace.header.partial ? "stopped before all steps were traced"
                                : "whole";
  };
  if (before_.header.partial || after_.header.partial) {
    result_.unlike.push_back({"trace", whole(before_), whole(after_)});
  }
  const Validity validity[2] = {judge(before_), judge(after_)};
  const auto text = [](const Validity& of) {
    return of.level == ValidityLevel::kValid ? std::string("VALID")
                                             : MissedText(of);
  };
  if (std::max(validity[0].level, validity[1].level) ==
      ValidityLevel::kInvalid) {
    result_.unlike.push_back(
        {"validity", text(validity[0]), text(validity[1])});
    return;
  }
  for (int i = 0; i < 2; ++i) {
    if (validity[i].level == ValidityLevel::kValid) continue;
    result_.doubts.push_back(absl::StrCat(
        "The trace ", i == 0 ? "before" : "after", " is UNSTABLE (",
        MissedIds(validity[i]), "): see traza explain."));
  }
}

void RunComparer::AddStates(const Trace& trace, const char* which) {
  const std::optional<DeviceState>& state = trace.header.state_after;
  if (!state.has_value()) return;
  const bool throttled = std::ranges::any_of(
      state->throttle_reasons,
      [](const std::string& reason) { return reason != "none"; });
  if (throttled) {
    result_.doubts.push_back(
        absl::StrCat("Clocks were held down during the run ", which, ": ",
                     absl::StrJoin(state->throttle_reasons, ", "), "."));
  }
  if (state->other_processes.value_or(0) > 0) {
    result_.doubts.push_back(absl::StrCat(
        "Other processes used the device during the run ", which, "."));
  }
}

// An import does not say its dtype; names of kernels do not bind, and one
// variant may compute in another type than the next, so it is a doubt only.
void RunComparer::AddDtypes() {
  if (IsOwn(before_) && IsOwn(after_)) return;
  const KernelType before = MainKernelType(before_);
  const KernelType after = MainKernelType(after_);
  if (before == after || before == KernelType::kUnknown ||
      after == KernelType::kUnknown) {
    return;
  }
  result_.doubts.push_back(
      absl::StrCat("Most of the work was done in ", KernelTypeName(before),
                   " before and in ", KernelTypeName(after), " after."));
}

void RunComparer::AddDoubts() {
  const Header& a = before_.header;
  const Header& b = after_.header;
  if (!a.host.empty() && !b.host.empty() && a.host != b.host) {
    result_.doubts.push_back(
        absl::StrCat("They ran on two hosts, ", a.host, " and ", b.host, "."));
  }
  if (a.timed.armed_before != b.timed.armed_before) {
    result_.doubts.push_back(
        "Collection had been on before the timed steps of one of them, which "
        "makes them slower.");
  }
  if (IsOwn(before_) != IsOwn(after_)) {
    result_.doubts.emplace_back(
        "Only one of them was recorded by traza; tracers slow the CPU by "
        "unlike amounts.");
  }
  AddDtypes();
  if (IsOwn(before_) && IsOwn(after_) && a.job.seed != b.job.seed) {
    result_.doubts.emplace_back("They ran with other seeds.");
  }
}

RunComparison RunComparer::Run() {
  const Header& a = before_.header;
  const Header& b = after_.header;
  CompareDevices();
  Compare("device model", a.device.model, b.device.model);
  CompareMaps("version of ", a.versions, b.versions,
              {"torch", "driver", "cuda"});
  if (IsOwn(before_) && IsOwn(after_)) {
    Compare("workload", a.job.workload, b.job.workload);
    std::set<std::string> names;
    for (const auto& [name, value] : a.job.params) names.insert(name);
    for (const auto& [name, value] : b.job.params) names.insert(name);
    CompareMaps("parameter ", a.job.params, b.job.params, names);
    Compare("L2 cache", std::string(L2PolicyName(a.job.l2)),
            std::string(L2PolicyName(b.job.l2)));
  } else {
    result_.unknown.emplace_back("workload and parameters");
  }
  const bool on_cpu =
      DeviceKindText(before_) == kCpu && DeviceKindText(after_) == kCpu;
  if (on_cpu && a.threads > 0 && b.threads > 0) {
    Compare("threads", absl::StrCat(a.threads), absl::StrCat(b.threads));
  }
  CompareRecords();
  AddWorth();
  AddStates(before_, "before");
  AddStates(after_, "after");
  AddDoubts();
  return std::move(result_);
}

}  // namespace

RunComparison CompareRuns(const Trace& before, const Trace& after) {
  return RunComparer(before, after).Run();
}

std::string DifferenceText(const RunDifference& difference) {
  return absl::StrCat(Shown(difference.what), ": ", Shown(difference.before),
                      " before, ", Shown(difference.after), " after");
}

absl::Status RunsUnlike(const std::vector<RunDifference>& differences) {
  ErrorBuilder error(absl::StatusCode::kFailedPrecondition,
                     Reason::kRunsUnlike);
  std::vector<std::string> texts;
  for (const RunDifference& difference : differences) {
    if (texts.size() == kMaxDifferences) {
      texts.push_back(
          absl::StrCat("and ", differences.size() - kMaxDifferences, " more"));
      break;
    }
    texts.push_back(DifferenceText(difference));
    error.With(Shown(difference.what),
               absl::StrCat(Shown(difference.before), " -> ",
                            Shown(difference.after)));
  }
  return error.Build(
      absl::StrCat("The runs differ in more than their variant: ",
                   absl::StrJoin(texts, "; "), "."));
}

}  // namespace traza
