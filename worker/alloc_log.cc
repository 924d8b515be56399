// SPDX-License-Identifier: Apache-2.0
#include "worker/alloc_log.h"

#include <unistd.h>

#include <algorithm>

#include "base/status_macros.h"

namespace traza {

absl::Status AllocLog::Reserve(int64_t rows) {
  Rewind();
  ASSIGN_OR_RETURN(block_,
                   PageBlock::Create(static_cast<size_t>(rows) * sizeof(Row)));
  capacity_ = rows;
  return absl::OkStatus();
}

void AllocLog::Add(int64_t bytes, int32_t device) {
  static thread_local const auto thread = static_cast<int32_t>(gettid());
  const int64_t at = next_.fetch_add(1, std::memory_order_relaxed);
  if (at >= capacity_) return;
  rows()[at] = {clock_.Now(), bytes, device, thread};
}

int64_t AllocLog::Drain(RawRecords* records) {
  const int64_t added = next_.load();
  const int64_t kept = std::min(added, capacity_);
  const auto process = static_cast<int32_t>(getpid());
  records->allocs.reserve(records->allocs.size() + static_cast<size_t>(kept));
  for (int64_t i = 0; i < kept; ++i) {
    const Row& row = rows()[i];
    records->allocs.push_back({.time_ns = clock_.ToRealtimeNs(row.at),
                               .bytes = row.bytes,
                               .device = row.device,
                               .process = process,
                               .thread = row.thread});
  }
  block_ = PageBlock();
  capacity_ = 0;
  Rewind();
  return added - kept;
}

}  // namespace traza
