// SPDX-License-Identifier: Apache-2.0
// Findings about single steps.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "trace/analysis/finding_parts.h"
#include "trace/analysis/perturbed.h"
#include "trace/analysis/row_names.h"
#include "trace/analysis/statistics.h"
#include "trace/analysis/steps.h"
#include "trace/analysis/stream_waits.h"
#include "trace/quantity.h"
#include "trace/record.h"

namespace traza {
namespace {

// Names of a group that a title shows.
constexpr size_t kShownNames = 3;

// Rows of the traced steps that a finding is about.
class Group {
 public:
  explicit Group(const Trace& trace) : trace_(trace) {}

  void Add(size_t row) {
    ++count_;
    ns_ = AddSaturating(ns_, trace_.duration_ns[row]);
    int64_t& by_name = by_name_[Describe(row)];
    by_name = AddSaturating(by_name, trace_.duration_ns[row]);
    const size_t op = OpOf(trace_, row);
    ops_.insert(op == kNoEvent ? -1 : trace_.name[op]);
    if (rows_.size() < kMaxEventIds) rows_.push_back(row);
  }
  int64_t count() const { return count_; }
  int64_t ns() const { return ns_; }
  // Whether all are of operators of this name.
  bool AllIn(absl::string_view op) const {
    return ops_.size() == 1 && *ops_.begin() >= 0 &&
           trace_.names.at(*ops_.begin()) == op;
  }

  // "cudaMalloc in aten::mm, ...", those that take longest.
  std::string Names() const {
    std::vector<std::pair<int64_t, std::string>> names;
    for (const auto& [name, ns] : by_name_) names.emplace_back(-ns, name);
    std::ranges::sort(names);
    std::vector<std::string> shown;
    for (const auto& [ns, name] : names) {
      if (shown.size() == kShownNames) {
        shown.push_back(absl::StrCat(names.size() - kShownNames, " more"));
        break;
      }
      shown.push_back(name);
    }
    return absl::StrJoin(shown, ", ");
  }
  // Without title and suggestion; 0 steps is a file without.
  Finding ToFinding(const char* id, size_t steps) const {
    Finding finding;
    finding.id = id;
    // A file without steps may hold the first ones, where this is usual.
    finding.severity = steps > 0 ? "warning" : "info";
    finding.numbers["count"] = CountNumber(count_);
    finding.numbers["time"] = NsNumber(ns_);
    if (steps > 0) {
      finding.numbers["traced_steps"] =
          CountNumber(static_cast<int64_t>(steps));
    }
    for (const size_t row : rows_) AddEventId(row, &finding);
    return finding;
  }

 private:
  std::string Describe(size_t row) const {
    const std::string path = OpPath(trace_, row);
    return path.empty() ? trace_.name_of(row)
                        : absl::StrCat(trace_.name_of(row), " in ", path);
  }

