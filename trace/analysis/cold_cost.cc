// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/cold_cost.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"

#include "trace/analysis/row_names.h"
#include "trace/analysis/stream_waits.h"
#include "trace/record.h"

namespace traza {
namespace {

// The start or the end of a piece of one class.
struct Edge {
  int64_t time_ns;
  ColdClass kind;
  int change;  // +1 or -1
};

bool MakesContext(absl::string_view name) {
  for (const char* word :
       {"cuInit", "CtxCreate", "PrimaryCtxRetain", "PrimaryCtxSetFlags",
        "cudaInitDevice", "cudaSetDevice", "cudaGetDeviceCount",
        "cuDeviceGetCount", "hipInit", "hipSetDevice", "hipGetDeviceCount"}) {
    if (absl::StrContains(name, word)) return true;
  }
  return false;
}

bool LoadsCode(absl::string_view name) {
  for (const char* word :
       {"ModuleLoad", "LibraryLoad", "LinkCreate", "LinkAddData",
        "LinkComplete", "ModuleGetFunction", "LibraryGetKernel",
        "KernelGetFunction", "GetSymbolAddress", "RegisterFatBinary"}) {
    if (absl::StrContains(name, word)) return true;
  }
  return false;
}

bool Waits(absl::string_view name) {
  return absl::StrContains(name, "Synchronize") || CopiesAndWaits(name);
}

bool Launches(absl::string_view name) {
  for (const char* word : {"Launch", "Memcpy", "Memset"}) {
    if (absl::StrContains(name, word)) return true;
  }
  return false;
}

ColdClass ClassOfCall(absl::string_view name, bool first) {
  if (MakesContext(name) ||
      (first && (name == "cudaFree" || name == "hipFree"))) {
    return ColdClass::kContext;
  }
  if (LoadsCode(name)) return ColdClass::kLoading;
  if (IsAllocation(name)) return ColdClass::kAllocation;
  if (Waits(name)) return ColdClass::kSync;
  return Launches(name) ? ColdClass::kLaunch : ColdClass::kSetUp;
}

std::optional<ColdClass> ClassOf(const Trace& trace, size_t row, bool first) {
  const std::string& name = trace.name_of(row);
  switch (trace.kind[row]) {
    case EventKind::kOverhead:
      return IsTracersOverhead(name) ? ColdClass::kTracer : ColdClass::kLoading;
    case EventKind::kCall:
      return ClassOfCall(name, first);
    case EventKind::kSync:
      return ColdClass::kSync;
    case EventKind::kOp:
      return ColdClass::kLibrary;
    default:
      return std::nullopt;
  }
}

// The edges of what lies in [begin, end), clipped to it, and those of the whole
// of it.
std::vector<Edge> EdgesOf(const Trace& trace, size_t step) {
  const int64_t begin = trace.start_ns[step];
  const int64_t end = trace.end_ns(step);
  std::vector<Edge> edges = {{begin, ColdClass::kRest, 1},
                             {end, ColdClass::kRest, -1}};
  bool first = true;  // no call has been made in the file
  for (size_t row = 0; row < trace.rows() && trace.start_ns[row] < end; ++row) {
    const EventKind kind = trace.kind[row];
    if (IsDeviceWork(kind)) continue;
    const bool anywhere = kind == EventKind::kOverhead;
    if (trace.end_ns(row) > begin &&
        (anywhere || trace.thread.at(row) == trace.thread.at(step))) {
      if (const auto cold = ClassOf(trace, row, first)) {
        edges.push_back({std::max(begin, trace.start_ns[row]), *cold, 1});
        edges.push_back({std::min(end, trace.end_ns(row)), *cold, -1});
      }
    }
    first = first && kind != EventKind::kCall;
  }
  std::ranges::sort(edges, {}, &Edge::time_ns);
  return edges;
}

}  // namespace

absl::string_view ColdClassName(ColdClass kind) {
  switch (kind) {
    case ColdClass::kTracer:
      return "tracer";
    case ColdClass::kLoading:
      return "loading_code";
    case ColdClass::kContext:
      return "context";
    case ColdClass::kAllocation:
      return "allocation";
    case ColdClass::kSync:
      return "sync";
    case ColdClass::kLaunch:
      return "launch_calls";
    case ColdClass::kSetUp:
      return "other_calls";
    case ColdClass::kLibrary:
      return "library_set_up";
    case ColdClass::kRest:
      break;
  }
  return "rest";
}

absl::string_view ColdClassText(ColdClass kind) {
  switch (kind) {
    case ColdClass::kTracer:
      return "for the profiler's own buffers";
    case ColdClass::kLoading:
      return "loading code";
    case ColdClass::kContext:
      return "for the context of the device";
    case ColdClass::kAllocation:
      return "allocating memory";
    case ColdClass::kSync:
      return "waiting for the device";
    case ColdClass::kLaunch:
      return "in launch calls";
    case ColdClass::kSetUp:
      return "in other calls of the driver (attributes, occupancy, functions)";
    case ColdClass::kLibrary:
      return "in operators outside of calls (first-call set-up of "
             "libraries: handles, choice of kernels)";
    case ColdClass::kRest:
      break;
  }
  return "outside of operators";
}

ColdCost ColdCostOf(const Trace& trace, size_t row) {
  ColdCost cost{};
  std::array<int64_t, kColdClasses> open{};
  int64_t now = trace.start_ns[row];
  for (const Edge& edge : EdgesOf(trace, row)) {
    for (size_t i = 0; i < kColdClasses; ++i) {
      if (open[i] <= 0) continue;
      cost[i] += edge.time_ns - now;
      break;
    }
    now = edge.time_ns;
    open[static_cast<size_t>(edge.kind)] += edge.change;
  }
  return cost;
}

}  // namespace traza
