// SPDX-License-Identifier: Apache-2.0
// CUDA graphs: those that ran, and work that could be one.
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "trace/analysis/finding_parts.h"
#include "trace/analysis/statistics.h"
#include "trace/quantity.h"
#include "trace/record.h"

namespace traza {
namespace {

// One launch of a graph.
struct Launch {
  int64_t nodes = 0;
  int64_t kernels = 0;
  int64_t ns = 0;  // of its nodes, added up
};

void AddReplayed(const FindingInput& in, std::vector<Finding>* findings) {
  const Trace& trace = in.trace;
  if (!HasGraphs(trace)) return;
  std::map<int64_t, Launch> launches;  // by call
  int64_t ns = 0;
  for (const StreamWork& stream : in.streams) {
    for (const size_t row : stream.rows) {
      const int64_t call = trace.call.at(row);
      if (call < 0 || !IsGraphNode(trace, row)) continue;
      Launch& launch = launches[call];
      ++launch.nodes;
      launch.kernels += trace.kind[row] == EventKind::kKernel;
      launch.ns = AddSaturating(launch.ns, trace.duration_ns[row]);
      ns = AddSaturating(ns, trace.duration_ns[row]);
    }
  }
  if (launches.empty()) return;
  Finding finding;
  int64_t nodes = 0;
  int64_t kernels = 0;
  std::vector<int64_t> counts;
  std::vector<int64_t> calls;
  for (const auto& [call, launch] : launches) {
    nodes += launch.nodes;
    kernels += launch.kernels;
    counts.push_back(launch.nodes);
    calls.push_back(trace.duration_ns[static_cast<size_t>(call)]);
    AddEventId(static_cast<size_t>(call), &finding);
  }
  const auto [least, most] = std::ranges::minmax_element(counts);
  const auto count = static_cast<int64_t>(launches.size());
  const std::string each =
      *least == *most
          ? CountText(*least, "node")
          : absl::StrCat(CountText(*least), " to ", CountText(*most, "node"));
  const int64_t call_ns = Median(&calls);
  finding.id = "graph-replayed";
  finding.severity = "info";
  finding.title = absl::StrCat(
      CountText(count), count == 1 ? " launch" : " launches",
      " of a CUDA graph ", count == 1 ? "replays " : "replay ", each,
      count == 1 ? "" : " each", ": ", PercentText(in.Share(ns)),
      " of the device work for ", NsText(static_cast<double>(call_ns)),
      " of a call (median).");
  finding.numbers["launches"] = CountNumber(count);
  finding.numbers["nodes_per_launch"] = {
      static_cast<double>(nodes) / static_cast<double>(count), "count", "", ""};
  finding.numbers["kernels_per_launch"] = {
      static_cast<double>(kernels) / static_cast<double>(count), "count", "",
      ""};
  finding.numbers["call_time_p50"] = NsNumber(call_ns);
  finding.numbers["node_time"] = NsNumber(ns);
  finding.numbers["node_share"] =
      RatioNumber(in.Share(ns), "time of graph nodes", "time of device work");
  finding.suggestion =
      "No operator is known of a node: to see which one recorded it, trace a "
      "step that runs without the graph.";
  findings->push_back(std::move(finding));
}

void AddCandidate(const FindingInput& in, std::vector<Finding>* findings) {
  const Answer& answer = in.answer;
  const Structure& structure = answer.structure;
  if (!answer.verdict.has_value() ||
      answer.verdict->kind != VerdictKind::kOverheadBound ||
      !structure.stable || structure.averaged || structure.steps < 2 ||
      HasFinding(*findings, "graph-replayed") ||
      HasFinding(*findings, "sync-in-step") ||
      HasFinding(*findings, "alloc-in-step")) {
    return;
  }
  int64_t launches = 0;
  for (const StructureItem& item : structure.per_step) launches += item.count;
  if (launches < 2) return;
  Finding finding;
  finding.id = "graph-candidate";
  finding.severity = "info";
  finding.title = absl::StrCat(
      "Each of ", CountText(structure.steps, "step"), " launches the same ",
      CountText(launches),
      " pieces of device work, and nothing waits or allocates in between: one "
      "CUDA graph could launch them together.");
  finding.numbers["launches_per_step"] = CountNumber(launches);
  for (const char* name : {"step_time_p50", "device_busy_per_step"}) {
    const auto number = answer.verdict->numbers.find(name);
    if (number != answer.verdict->numbers.end()) {
      finding.numbers.insert(*number);
    }
  }
  finding.suggestion =
      "Capture the step (torch.cuda.graphs, or torch.compile with "
      "mode=\"reduce-overhead\"), if shapes and addresses stay the same.";
  findings->push_back(std::move(finding));
}

}  // namespace

void AddGraphFindings(const FindingInput& in, std::vector<Finding>* findings) {
  AddReplayed(in, findings);
  AddCandidate(in, findings);
}

}  // namespace traza
