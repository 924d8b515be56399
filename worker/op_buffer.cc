// SPDX-License-Identifier: Apache-2.0
#include "worker/op_buffer.h"

#include <unistd.h>

#include <algorithm>

#include "base/status_macros.h"

namespace traza {
namespace {

// Chunks beside the predicted ones, for threads that nobody predicted.
constexpr int64_t kSpareChunks = 16;
// Input bytes set aside a row: an operator with three 3-D inputs encodes to
// about 24.
constexpr int64_t kInputBytesPerRow = 32;
constexpr size_t kInputChunkBytes = size_t{64} << 10;

std::atomic<uint64_t> last_window{0};

}  // namespace

OpBuffer::OpBuffer()
    : lanes_(std::make_unique<std::array<Lane, kMaxThreads>>()) {
  Rewind();
}

OpBuffer::~OpBuffer() {
  // Only this thread's: others must not record to a buffer that is gone.
  if (current_lane_ != nullptr && current_lane_->owner == this)
    current_lane_ = nullptr;
}

absl::Status OpBuffer::Reserve(int64_t rows, bool shapes) {
  row_block_ = PageBlock();
  input_block_ = PageBlock();
  chunk_count_ = (rows + kChunkRows - 1) / kChunkRows + kSpareChunks;
  const int64_t room = chunk_count_ * kChunkRows;
  ASSIGN_OR_RETURN(row_block_, PageBlock::Create(room * sizeof(OpRow)));
  if (shapes) {
    ASSIGN_OR_RETURN(
        input_block_,
        PageBlock::Create(std::max(room * kInputBytesPerRow,
                                   kSpareChunks * int64_t{kInputChunkBytes})));
  }
  chunk_lane_.assign(chunk_count_, 0);
  Rewind();
  return absl::OkStatus();
}

void OpBuffer::Rewind() {
  next_chunk_.store(0, kRelaxed);
  next_input_.store(0, kRelaxed);
  unbalanced_.store(0, kRelaxed);
  laneless_drops_.store(0, kRelaxed);
  window_.store(last_window.fetch_add(1, kRelaxed) + 1, kRelaxed);
}

OpBuffer::Lane* OpBuffer::EnterWindow() {
  Lane* lane = current_lane_;
  if (lane == nullptr || lane->owner != this) {
    int index = lane_count_.load(kRelaxed);
    do {
      if (index == kMaxThreads) {
        laneless_drops_.fetch_add(1, kRelaxed);
        return nullptr;
      }
    } while (!lane_count_.compare_exchange_weak(index, index + 1, kRelaxed));
    lane = current_lane_ = &(*lanes_)[index];
    lane->owner = this;
    lane->thread = gettid();
  }
  lane->next = lane->chunk_end = nullptr;
  lane->inputs_next = lane->inputs_end = nullptr;
  lane->depth = 0;
  lane->dropped = 0;
  lane->window = window_.load(kRelaxed);
  return lane;
}

OpRow* OpBuffer::NextChunk(Lane* lane) {
  // Looked at first, so that a full buffer does not count up for ever.
  if (next_chunk_.load(kRelaxed) >= chunk_count_) return nullptr;
  const int64_t chunk = next_chunk_.fetch_add(1, kRelaxed);
  if (chunk >= chunk_count_) return nullptr;
  chunk_lane_[chunk] = static_cast<uint8_t>(lane - lanes_->data());
  lane->next = rows() + chunk * kChunkRows;
  lane->chunk_end = lane->next + kChunkRows;
  return lane->next;
}

OpRow* OpBuffer::Drop(Lane* lane, int depth) {
  if (depth < kMaxDepth) lane->stack[depth] = nullptr;
  ++lane->dropped;
  return nullptr;
}

InputSpan OpBuffer::InputRoom() {
  Lane* const lane = current_lane_;
  if (lane->inputs_end - lane->inputs_next < kMaxInputBytes) {
    const size_t at = next_input_.fetch_add(kInputChunkBytes, kRelaxed);
    if (at + kInputChunkBytes > input_block_.size()) {
      next_input_.fetch_sub(kInputChunkBytes, kRelaxed);
      return {};
    }
    lane->inputs_next = input_block_.data() + at;
    lane->inputs_end = lane->inputs_next + kInputChunkBytes;
  }
  return {lane->inputs_next, lane->inputs_next + kMaxInputBytes};
}

void OpBuffer::WroteInputs(OpRow* row, size_t bytes) {
  Lane* const lane = current_lane_;
  row->shapes =
      static_cast<uint32_t>(lane->inputs_next - input_block_.data()) + 1;
  lane->inputs_next += bytes;
}

void OpBuffer::DrainChunk(int64_t chunk, int64_t end, const TickMap& map,
                          InputDecoder* decoder, std::vector<int32_t>* names,
                          RawRecords* records) {
  const Lane& lane = (*lanes_)[chunk_lane_[chunk]];
  const OpRow* const first = rows() + chunk * kChunkRows;
  const OpRow* const full = first + kChunkRows;
  const OpRow* const last = lane.chunk_end == full ? lane.next : full;
  const auto process = static_cast<int32_t>(getpid());
  for (const OpRow* row = first; row != last; ++row) {
    RawHostEvent& event = records->host.emplace_back();
    event.kind =
        (row->name & kRangeBit) != 0 ? EventKind::kRange : EventKind::kOp;
    const uint32_t id = row->name & ~kRangeBit;
    int32_t& name = (*names)[id];
    if (name == kNull<int32_t>) name = records->names.Intern(names_.text(id));
    event.name = name;
    event.start_ns = map.ToRealtimeNs(row->start);
    event.end_ns = map.ToRealtimeNs(row->end == 0 ? end : row->end);
    event.process = process;
    event.thread = lane.thread;
    if (row->shapes != 0) {
      decoder->Decode(input_block_.data() + row->shapes - 1, &event, records);
    }
  }
}

void OpBuffer::Drain(int64_t end, const TickMap& map,
                     const std::vector<std::string>& dtypes,
                     RawRecords* records, Completeness* completeness) {
  const uint64_t window = window_.load(kRelaxed);
  int64_t dropped = laneless_drops_.load(kRelaxed);
  int64_t depth = unbalanced_.load(kRelaxed);
  for (int i = 0; i < lane_count_.load(kRelaxed); ++i) {
    const Lane& lane = (*lanes_)[i];
    if (lane.window != window) continue;
    dropped += lane.dropped;
    depth += lane.depth;
  }
  completeness->dropped_ops = completeness->dropped_ops.value_or(0) + dropped;
  completeness->id_stack_depth =
      completeness->id_stack_depth.value_or(0) + depth;

  std::vector<int32_t> names(names_.size(), kNull<int32_t>);
  InputDecoder decoder(dtypes);
  const int64_t chunks = std::min(next_chunk_.load(kRelaxed), chunk_count_);
  records->host.reserve(records->host.size() + chunks * kChunkRows);
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    DrainChunk(chunk, end, map, &decoder, &names, records);
  }
  row_block_ = PageBlock();
  input_block_ = PageBlock();
  chunk_count_ = 0;
  Rewind();
}

}  // namespace traza
