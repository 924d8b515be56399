// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_CUPTI_CALL_LOG_H_
#define WORKER_CUPTI_CALL_LOG_H_

#include <atomic>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "cupti.h"

#include "trace/correlate/raw_records.h"
#include "worker/cupti/traced_calls.h"
#include "worker/page_block.h"
#include "worker/tick_clock.h"

namespace traza {

// The API calls of a window, written by CUPTI's callbacks into memory that is
// there before the window.
//
// Enter() and Exit() are the hot path: any thread, no lock, no heap, no system
// call but for the first call of a thread. Everything else belongs to one
// thread, while no call runs.
class CallLog {
 public:
  static constexpr uint64_t kDropped = ~uint64_t{0};

  explicit CallLog(const WindowClock& clock);

  // Makes room for `rows` calls and forgets what was there. OUT_OF_MEMORY.
  absl::Status Reserve(int64_t rows);

  // Forgets what was recorded: a new window starts. No call may run.
  void Rewind();

  // The call begins; what it returns goes to Exit(). kDropped when there is no
  // room.
  uint64_t Enter(CUpti_CallbackId id, uint32_t correlation) {
    const uint64_t at = next_.fetch_add(1, std::memory_order_relaxed);
    if (at >= static_cast<uint64_t>(capacity_)) return kDropped;
    Row& row = rows()[at];
    row.thread = ThreadId();
    row.correlation = correlation;
    row.id = static_cast<uint16_t>(id);
    row.failed = 0;
    row.end = 0;
    row.start = clock_.Now();
    return at;
  }

  void Exit(uint64_t at, bool failed) {
    const int64_t now = clock_.Now();
    if (at >= static_cast<uint64_t>(capacity_)) return;  // dropped
    rows()[at].end = now;
    rows()[at].failed = failed ? 1 : 0;
  }

  // Appends the calls of the window, which has ended; calls that still run end
  // with it. Returns how many found no room.
  int64_t Drain(RawRecords* records);

  // What is recorded: enable these.
  const std::vector<TracedCall>& traced() const { return traced_; }

 private:
  // Times in ticks of the clock.
  struct Row {
    int64_t start;
    int64_t end;  // 0 while it runs
    int32_t thread;
    uint32_t correlation;
    uint16_t id;
    uint8_t failed;
  };

  static int32_t ThreadId();
  Row* rows() const { return reinterpret_cast<Row*>(block_.data()); }

  const WindowClock& clock_;
  const std::vector<TracedCall> traced_;
  PageBlock block_;
  int64_t capacity_ = 0;
  std::atomic<uint64_t> next_{0};
};

}  // namespace traza

#endif  // WORKER_CUPTI_CALL_LOG_H_
