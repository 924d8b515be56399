// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_ALLOC_LOG_H_
#define WORKER_ALLOC_LOG_H_

#include <atomic>
#include <cstdint>

#include "absl/status/status.h"

#include "trace/correlate/raw_records.h"
#include "worker/page_block.h"
#include "worker/tick_clock.h"

namespace traza {

// The allocations and frees of a window, in memory that is there before it.
//
// Add() is the hot path: any thread, no lock, no heap, no system call but for
// the first of a thread. Everything else belongs to one thread, while nothing
// allocates.
class AllocLog {
 public:
  explicit AllocLog(const WindowClock& clock) : clock_(clock) {}

  // Makes room for `rows` and forgets what was there. OUT_OF_MEMORY.
  absl::Status Reserve(int64_t rows);

  // Forgets what was recorded: a new window starts.
  void Rewind() { next_.store(0, std::memory_order_relaxed); }

  // `bytes` below 0: freed. `device` is kNull for memory of the host.
  void Add(int64_t bytes, int32_t device);

  // Moves what was recorded out and gives the room back. Returns how many found
  // no room.
  int64_t Drain(RawRecords* records);

 private:
  struct Row {
    int64_t at;  // ticks
    int64_t bytes;
    int32_t device;
    int32_t thread;
  };
  Row* rows() const { return reinterpret_cast<Row*>(block_.data()); }

  const WindowClock& clock_;
  PageBlock block_;
  int64_t capacity_ = 0;
  std::atomic<int64_t> next_{0};
};

}  // namespace traza

#endif  // WORKER_ALLOC_LOG_H_
