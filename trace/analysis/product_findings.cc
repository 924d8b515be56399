// SPDX-License-Identifier: Apache-2.0
// Findings about matrix products: how their operands lie, and who shares them.
#include <algorithm>
#include <cstdint>
#include <map>
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

void AddLayout(const FindingInput& in, std::vector<Finding>* findings) {
  struct Layout {
    int64_t count = 0;
    int64_t ns = 0;
    size_t first = kNoEvent;
  };
  std::map<std::string, Layout> layouts;
  for (const StreamWork& stream : in.streams) {
    for (const size_t row : stream.rows) {
      if (!IsGemm(in, row) || in.names.Of(row).layout.empty()) continue;
      Layout& layout = layouts[in.names.Of(row).layout];
      if (layout.first == kNoEvent) layout.first = row;
      ++layout.count;
      layout.ns = AddSaturating(layout.ns, in.trace.duration_ns[row]);
    }
  }
  if (layouts.empty()) return;
  Finding finding;
  finding.id = "layout";
  finding.severity = "info";
  std::vector<std::string> texts;
  for (const auto& [name, layout] : layouts) {
    texts.push_back(absl::StrCat(CountText(layout.count), " ", name, " (",
                                 LayoutText(name), ")"));
    finding.numbers[absl::StrCat("products_", name)] =
        CountNumber(layout.count);
    finding.numbers[absl::StrCat("time_", name)] = NsNumber(layout.ns);
    AddEventId(layout.first, &finding);
  }
  finding.title =
      absl::StrCat("Matrix products by the letters of their kernels: ",
                   absl::StrJoin(texts, "; "), ".");
  finding.suggestion =
      "A transpose in place needs no copy. (The letters are those of BLAS, "
      "column by column: the second operand of PyTorch comes first.)";
  findings->push_back(std::move(finding));
}

// Launches of one kernel whose ranges are looked at: steps repeat.
constexpr int64_t kMaxLooks = 4096;

// Where one kernel was launched from: by operator, and by the range around it.
struct Places {
  int64_t count = 0;
  int64_t ns = 0;
  absl::flat_hash_map<int32_t, size_t> ops;     // name id -> first row
  absl::flat_hash_map<int32_t, size_t> ranges;  // name id -> first row
};

// The name id of the innermost range around the call of the work.
int32_t RangeOf(const Trace& trace, size_t row) {
  int64_t at = trace.call.at(row) >= 0 ? trace.call.at(row) : trace.op.at(row);
  constexpr int kMaxDepth = 64;
  for (int i = 0; at >= 0 && i < kMaxDepth; ++i) {
    if (trace.kind[static_cast<size_t>(at)] == EventKind::kRange) {
      return trace.name[static_cast<size_t>(at)];
    }
    at = trace.parent.at(static_cast<size_t>(at));
  }
  return kNull<int32_t>;
}

std::string NamesText(const Trace& trace,
                      const absl::flat_hash_map<int32_t, size_t>& names) {
  std::vector<std::pair<size_t, int32_t>> by_row;
  by_row.reserve(names.size());
  for (const auto& [name, row] : names) by_row.emplace_back(row, name);
  std::ranges::sort(by_row);
  constexpr size_t kShown = 3;
  std::vector<std::string> texts;
  for (const auto& [row, name] : by_row) {
    if (texts.size() == kShown) break;
    texts.push_back(trace.names.at(name));
  }
  if (by_row.size() > kShown) {
    texts.push_back(absl::StrCat(by_row.size() - kShown, " more"));
  }
  return absl::StrJoin(texts, ", ");
}

// The kernel that took longest of those that several operators or ranges
// launched. Whether two variants do the same needs both traces: a diff.
void AddSameWork(const FindingInput& in, std::vector<Finding>* findings) {
  std::map<int32_t, Places> kernels;  // by name id
  for (const StreamWork& stream : in.streams) {
    for (const size_t row : stream.rows) {
      if (in.trace.kind[row] != EventKind::kKernel) continue;
      const KernelKind kind = in.names.Of(row).kind;
      if (kind != KernelKind::kGemm && kind != KernelKind::kConvolution &&
          kind != KernelKind::kAttention && !in.names.Of(row).generated) {
        continue;
      }
      Places& places = kernels[in.trace.name[row]];
      ++places.count;
      places.ns = AddSaturating(places.ns, in.trace.duration_ns[row]);
      if (const size_t op = OpOf(in.trace, row); op != kNoEvent) {
        places.ops.try_emplace(in.trace.name[op], row);
      }
      if (places.count > kMaxLooks) continue;
      if (const int32_t range = RangeOf(in.trace, row); range >= 0) {
        places.ranges.try_emplace(range, row);
      }
    }
  }
  const Places* most = nullptr;
  int32_t name = 0;
  int64_t shared = 0;
  for (const auto& [id, places] : kernels) {
    if (places.ops.size() < 2 && places.ranges.size() < 2) continue;
    ++shared;
    if (most == nullptr || places.ns > most->ns) {
      most = &places;
      name = id;
    }
  }
  if (most == nullptr) return;
  const auto& from = most->ops.size() > 1 ? most->ops : most->ranges;
  Finding finding;
  finding.id = "same-gpu-work";
  finding.severity = "info";
  finding.title = absl::StrCat(
      NamesText(in.trace, from),
      " run the same kernel, byte by byte of its "
      "name: ",
      ShortName(DecodeKernelName(in.trace.names.at(name)).function),
      shared > 1 ? absl::StrCat(", and ", CountText(shared - 1),
                                shared == 2 ? " other is" : " others are",
                                " shared so")
                 : "",
      ".");
  finding.numbers["shared_kernels"] = CountNumber(shared);
  finding.numbers["launches"] = CountNumber(most->count);
  finding.numbers["kernel_time"] = NsNumber(most->ns);
  for (const auto& [id, row] : from) AddEventId(row, &finding);
  std::ranges::sort(finding.event_ids);
  finding.suggestion =
      "On the device they are the same work: a difference between them is on "
      "the CPU. Across variants `traza diff` compares the kernels.";
  findings->push_back(std::move(finding));
}

}  // namespace

void AddProductFindings(const FindingInput& in,
                        std::vector<Finding>* findings) {
  AddLayout(in, findings);
  AddSameWork(in, findings);
}

}  // namespace traza
