// SPDX-License-Identifier: Apache-2.0
// What the time of the device goes to.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "trace/analysis/finding_parts.h"
#include "trace/analysis/statistics.h"
#include "trace/quantity.h"
#include "trace/record.h"

namespace traza {
namespace {

constexpr size_t kKinds = static_cast<size_t>(KernelKind::kOther) + 1;
constexpr size_t kShownKinds = 3;
constexpr size_t kShownKernels = 5;
// Chosen: a kind below this share dominates nothing.
constexpr double kMinKindShare = 0.05;

// The work of one kind.
struct Kind {
  KernelKind kind = KernelKind::kOther;
  int64_t ns = 0;
  absl::flat_hash_map<int32_t, int64_t> ops;  // ns by name id
  WeightedNames functions;
};

// The work of one name.
struct Work {
  int64_t ns = 0;
  int64_t count = 0;
  size_t first = 0;
};

KernelKind KindOf(const FindingInput& in, size_t row) {
  switch (in.trace.kind[row]) {
    case EventKind::kCopy:
      return KernelKind::kCopy;
    case EventKind::kFill:
      return KernelKind::kFill;
    default:
      return in.names.Of(row).kind;
  }
}

std::string KindText(const FindingInput& in, const Kind& kind) {
  WeightedNames ops;
  for (const auto& [name, ns] : kind.ops) {
    ops.Add(in.trace.names.at(name), ns);
  }
  const std::string functions = kind.functions.Text(2);
  const std::string callers = ops.Text(2);
  // A generated kernel is called like its operator.
  return absl::StrCat(KernelKindText(kind.kind), " ",
                      PercentText(in.Share(kind.ns)), " (", functions,
                      callers.empty() || callers == functions
                          ? ""
                          : absl::StrCat(" in ", callers),
                      ")");
}

// Numbers of the kernels that take longest, by name and launch.
void AddTopKernels(const FindingInput& in,
                   const absl::flat_hash_map<int32_t, Work>& works,
                   Finding* finding) {
  std::vector<std::pair<std::pair<int64_t, size_t>, int64_t>> top;
  top.reserve(works.size());
  for (const auto& [name, work] : works) {
    top.push_back({{-work.ns, work.first}, work.count});
  }
  const size_t shown = std::min(kShownKernels, top.size());
  std::partial_sort(top.begin(), top.begin() + static_cast<ptrdiff_t>(shown),
                    top.end());
  for (size_t i = 0; i < shown; ++i) {
    const auto& [key, count] = top[i];
    const std::string name = absl::StrCat("kernel_", i + 1);
    finding->numbers[name + "_share"] =
        RatioNumber(in.Share(-key.first),
                    absl::StrCat("time of ", WorkLabel(in, key.second)),
                    "time of device work");
    finding->numbers[name + "_launches"] = CountNumber(count);
    AddEventId(key.second, finding);
  }
}

}  // namespace

void AddDominantFindings(const FindingInput& in,
                         std::vector<Finding>* findings) {
  std::array<Kind, kKinds> kinds;
  absl::flat_hash_map<int32_t, Work> works;
  for (const StreamWork& stream : in.streams) {
    for (const size_t row : stream.rows) {
      const int64_t ns = in.trace.duration_ns[row];
      Work& work =
          works.try_emplace(in.trace.name[row], Work{0, 0, row}).first->second;
      work.ns = AddSaturating(work.ns, ns);
      ++work.count;
      Kind& kind = kinds[static_cast<size_t>(KindOf(in, row))];
      kind.ns = AddSaturating(kind.ns, ns);
      if (const size_t op = OpOf(in.trace, row); op != kNoEvent) {
        int64_t& sum = kind.ops[in.trace.name[op]];
        sum = AddSaturating(sum, ns);
      }
    }
  }
  // One name has all of it: the structure of the step says so.
  if (works.size() < 2 || in.device_ns <= 0) return;
  for (size_t i = 0; i < kKinds; ++i) {
    kinds[i].kind = static_cast<KernelKind>(i);
  }
  for (const auto& [name, work] : works) {
    kinds[static_cast<size_t>(KindOf(in, work.first))].functions.Add(
        WorkLabel(in, work.first), work.ns);
  }
  std::ranges::stable_sort(
      kinds, [](const Kind& a, const Kind& b) { return a.ns > b.ns; });
  Finding finding;
  finding.id = "dominant-kernels";
  finding.severity = "info";
  std::vector<std::string> texts;
  for (const Kind& kind : kinds) {
    if (kind.functions.empty()) continue;
    finding.numbers[absl::StrCat("share_", KernelKindName(kind.kind))] =
        RatioNumber(in.Share(kind.ns),
                    absl::StrCat("time of ", KernelKindText(kind.kind)),
                    "time of device work");
    if (texts.size() < kShownKinds &&
        (texts.empty() || in.Share(kind.ns) >= kMinKindShare)) {
      texts.push_back(KindText(in, kind));
    }
  }
  AddTopKernels(in, works, &finding);
  finding.title = absl::StrCat("The device spends its time on ",
                               absl::StrJoin(texts, ", "), ".");
  finding.suggestion =
      "Start with what takes most; `traza table --by kernel` has all of them.";
  findings->push_back(std::move(finding));
}

}  // namespace traza
