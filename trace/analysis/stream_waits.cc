// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/stream_waits.h"

#include <algorithm>
#include <limits>

#include "absl/strings/match.h"

#include "trace/record.h"

namespace traza {
namespace {

// Whether one of the times is in (after, until].
bool AnyBetween(const std::vector<int64_t>& times, int64_t after,
                int64_t until) {
  const auto next = std::ranges::upper_bound(times, after);
  return next != times.end() && *next <= until;
}

bool IsWaitName(absl::string_view name) {
  return absl::StrContains(name, "StreamWaitEvent") ||
         absl::StrContains(name, "Stream Wait Event");
}

bool HasWaitName(const Trace& trace) {
  for (int32_t i = 0; i < trace.names.size(); ++i) {
    if (IsWaitName(trace.names.at(i))) return true;
  }
  return false;
}

}  // namespace

bool IsStreamWait(const Trace& trace, size_t row) {
  if (trace.kind[row] != EventKind::kCall &&
      trace.kind[row] != EventKind::kSync) {
    return false;
  }
  return IsWaitName(trace.name_of(row));
}

bool CopiesAndWaits(absl::string_view name) {
  return name == "hipMemcpyWithStream";
}

bool IsHostWait(const Trace& trace, size_t row) {
  // Streams wait too: such rows are on no thread, or the CPU goes on.
  if (trace.thread.is_null(row)) return false;
  if (trace.kind[row] == EventKind::kSync) return !IsStreamWait(trace, row);
  return trace.kind[row] == EventKind::kCall &&
         CopiesAndWaits(trace.name_of(row));
}

StreamWaits::StreamWaits(const Trace& trace) : trace_(trace) {
  if (!HasWaitName(trace)) return;
  for (size_t row = 0; row < trace.rows(); ++row) {
    if (!IsStreamWait(trace, row)) continue;
    any_ = true;
    if (!trace.stream.is_null(row)) {
      by_stream_[{trace.device.at(row), trace.stream.at(row)}].push_back(
          trace.start_ns[row]);
    } else {
      by_thread_[trace.thread.at(row)].push_back(trace.start_ns[row]);
    }
  }
}

bool StreamWaits::WaitedBefore(size_t row) {
  const int64_t call = trace_.call.at(row);
  if (!any_ || call < 0) return false;
  const auto called = static_cast<size_t>(call);
  const std::pair<int32_t, int32_t> stream = {trace_.device.at(row),
                                              trace_.stream.at(row)};
  const int64_t now = trace_.start_ns[called];
  int64_t& launched =
      launched_.try_emplace(stream, std::numeric_limits<int64_t>::min())
          .first->second;
  const int64_t before = std::exchange(launched, std::max(launched, now));
  if (const auto found = by_stream_.find(stream); found != by_stream_.end()) {
    if (AnyBetween(found->second, before, now)) return true;
  }
  const auto found = by_thread_.find(trace_.thread.at(called));
  return found != by_thread_.end() && AnyBetween(found->second, before, now);
}

}  // namespace traza
