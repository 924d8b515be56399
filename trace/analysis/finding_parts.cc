// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/finding_parts.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"

#include "trace/analysis/statistics.h"
#include "trace/quantity.h"
#include "trace/record.h"

namespace traza {
namespace {

// Of a kernel whose function does anything: what it did here; "" is unknown.
std::string KnownAction(const FindingInput& in, size_t row) {
  const KernelName& name = in.names.Of(row);
  if (!name.action.empty() || !DoesAnything(name)) return name.action;
  const size_t op = OpOf(in.trace, row);
  if (op == kNoEvent) return "";
  return ShortName(absl::StripPrefix(in.trace.name_of(op), "aten::"));
}

}  // namespace

double FindingInput::Share(int64_t ns) const {
  return device_ns > 0
             ? static_cast<double>(ns) / static_cast<double>(device_ns)
             : 0;
}

bool IsGemm(const FindingInput& in, size_t row) {
  return in.trace.kind[row] == EventKind::kKernel &&
         in.names.Of(row).kind == KernelKind::kGemm;
}

bool HasFinding(const std::vector<Finding>& findings, absl::string_view id) {
  return std::ranges::any_of(
      findings, [&](const Finding& finding) { return finding.id == id; });
}

std::string WorkAction(const FindingInput& in, size_t row) {
  if (in.trace.kind[row] != EventKind::kKernel) return in.trace.name_of(row);
  const std::string action = KnownAction(in, row);
  return action.empty() ? ShortName(in.names.Of(row).function) : action;
}

std::string WorkLabel(const FindingInput& in, size_t row) {
  if (in.trace.kind[row] != EventKind::kKernel) return in.trace.name_of(row);
  const KernelName& name = in.names.Of(row);
  if (!name.action.empty()) return KernelLabel(name);
  const std::string action = KnownAction(in, row);
  return action.empty()
             ? KernelLabel(name)
             : absl::StrCat(action, " (", ShortName(name.function), ")");
}

std::string TrafficText(double bytes) { return DecimalText(bytes, "B"); }

std::string BandwidthText(double bytes_per_second) {
  return DecimalText(bytes_per_second, "B/s");
}

void WeightedNames::Add(absl::string_view name, int64_t weight) {
  int64_t& sum = names_[name];
  sum = AddSaturating(sum, weight);
}

std::string WeightedNames::Text(size_t shown) const {
  std::vector<std::pair<int64_t, std::string>> sorted;
  sorted.reserve(names_.size());
  for (const auto& [name, weight] : names_) sorted.emplace_back(-weight, name);
  const size_t count = std::min(shown, sorted.size());
  std::partial_sort(sorted.begin(),
                    sorted.begin() + static_cast<ptrdiff_t>(count),
                    sorted.end());
  std::vector<std::string> texts;
  for (size_t i = 0; i < count; ++i) texts.push_back(sorted[i].second);
  if (sorted.size() > count) {
    texts.push_back(absl::StrCat(sorted.size() - count, " more"));
  }
  return absl::StrJoin(texts, ", ");
}

}  // namespace traza
