// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/stream_work.h"

#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "trace/record.h"

namespace traza {
namespace {

// Deeper than operators nest; the walk up from each row stays short.
constexpr int kMaxDepth = 64;
// As the calls of both layers of CUDA have it.
constexpr absl::string_view kGraphLaunch = "GraphLaunch";

}  // namespace

std::vector<StreamWork> StreamsOf(const Trace& trace,
                                  const std::vector<DeviceLane>& lanes) {
  std::vector<StreamWork> all;
  for (const DeviceLane& lane : lanes) {
    std::map<int32_t, StreamWork> streams;
    for (const size_t row : lane.rows) {
      StreamWork& work = streams[trace.stream.at(row)];
      work.device = lane.device;
      work.stream = trace.stream.at(row);
      work.rows.push_back(row);
    }
    for (auto& [stream, work] : streams) all.push_back(std::move(work));
  }
  return all;
}

size_t OpOf(const Trace& trace, size_t row) {
  const int64_t op = trace.op.at(row);
  return op < 0 ? kNoEvent : static_cast<size_t>(op);
}

int32_t FindName(const Trace& trace, absl::string_view name) {
  for (int32_t i = 0; i < trace.names.size(); ++i) {
    if (trace.names.at(i) == name) return i;
  }
  return -1;
}

size_t OpAround(const Trace& trace, size_t row, int32_t name) {
  int64_t op = name < 0 ? kNull<int64_t> : trace.op.at(row);
  for (int depth = 0; op >= 0 && depth < kMaxDepth; ++depth) {
    if (trace.name[static_cast<size_t>(op)] == name &&
        trace.kind[static_cast<size_t>(op)] == EventKind::kOp) {
      return static_cast<size_t>(op);
    }
    op = trace.parent.at(static_cast<size_t>(op));
  }
  return kNoEvent;
}

size_t OutermostOp(const Trace& trace, size_t op) {
  for (int depth = 0; depth < kMaxDepth; ++depth) {
    const int64_t parent = trace.parent.at(op);
    if (parent < 0 ||
        trace.kind[static_cast<size_t>(parent)] != EventKind::kOp) {
      break;
    }
    op = static_cast<size_t>(parent);
  }
  return op;
}

bool HasGraphs(const Trace& trace) {
  if (!trace.graph.all_null()) return true;
  for (int32_t i = 0; i < trace.names.size(); ++i) {
    if (absl::StrContains(trace.names.at(i), kGraphLaunch)) return true;
  }
  return false;
}

bool IsGraphNode(const Trace& trace, size_t row) {
  if (!trace.graph.is_null(row)) return true;
  const int64_t call = trace.call.at(row);
  return call >= 0 &&
         absl::StrContains(trace.name_of(static_cast<size_t>(call)),
                           kGraphLaunch);
}

std::string OpPath(const Trace& trace, size_t row) {
  const size_t op = OpOf(trace, row);
  if (op == kNoEvent) return "";
  const size_t outermost = OutermostOp(trace, op);
  return outermost == op || trace.name[outermost] == trace.name[op]
             ? trace.name_of(op)
             : absl::StrCat(trace.name_of(outermost), " > ", trace.name_of(op));
}

}  // namespace traza
