// SPDX-License-Identifier: Apache-2.0
#include "worker/cupti/call_log.h"

#include <unistd.h>

#include <algorithm>
#include <vector>

#include "base/status_macros.h"

namespace traza {

CallLog::CallLog(const WindowClock& clock)
    : clock_(clock), traced_(TracedCalls()) {}

absl::Status CallLog::Reserve(int64_t rows) {
  Rewind();
  if (rows <= capacity_) return absl::OkStatus();
  ASSIGN_OR_RETURN(block_,
                   PageBlock::Create(static_cast<size_t>(rows) * sizeof(Row)));
  capacity_ = rows;
  return absl::OkStatus();
}

void CallLog::Rewind() { next_.store(0, std::memory_order_relaxed); }

int32_t CallLog::ThreadId() {
  static thread_local const auto id = static_cast<int32_t>(gettid());
  return id;
}

int64_t CallLog::Drain(RawRecords* records) {
  const auto entered = static_cast<int64_t>(next_.load());
  const int64_t kept = std::min(entered, capacity_);
  const int64_t end = clock_.Now();
  // By id: the name in `records`, and the kind.
  struct Call {
    int32_t name = 0;
    EventKind kind = EventKind::kCall;
  };
  std::vector<Call> calls(CUPTI_DRIVER_TRACE_CBID_SIZE);
  for (const TracedCall& call : traced_) {
    calls[call.id] = {records->names.Intern(call.name), call.kind};
  }
  const auto process = static_cast<int32_t>(getpid());
  records->host.reserve(records->host.size() + static_cast<size_t>(kept));
  for (int64_t i = 0; i < kept; ++i) {
    const Row& row = rows()[i];
    const Call& call = calls[row.id];
    records->host.push_back(
        {.kind = call.kind,
         .name = call.name,
         .start_ns = clock_.ToRealtimeNs(row.start),
         .end_ns = clock_.ToRealtimeNs(row.end == 0 ? end : row.end),
         .process = process,
         .thread = row.thread,
         .correlation = row.correlation,
         .failed = row.failed != 0});
  }
  Rewind();
  return entered - kept;
}

}  // namespace traza
