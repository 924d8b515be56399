// SPDX-License-Identifier: Apache-2.0
// Findings about matrix products: what is copied for them, what their end does.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "trace/analysis/finding_parts.h"
#include "trace/analysis/row_names.h"
#include "trace/analysis/statistics.h"
#include "trace/quantity.h"
#include "trace/record.h"

namespace traza {
namespace {

// A copy within the device, by the copy engine or by a kernel.
bool IsDeviceCopy(const FindingInput& in, size_t row) {
  if (in.trace.kind[row] == EventKind::kCopy) {
    return StaysOnDevice(in.trace, row);
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

}  // namespace

void AddGemmFindings(const FindingInput& in, std::vector<Finding>* findings) {
  AddCopyBeforeGemm(in, findings);
  AddEpilogueFused(in, findings);
}

}  // namespace traza
