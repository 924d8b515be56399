// SPDX-License-Identifier: Apache-2.0
// Quantities of single kernels, and whether two traces run the same ones.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "base/utf8.h"
#include "trace/analysis/check_observe.h"
#include "trace/analysis/check_quantity.h"
#include "trace/analysis/device_lanes.h"
#include "trace/analysis/finding_parts.h"
#include "trace/analysis/statistics.h"
#include "trace/quantity.h"
#include "trace/record.h"

namespace traza {
namespace {

// Kernels that a message names, and how much of their names.
constexpr size_t kShownKernels = 3;
constexpr size_t kShownNameBytes = 80;

// The kernels of the traced steps that the expression is about.
std::vector<size_t> KernelRows(const CheckSubject& subject,
                               const CheckExpression& check) {
  const Trace& trace = subject.trace();
  std::vector<uint8_t> matches;
  if (check.names.has_value()) matches = check.names->MatchAll(trace.names);
  std::vector<size_t> rows;
  const auto add = [&](size_t row) {
    if (trace.kind[row] == EventKind::kKernel &&
        (matches.empty() ||
         matches[static_cast<size_t>(trace.name[row])] != 0)) {
      rows.push_back(row);
    }
  };
  if (!subject.answer().structure.averaged) {
    for (size_t row = 0; row < trace.rows(); ++row) {
      if (subject.steps().Of(row) < subject.steps().count()) add(row);
    }
    return rows;
  }
  // No step is known of them: they are taken by time.
  for (const DeviceLane& lane : DeviceLanesOf(trace, subject.steps())) {
    for (const size_t row : lane.rows) {
      if (trace.start_ns[row] >= lane.window.begin_ns) add(row);
    }
  }
  return rows;
}

std::string NoKernels(const CheckSubject& subject) {
  if (std::string why = subject.MissingDeviceWork(); !why.empty()) return why;
  return "No kernel of that name ran in a traced step.";
}

using Multiset = std::map<std::string, int64_t>;

Multiset KernelsOf(const CheckSubject& subject) {
  Multiset kernels;
  for (const StructureItem& item : subject.answer().structure.per_step) {
    if (item.kind == EventKind::kKernel) kernels[item.name] += item.count;
  }
  return kernels;
}

// What is in `a` and not in `b`: "2 x gemm, 1 x add, 3 more".
std::string OnlyIn(const Multiset& a, const Multiset& b) {
  std::vector<std::string> parts;
  size_t more = 0;
  for (const auto& [name, count] : a) {
    const auto other = b.find(name);
    const int64_t extra = count - (other == b.end() ? 0 : other->second);
    if (extra <= 0) continue;
    if (parts.size() == kShownKernels) {
      ++more;
      continue;
    }
    parts.push_back(absl::StrCat(extra, " x ", Quoted(name, kShownNameBytes)));
  }
  if (more > 0) parts.push_back(absl::StrCat(more, " more"));
  return parts.empty() ? "none" : absl::StrJoin(parts, ", ");
}

// Why the kernels of a step are not known; empty where they are.
std::string MissingStructure(const CheckSubject& subject) {
  if (std::string why = subject.MissingDeviceWork(); !why.empty()) return why;
  const Structure& structure = subject.answer().structure;
  if (structure.stable) return "";
  if (structure.averaged) {
    return absl::StrCat(
        "Its steps do not all run the same kernels, or cannot be told apart: ",
        subject.HowToRecordCalls(), ".");
  }
  return absl::StrCat(CountText(structure.deviating_steps), " of its ",
                      CountText(structure.steps, "step"),
                      " do other device work than the rest.");
}

}  // namespace

Observation ObserveKernelTime(const CheckSubject& subject,
                              const CheckExpression& check) {
  const std::vector<size_t> rows = KernelRows(subject, check);
  if (rows.empty()) return Observation::Missing(NoKernels(subject));
  std::vector<int64_t> times;
  times.reserve(rows.size());
  size_t longest = rows.front();
  for (const size_t row : rows) {
    const int64_t time = subject.trace().duration_ns[row];
    times.push_back(time);
    if (time > subject.trace().duration_ns[longest]) longest = row;
  }
  int64_t value = 0;
  switch (check.quantity->statistic) {
    case CheckStatistic::kMax:
      value = *std::ranges::max_element(times);
      break;
    case CheckStatistic::kP99:
      value = NearestRank(&times, 99);
      break;
    default:
      value = NearestRank(&times, 50);
  }
  Observation observation = Observation::Of(static_cast<double>(value));
  observation.notes.push_back(absl::StrCat(
      "Of ", CountText(static_cast<int64_t>(rows.size()), "kernel"), "."));
  observation.event_ids = {static_cast<int64_t>(longest)};
  return observation;
}

Observation ObserveOccupancy(const CheckSubject& subject,
                             const CheckExpression& check) {
  const std::vector<size_t> rows = KernelRows(subject, check);
  if (rows.empty()) return Observation::Missing(NoKernels(subject));
  const Column<double>& occupancy = subject.trace().occupancy;
  size_t least = rows.front();
  int64_t unknown = 0;
  for (const size_t row : rows) {
    unknown += occupancy.is_null(row);
    if (occupancy.at(row) < occupancy.at(least)) least = row;
  }
  if (unknown > 0) {
    return Observation::Missing(absl::StrCat(
        "The occupancy of ", CountText(unknown), " of ",
        CountText(static_cast<int64_t>(rows.size()), "kernel"),
        " is not known: their launch shape is not in the trace, or this "
        "program has no calculator for that device."));
  }
  Observation observation = Observation::Of(occupancy.at(least));
  observation.numerator = "warps that can be active";
  observation.denominator = "warps of a multiprocessor";
  observation.notes.push_back(absl::StrCat(
      "The least is that of ",
      Quoted(subject.trace().name_of(least), kShownNameBytes), "."));
  observation.event_ids = {static_cast<int64_t>(least)};
  return observation;
}

Observation CompareKernels(const CheckSubject& subject,
                           const CheckSubject& baseline) {
  if (std::string why = MissingStructure(subject); !why.empty()) {
    return Observation::Missing(std::move(why));
  }
  if (std::string why = MissingStructure(baseline); !why.empty()) {
    return Observation::Missing(absl::StrCat("In the baseline: ", why));
  }
  const Multiset ours = KernelsOf(subject);
  const Multiset theirs = KernelsOf(baseline);
  Observation observation = Observation::Bool(ours == theirs);
  int64_t count = 0;
  for (const auto& [name, each] : ours) count += each;
  if (ours == theirs) {
    observation.notes.push_back(absl::StrCat(
        "Both run the same ", CountText(count, "kernel"), " a step."));
  } else {
    observation.notes.push_back(
        absl::StrCat("Only in the trace: ", OnlyIn(ours, theirs),
                     "; only in the baseline: ", OnlyIn(theirs, ours), "."));
  }
  return observation;
}

}  // namespace traza
