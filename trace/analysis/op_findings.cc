// SPDX-License-Identifier: Apache-2.0
// Findings about operators that launch nothing.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"

#include "trace/analysis/finding_parts.h"
#include "trace/analysis/statistics.h"
#include "trace/quantity.h"
#include "trace/record.h"

namespace traza {
namespace {

// Operators of aten that change what describes a tensor, not its elements. Of
// those that may copy (reshape), calls that do are told by their work.
constexpr std::array<absl::string_view, 26> kMetadataOps = {
    "t",         "transpose",      "permute",    "view",     "_unsafe_view",
    "reshape",   "_reshape_alias", "as_strided", "expand",   "expand_as",
    "squeeze",   "unsqueeze",      "select",     "slice",    "narrow",
    "split",     "chunk",          "unbind",     "detach",   "alias",
    "flatten",   "unflatten",      "view_as",    "swapaxes", "movedim",
    "lift_fresh"};

bool IsMetadataOp(absl::string_view name) {
  return absl::ConsumePrefix(&name, "aten::") &&
         std::ranges::find(kMetadataOps, name) != kMetadataOps.end();
}

// By name id, each name once.
std::vector<uint8_t> MetadataNames(const Trace& trace) {
  std::vector<uint8_t> names(static_cast<size_t>(trace.names.size()), 0);
  for (int32_t i = 0; i < trace.names.size(); ++i) {
    names[static_cast<size_t>(i)] = IsMetadataOp(trace.names.at(i));
  }
  return names;
}

// The range that the worker puts around a call that was compiled ahead of time
// (workloads/workload.h).
constexpr absl::string_view kCompiledRegion = "compiled_region";

// Where a step has no operators because a compiled call has none.
void AddCompiledFinding(const FindingInput& in,
                        std::vector<Finding>* findings) {
  const Trace& trace = in.trace;
  Finding finding;
  int64_t calls = 0;
  int64_t device_ns = 0;
  for (size_t row = 0; row < trace.rows(); ++row) {
    if (trace.kind[row] != EventKind::kRange ||
        trace.name_of(row) != kCompiledRegion ||
        in.steps.Of(row) == in.steps.count()) {
      continue;
    }
    ++calls;
    device_ns = AddSaturating(device_ns, in.times.total_device[row]);
    AddEventId(row, &finding);
  }
  if (calls == 0) return;
  finding.id = "compiled-region";
  finding.severity = "info";
  finding.title = absl::StrCat(
      "The steps run ", CountText(calls),
      " calls that were compiled ahead of time (compiled_region), ",
      absl::StrFormat("%.0f %%", 100 * in.Share(device_ns)),
      " of the device's work: such a call bypasses PyTorch's dispatcher, so "
      "inside only what allocates or views has operator rows.");
  finding.numbers["compiled_calls"] = CountNumber(calls);
  finding.numbers["device_time"] = NsNumber(device_ns);
  finding.suggestion =
      "Look at its kernels (traza table --by kernel); for its operators, run "
      "the variant eager.";
  findings->push_back(std::move(finding));
}

}  // namespace

void AddOpFindings(const FindingInput& in, std::vector<Finding>* findings) {
  // Without device work every operator launches nothing.
  if (!in.times.has_device_work()) return;
  AddCompiledFinding(in, findings);
  const Trace& trace = in.trace;
  const std::vector<uint8_t> metadata = MetadataNames(trace);
  const auto counts = [&](size_t row) {
    return trace.kind[row] == EventKind::kOp &&
           metadata[static_cast<size_t>(trace.name[row])] != 0 &&
           in.times.total_device[row] == 0;
  };
  Finding finding;
  WeightedNames names;
  int64_t count = 0;
  int64_t ns = 0;
  for (size_t row = 0; row < trace.rows(); ++row) {
    if (!counts(row) || in.steps.Of(row) == in.steps.count()) continue;
    ++count;
    names.Add(trace.name_of(row), 1);
    AddEventId(row, &finding);
    // aten::t calls aten::transpose: their time counts once.
    const int64_t parent = trace.parent.at(row);
    if (parent < 0 || !counts(static_cast<size_t>(parent))) {
      ns = AddSaturating(ns, trace.duration_ns[row]);
    }
  }
  if (count == 0) return;
  const auto steps = static_cast<double>(in.steps.count());
  finding.id = "metadata-only-op";
  finding.severity = "info";
  const double per_step = static_cast<double>(count) / steps;
  finding.title = absl::StrCat(
      MeanText(per_step), per_step == 1 ? " operator" : " operators",
      " a step launch", per_step == 1 ? "es" : "", " nothing and only describe",
      per_step == 1 ? "s" : "", " tensors anew, ",
      NsText(static_cast<double>(ns) / steps),
      " of the CPU's time: ", names.Text(4), ".");
  finding.numbers["operators"] = CountNumber(count);
  finding.numbers["operators_per_step"] = {per_step, "count", "", ""};
  finding.numbers["cpu_time"] = NsNumber(ns);
  finding.numbers["cpu_time_per_step"] = {static_cast<double>(ns) / steps, "ns",
                                          "", ""};
  finding.suggestion =
      "They cost the device nothing: no copy to hunt for. A compiler or a CUDA "
      "graph takes their time off the CPU.";
  findings->push_back(std::move(finding));
}

}  // namespace traza
