// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_CUPTI_RECORD_BUFFERS_H_
#define WORKER_CUPTI_RECORD_BUFFERS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"

#include "base/mutex.h"
#include "worker/page_block.h"

namespace traza {

// The buffers that CUPTI writes its records to. They are zeroed and their pages
// are present before the window, so that a request, which comes in the
// launching thread, costs a microsecond (900 us otherwise).
//
// A buffer goes round: free -> Take -> CUPTI -> Complete -> Next -> decoder ->
// Return -> free. Thread-safe; Reserve() must not run beside Take().
class RecordBuffers {
 public:
  static constexpr int kMaxBuffers = 64;  // a bit each

  struct Filled {
    uint8_t* data = nullptr;
    size_t bytes = 0;  // that hold records
  };

  // Makes the pool at least `count` buffers (at most kMaxBuffers) of at least
  // `bytes` each. All buffers are free when this is called. OUT_OF_MEMORY.
  absl::Status Reserve(size_t bytes, int count);
  size_t bytes() const { return bytes_; }  // of a buffer

  // A zeroed buffer. When none is free, one is made (a miss); null
  // when there is no memory for it, and then CUPTI loses records and counts
  // them.
  uint8_t* Take() ABSL_LOCKS_EXCLUDED(mu_);
  void Complete(uint8_t* data, size_t bytes) ABSL_LOCKS_EXCLUDED(mu_);

  // The oldest completed buffer; nothing when there is none. Its reader gives
  // it back.
  std::optional<Filled> Next() ABSL_LOCKS_EXCLUDED(mu_);
  void Return(const Filled& filled) ABSL_LOCKS_EXCLUDED(mu_);

  // Waits until buffers should be read although the window is open, since few
  // are left, or until Wake(). True in the first case.
  bool AwaitLow() ABSL_LOCKS_EXCLUDED(mu_);
  void Wake() ABSL_LOCKS_EXCLUDED(mu_);

  // Since the last ResetCounts(): buffers handed out, and those of them that
  // had to be made.
  int64_t requests() const { return requests_.load(); }
  int64_t misses() const { return misses_.load(); }
  void ResetCounts();

 private:
  // Fewer free buffers than this, and what is filled is read at once.
  static constexpr int kLow = 2;

  size_t bytes_ = 0;
  std::vector<PageBlock> pool_;
  std::atomic<uint64_t> free_{0};  // a bit for each of the pool
  std::atomic<int64_t> requests_{0};
  std::atomic<int64_t> misses_{0};

  Mutex mu_;
  CondVar changed_;
  std::deque<Filled> filled_ ABSL_GUARDED_BY(mu_);
  std::vector<PageBlock> extra_ ABSL_GUARDED_BY(mu_);  // made on a miss
  bool woken_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace traza

#endif  // WORKER_CUPTI_RECORD_BUFFERS_H_
