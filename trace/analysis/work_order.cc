// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/work_order.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"

#include "trace/analysis/stable_hash.h"
#include "trace/record.h"

namespace traza {
namespace {

constexpr size_t kMaxChainNames = 16;
constexpr absl::string_view kGraphCall = "## Call CompiledFxGraph";
constexpr absl::string_view kRegion = "Torch-Compiled Region";

bool LaunchedBefore(const Launched& a, const Launched& b) {
  return std::tie(a.step, a.launched_ns, a.call, a.row) <
         std::tie(b.step, b.launched_ns, b.call, b.row);
}

}  // namespace

absl::string_view StableScopeName(absl::string_view name) {
  if (absl::StartsWith(name, kGraphCall)) return kGraphCall;
  if (absl::StartsWith(name, kRegion)) return kRegion;
  return name;
}

std::vector<Launched> LaunchOrder(const Trace& trace, const StepIndex& index,
                                  const std::function<bool(size_t)>& wanted) {
  std::vector<Launched> order;
  for (size_t row = 0; row < trace.rows(); ++row) {
    if (!wanted(row)) continue;
    const size_t step = index.Of(row);
    if (step >= index.count()) continue;
    const int64_t call =
        IsDeviceWork(trace.kind[row]) ? trace.call.at(row) : kNull<int64_t>;
    order.push_back(
        {step, trace.start_ns[call >= 0 ? static_cast<size_t>(call) : row],
         call, row});
  }
  // Mostly it is sorted: rows are by start.
  if (!std::ranges::is_sorted(order, LaunchedBefore)) {
    std::ranges::sort(order, LaunchedBefore);
  }
  return order;
}

OpChains::OpChains(const Trace& trace, const RowTimes& times)
    : trace_(trace), times_(times), chains_(trace.rows(), 0) {
  names_.reserve(static_cast<size_t>(trace.names.size()));
  for (int32_t id = 0; id < trace.names.size(); ++id) {
    names_.push_back(HashText(StableScopeName(trace.names.at(id))));
  }
  for (size_t row = 0; row < trace.rows(); ++row) {
    const int64_t parent = trace.parent.at(row);
    const uint64_t around = parent >= 0 ? chains_[parent] : 0;
    const bool counts =
        trace.kind[row] == EventKind::kOp && times.merged[row] == 0;
    chains_[row] = counts ? AppendHash(around, NameHashOf(row)) : around;
  }
}

int64_t OpChains::InnermostAround(size_t row) const {
  if (!IsDeviceWork(trace_.kind[row])) return trace_.parent.at(row);
  const int64_t op = trace_.op.at(row);
  return op >= 0 ? op : trace_.call.at(row);
}

uint64_t OpChains::HashOf(size_t row) const {
  const int64_t around = InnermostAround(row);
  return around >= 0 ? chains_[around] : 0;
}

std::string OpChains::TextOf(size_t row) const {
  std::vector<absl::string_view> names;
  for (int64_t at = InnermostAround(row); at >= 0; at = trace_.parent.at(at)) {
    if (trace_.kind[at] != EventKind::kOp || times_.merged[at] != 0) continue;
    if (names.size() == kMaxChainNames) {
      names.emplace_back("...");
      break;
    }
    names.emplace_back(trace_.name_of(at));
  }
  std::ranges::reverse(names);
  return absl::StrJoin(names, " > ");
}

}  // namespace traza
