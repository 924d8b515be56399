// SPDX-License-Identifier: Apache-2.0
// Findings about matrix products: what is copied for them, what their end does,
// how their operands lie.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "trace/analysis/finding_parts.h"
#include "trace/analysis/statistics.h"
#include "trace/quantity.h"
#include "trace/record.h"

namespace traza {
namespace {

bool IsGemm(const FindingInput& in, size_t row) {
  return in.trace.kind[row] == EventKind::kKernel &&
         in.names.Of(row).kind == KernelKind::kGemm;
}

// A copy within the device, by the copy engine or by a kernel.
bool IsDeviceCopy(const FindingInput& in, size_t row) {
  if (in.trace.kind[row] == EventKind::kCopy) {
    const int32_t kind = in.trace.copy_kind.at(row);
    return kind >= 0 ? in.trace.names.at(kind) == "dtod"
                     : absl::StrContains(in.trace.name_of(row), "DtoD");
  }
  return in.trace.kind[row] == EventKind::kKernel &&
         in.names.Of(row).kind == KernelKind::kCopy;
}

// Whether the op is an addmm, a baddbmm or the like, which add a tensor to a
// matrix product; unknown ops pass where the product's name says that it adds.
bool IsAddingOp(const FindingInput& in, size_t gemm) {
  const size_t op = OpOf(in.trace, gemm);
  if (op == kNoEvent) return in.names.Of(gemm).epilogue == "add";
  const std::string& name = in.trace.name_of(op);
  return absl::StrContains(name, "addmm") || absl::StrContains(name, "addbmm");
}

// Whether the op of the copy is that of the product, or inside of it.
bool IsForGemm(const Trace& trace, size_t copy, size_t gemm) {
  const size_t op = OpOf(trace, gemm);
  int64_t of_copy = trace.op.at(copy);
  if (op == kNoEvent) return of_copy < 0;
  constexpr int kMaxDepth = 8;
  for (int i = 0; of_copy >= 0 && i < kMaxDepth; ++i) {
    if (static_cast<size_t>(of_copy) == op) return true;
    of_copy = trace.parent.at(static_cast<size_t>(of_copy));
  }
  return false;
}

struct CopiesForGemms {
  int64_t count = 0;
  int64_t ns = 0;
  int64_t bytes = 0;  // of those that know theirs
  std::vector<size_t> copies;
  std::vector<size_t> gemms;
  WeightedNames ops;
};

CopiesForGemms FindCopies(const FindingInput& in) {
  CopiesForGemms found;
  for (const StreamWork& stream : in.streams) {
    std::optional<size_t> before;  // fills apart
    for (const size_t row : stream.rows) {
      if (in.trace.kind[row] == EventKind::kFill) continue;
      if (before.has_value() && IsDeviceCopy(in, *before) && IsGemm(in, row) &&
          IsAddingOp(in, row) && IsForGemm(in.trace, *before, row)) {
        const int64_t ns = in.trace.duration_ns[*before];
        ++found.count;
        found.ns = AddSaturating(found.ns, ns);
        found.bytes = AddSaturating(
            found.bytes, std::max<int64_t>(0, in.trace.bytes.at(*before)));
        if (found.copies.size() < kMaxEventIds / 2) {
          found.copies.push_back(*before);
          found.gemms.push_back(row);
        }
        const size_t op = OpOf(in.trace, row);
        found.ops.Add(op == kNoEvent ? ShortName(in.names.Of(row).function)
                                     : in.trace.name_of(op),
                      ns);
      }
      before = row;
    }
  }
  return found;
}

void AddCopyBeforeGemm(const FindingInput& in, std::vector<Finding>* findings) {
  const CopiesForGemms found = FindCopies(in);
  if (found.count == 0) return;
  Finding finding;
  finding.id = "copy-before-gemm";
  finding.severity = "warning";
  finding.title = absl::StrCat(
      CountText(found.count, "matrix product"), " of ", found.ops.Text(),
      found.count == 1 ? " copies" : " copy",
      " what is added into the output first: ",
      found.bytes > 0
          ? absl::StrCat(BytesText(static_cast<double>(found.bytes) /
                                   static_cast<double>(found.count)),
                         " a time, ")
          : "",
      NsText(static_cast<double>(found.ns)), " in all, ",
      PercentText(in.Share(found.ns)), " of the device work.");
  finding.numbers["copies"] = CountNumber(found.count);
  finding.numbers["copy_time"] = NsNumber(found.ns);
  if (found.bytes > 0) {
    finding.numbers["copy_bytes"] =
        BytesNumber(static_cast<double>(found.bytes));
  }
  finding.numbers["copy_share"] = RatioNumber(
      in.Share(found.ns), "time of the copies", "time of device work");
  for (size_t i = 0; i < found.copies.size(); ++i) {
    AddEventId(found.copies[i], &finding);
    AddEventId(found.gemms[i], &finding);
  }
  finding.suggestion =
      "A bias with the shape of the output is copied so that the product can "
      "add to it (beta = 1). One of a single row, contiguous, rides in the end "
      "of the kernel for nothing.";
  findings->push_back(std::move(finding));
}

// The kernels of one operator.
struct OpWork {
  size_t gemm = kNoEvent;
  int64_t gemms = 0;
  int64_t others = 0;  // fills apart
};

// Operators that add a bias and launched one matrix product, nothing else.
void AddEpilogueFused(const FindingInput& in, std::vector<Finding>* findings) {
  const int32_t addmm = FindName(in.trace, "aten::addmm");
  std::map<size_t, OpWork> by_op;
  int64_t count = 0;
  Finding finding;
  WeightedNames kernels;
  const auto add = [&](size_t gemm) {
    ++count;
    kernels.Add(ShortName(in.names.Of(gemm).function),
                in.trace.duration_ns[gemm]);
    AddEventId(gemm, &finding);
  };
  for (const StreamWork& stream : in.streams) {
    for (const size_t row : stream.rows) {
      if (in.trace.kind[row] == EventKind::kFill) continue;
      const bool gemm = IsGemm(in, row);
      size_t op = OpAround(in.trace, row, addmm);
      if (op == kNoEvent) {
        if (gemm && in.names.Of(row).epilogue == "bias") add(row);
        continue;
      }
      OpWork& work = by_op[op];
      if (gemm) work.gemm = row;
      ++(gemm ? work.gemms : work.others);
    }
  }
  for (const auto& [op, work] : by_op) {
    if (work.gemms == 1 && work.others == 0) add(work.gemm);
  }
  if (count == 0) return;
  finding.id = "epilogue-fused";
  finding.severity = "info";
  finding.title = absl::StrCat(
      CountText(count, "matrix product"),
      count == 1 ? " adds its" : " add their",
      " bias in the end of the kernel, without a kernel of its own: ",
      kernels.Text(), ".");
  finding.numbers["products"] = CountNumber(count);
  finding.suggestion =
      "Nothing to do: fusing the bias by hand, or by a compiler, gains nothing "
      "here.";
  findings->push_back(std::move(finding));
}

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
      "None of them copies an operand to turn it. (The letters are those of "
      "BLAS, column by column: the second operand of PyTorch comes first.)";
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

void AddGemmFindings(const FindingInput& in, std::vector<Finding>* findings) {
  AddCopyBeforeGemm(in, findings);
  AddEpilogueFused(in, findings);
  AddLayout(in, findings);
  AddSameWork(in, findings);
}

}  // namespace traza
