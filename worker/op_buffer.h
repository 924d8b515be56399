// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_OP_BUFFER_H_
#define WORKER_OP_BUFFER_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"

#include "trace/correlate/raw_records.h"
#include "trace/header.h"
#include "worker/op_names.h"
#include "worker/op_shapes.h"
#include "worker/page_block.h"
#include "worker/tick_clock.h"

namespace traza {

// One operator or range as it is recorded. Times are in ticks of the caller's
// clock (worker/tick_clock.h).
struct OpRow {
  int64_t start;
  int64_t end;      // 0 while it runs
  uint32_t name;    // OpBuffer::kRangeBit and an id of OpNames
  uint32_t shapes;  // 1 + where its encoded inputs begin; 0 is none
};

// Where the operators of a window go: memory that is there before the window,
// dealt out to threads in chunks, so that a thread that comes late needs no
// share of its own set aside. What does not fit is dropped and counted.
//
// Open() and Close() are the hot path: any thread, no lock, no heap, no system
// call but for the first operator of a thread and each new chunk. Everything
// else belongs to one thread, while no operator runs: work handed to other
// threads has been joined by then.
class OpBuffer {
 public:
  static constexpr uint32_t kRangeBit = uint32_t{1} << 31;
  static constexpr int kMaxThreads = 64;
  static constexpr int kMaxDepth = 128;  // deeper operators are dropped
  static constexpr int64_t kChunkRows = 1024;

  OpBuffer();
  ~OpBuffer();
  OpBuffer(const OpBuffer&) = delete;
  OpBuffer& operator=(const OpBuffer&) = delete;

  // Makes room for `rows` rows in all, and at least a chunk for a few late
  // threads; with `shapes` also for their inputs. Forgets what was there.
  absl::Status Reserve(int64_t rows, bool shapes);

  // Forgets what was recorded and keeps the room: a new window starts.
  void Rewind();

  // Enters an operator on this thread. Returns its row, whose `start` the
  // caller sets last; nullptr when it was dropped.
  OpRow* Open(const char* name, bool range) {
    Lane* const lane = CurrentLane();
    if (lane == nullptr) return nullptr;
    OpRow* row = lane->next;
    if (row == lane->chunk_end) row = NextChunk(lane);
    const int depth = lane->depth++;
    if (depth >= kMaxDepth || row == nullptr) return Drop(lane, depth);
    lane->stack[depth] = row;
    lane->next = row + 1;
    row->end = 0;
    row->shapes = 0;
    row->name = lane->names.Intern(names_, name) | (range ? kRangeBit : 0);
    return row;
  }

  // Room for the encoded inputs of `row`, which this thread has just opened;
  // WroteInputs() keeps the first `bytes` of them. Empty when there is none.
  InputSpan InputRoom();
  void WroteInputs(OpRow* row, size_t bytes);

  // Leaves the innermost operator of this thread.
  void Close(int64_t end) {
    Lane* const lane = current_lane_;
    if (lane == nullptr || lane->window != window_.load(kRelaxed) ||
        lane->depth == 0) {
      unbalanced_.fetch_add(1, kRelaxed);
      return;
    }
    const int depth = --lane->depth;
    if (depth < kMaxDepth && lane->stack[depth] != nullptr) {
      lane->stack[depth]->end = end;
    }
  }

  // Moves the rows out and gives the room back. Operators that have not ended
  // do so at `end`. `map` turns ticks into nanoseconds. `dtypes` names the
  // element types by number. Sets dropped_ops and id_stack_depth.
  void Drain(int64_t end, const TickMap& map,
             const std::vector<std::string>& dtypes, RawRecords* records,
             Completeness* completeness);

 private:
  static constexpr auto kRelaxed = std::memory_order_relaxed;

  // What one thread writes to.
  struct Lane {
    uint64_t window = 0;  // the one that the fields below belong to
    OpRow* next = nullptr;
    OpRow* chunk_end = nullptr;
    int depth = 0;
    int64_t dropped = 0;
    char* inputs_next = nullptr;
    char* inputs_end = nullptr;
    int64_t thread = 0;
    const OpBuffer* owner = nullptr;
    std::array<OpRow*, kMaxDepth> stack;
    OpNameCache names;
  };

  Lane* CurrentLane() {
    Lane* const lane = current_lane_;
    if (lane != nullptr && lane->window == window_.load(kRelaxed)) return lane;
    return EnterWindow();
  }
  Lane* EnterWindow();
  OpRow* NextChunk(Lane* lane);
  OpRow* Drop(Lane* lane, int depth);
  void DrainChunk(int64_t chunk, int64_t end, const TickMap& map,
                  InputDecoder* decoder, std::vector<int32_t>* names,
                  RawRecords* records);

  OpRow* rows() const { return reinterpret_cast<OpRow*>(row_block_.data()); }

  // A thread's lane, of whichever buffer it recorded to last.
  static inline constinit thread_local Lane* current_lane_ = nullptr;

  OpNames names_;
  std::unique_ptr<std::array<Lane, kMaxThreads>> lanes_;
  std::atomic<int> lane_count_{0};
  std::atomic<uint64_t> window_{0};  // unique among all buffers
  std::atomic<int64_t> unbalanced_{0};
  std::atomic<int64_t> laneless_drops_{0};

  PageBlock row_block_;
  int64_t chunk_count_ = 0;
  std::atomic<int64_t> next_chunk_{0};
  std::vector<uint8_t> chunk_lane_;  // who wrote it

  PageBlock input_block_;
  std::atomic<size_t> next_input_{0};
};

}  // namespace traza

#endif  // WORKER_OP_BUFFER_H_
