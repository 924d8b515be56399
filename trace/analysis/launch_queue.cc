// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/launch_queue.h"

#include <algorithm>

#include "trace/analysis/stream_work.h"

namespace traza {

LaunchQueue::LaunchQueue(const Trace& trace, Window window)
    : trace_(trace), window_(window), has_graphs_(HasGraphs(trace)) {}

// Whether a call of the window launched it, and no earlier node of its graph
// was seen.
bool LaunchQueue::IsLaunch(size_t row) {
  const int64_t call = trace_.call.at(row);
  if (call < 0 || trace_.start_ns[call] < window_.begin_ns ||
      trace_.start_ns[call] >= window_.end_ns) {
    return false;
  }
  return !has_graphs_ || !IsGraphNode(trace_, row) ||
         graph_calls_.insert(call).second;
}

std::optional<Launch> LaunchQueue::Next(size_t row, bool waited) {
  const auto [stream, first] =
      busy_until_ns_.try_emplace(trace_.stream.at(row), trace_.end_ns(row));
  std::optional<Launch> launch;
  if (IsLaunch(row)) {
    const int64_t called = trace_.start_ns[trace_.call.at(row)];
    launch.emplace(Launch{.row = row,
                          .called_ns = called,
                          .latency_ns = trace_.start_ns[row] - called,
                          .waited = waited,
                          .queueing_ns = std::nullopt});
    if (!first && stream->second > launch->called_ns) {
      launch->queueing_ns = stream->second - launch->called_ns;
    }
  }
  stream->second = std::max(stream->second, trace_.end_ns(row));
  return launch;
}

}  // namespace traza