  const Trace& trace_;
  int64_t count_ = 0;
  int64_t ns_ = 0;
  std::map<std::string, int64_t> by_name_;
  std::set<int32_t> ops_;  // name ids; below 0 outside of operators
  std::vector<size_t> rows_;
};

// What an API call makes another layer of the API do counts once.
bool IsInside(const Trace& trace, size_t row, EventKind kind) {
  const int64_t parent = trace.parent.at(row);
  return parent >= 0 && trace.kind[static_cast<size_t>(parent)] == kind;
}

// "The CPU waits 3 times in 20 traced steps, 100 us in all: ..."
std::string TitleOf(const char* what, const Group& group, size_t steps) {
  return absl::StrCat(
      what, " ", CountText(group.count(), "time"), " in ",
      steps > 0 ? CountText(static_cast<int64_t>(steps), "traced step")
                : "the trace, which has no steps",
      ", ", NsText(static_cast<double>(group.ns())), " in all: ", group.Names(),
      ".");
}

void AddGroup(const char* id, const char* what, const char* suggestion,
              const Group& group, size_t steps,
              std::vector<Finding>* findings) {
  if (group.count() == 0) return;
  Finding finding = group.ToFinding(id, steps);
  finding.title = TitleOf(what, group, steps);
  finding.suggestion = suggestion;
  findings->push_back(std::move(finding));
}

void AddWaitsAllocationsAndLoading(const Trace& trace, const StepIndex& index,
                                   std::vector<Finding>* findings) {
  const size_t steps = index.rows().size();
  bool to_host = false;  // what copies bring, the CPU reads
  Group waits(trace);
  Group allocations(trace);
  Group loading(trace);
  for (size_t row = 0; row < trace.rows(); ++row) {
    const EventKind kind = trace.kind[row];
    to_host = to_host || (kind == EventKind::kCopy && GoesToHost(trace, row) &&
                          index.Of(row) < index.count());
    if (kind != EventKind::kSync && kind != EventKind::kCall &&
        kind != EventKind::kOverhead) {
      continue;
    }
    if (index.Of(row) >= index.count() || IsInside(trace, row, kind)) continue;
    if (IsHostWait(trace, row)) {
      // Without steps, a wait outside of operators may be the profiler's last.
      if (steps > 0 || !trace.op.is_null(row)) waits.Add(row);
    } else if (kind == EventKind::kCall && IsAllocation(trace.name_of(row))) {
      allocations.Add(row);
    } else if (kind == EventKind::kOverhead
                   ? IsModuleLoading(trace.name_of(row))
                   : LoadsModule(trace.name_of(row))) {
      loading.Add(row);
    }
  }
  AddGroup("sync-in-step", "The CPU waits for the device",
           waits.AllIn("aten::copy_") && !to_host
               ? "These copies wait until they are done: pin the memory of the "
                 "host and copy with non_blocking=True."
               : "Keep results on the device, and read them once in many "
                 "steps: .item(), .cpu(), printing and if wait for all that "
                 "was launched.",
           waits, steps, findings);
  AddGroup("alloc-in-step", "Memory is allocated or freed",
           "Warm up until the caching allocator has what the steps need, and "
           "keep shapes the same: cudaFree waits for the device.",
           allocations, steps, findings);
  AddGroup("module-loading-in-step", "The driver loads code",
           "Warm up with every shape that is measured, or load at the start: "
           "CUDA_MODULE_LOADING=EAGER.",
           loading, steps, findings);
}

void AddUnstableCount(const Trace& trace, const StepIndex& index,
                      const Structure& structure,
                      std::vector<Finding>* findings) {
  if (structure.stable || structure.averaged ||
      !structure.kernels.has_value() || index.rows().empty()) {
    return;
  }
  Finding finding;
  finding.id = "unstable-kernel-count";
  finding.severity = "warning";
  finding.title = absl::StrCat(
      CountText(structure.deviating_steps), " of ",
      CountText(structure.steps, "traced step"),
      structure.deviating_steps == 1 ? " does" : " do",
      " other device work than the rest: ", MeanText(structure.kernels->mean),
      " kernels a step, variance ",
      MeanText(structure.kernels->variance.value_or(0), 3), ".");
  finding.numbers["deviating_steps"] = CountNumber(structure.deviating_steps);
  finding.numbers["traced_steps"] = CountNumber(structure.steps);
  finding.numbers["kernels_per_step"] = {structure.kernels->mean, "count", "",
                                         ""};
  finding.numbers["kernels_per_step_variance"] = {
      structure.kernels->variance.value_or(0), "count", "", ""};
  std::vector<int64_t> counts(index.count(), 0);
  for (size_t row = 0; row < trace.rows(); ++row) {
    if (!IsDeviceWork(trace.kind[row])) continue;
    const size_t step = index.Of(row);
    if (step < index.count()) ++counts[step];
  }
  std::vector<int64_t> sorted = counts;
  const int64_t usual = NearestRank(&sorted, 50);
  for (size_t step = 0; step < counts.size(); ++step) {
    if (counts[step] != usual) AddEventId(index.rows()[step], &finding);
  }
  finding.suggestion =
      "Compare only steps that do the same: look for shapes, branches or "
      "caches that change from step to step.";
  findings->push_back(std::move(finding));
}

void AddPerturbed(const Trace& trace, const StepIndex& index,
                  const StepsAnswer& steps, std::vector<Finding>* findings) {
  if (!steps.perturbed.has_value() || steps.perturbed->count == 0) return;
  const PerturbedSteps& perturbed = *steps.perturbed;
  const int64_t all = perturbed.traced_steps;
  Finding finding;
  finding.id = "profiler-perturbed-step";
  finding.severity = IsPerturbed(perturbed) ? "warning" : "info";
  finding.title = absl::StrCat(
      "The tracer was at work in ", CountText(perturbed.count), " of ",
      CountText(all, "traced step"), ", for ",
      NsText(static_cast<double>(perturbed.tracer_ns)), ": ",
      absl::StrJoin(perturbed.numbers, ", "),
      static_cast<int64_t>(perturbed.numbers.size()) < perturbed.count ? ", ..."
                                                                       : "",
      ".");
  finding.numbers["perturbed_steps"] = CountNumber(perturbed.count);
  finding.numbers["traced_steps"] = CountNumber(all);
  finding.numbers["tracer_time"] = NsNumber(perturbed.tracer_ns);
  const Perturbation perturbation = FindPerturbation(trace, index);
  for (size_t step = 0; step < perturbation.steps.size(); ++step) {
    if (perturbation.steps[step] != 0) {
      AddEventId(index.rows()[step], &finding);
    }
  }
  finding.suggestion =
      perturbed.count < all
          ? "They are left out of the step times; the device's idle time in "
            "them is the class profiler."
          : "No step is left without it: trace fewer steps.";
  findings->push_back(std::move(finding));
}

}  // namespace

void AddStepFindings(const Trace& trace, const StepIndex& index,
                     const Answer& answer, std::vector<Finding>* findings) {
  AddWaitsAllocationsAndLoading(trace, index, findings);
  AddUnstableCount(trace, index, answer.structure, findings);
  AddPerturbed(trace, index, answer.steps, findings);
}

}  // namespace traza
