// SPDX-License-Identifier: Apache-2.0
#include "worker/cupti/record_buffers.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "absl/status/statusor.h"

#include "base/status_macros.h"

namespace traza {
namespace {

constexpr size_t kBehind = 4096;

}  // namespace

absl::Status RecordBuffers::Reserve(size_t bytes, int count) {
  if (bytes > bytes_) {
    free_.store(0);
    pool_.clear();
    bytes_ = bytes;
  }
  count = std::min(count, kMaxBuffers);
  while (static_cast<int>(pool_.size()) < count) {
    ASSIGN_OR_RETURN(PageBlock block, PageBlock::Create(bytes_));
    const uint64_t bit = uint64_t{1} << pool_.size();
    pool_.push_back(std::move(block));
    free_.fetch_or(bit, std::memory_order_release);
  }
  return absl::OkStatus();
}

uint8_t* RecordBuffers::Take() {
  requests_.fetch_add(1, std::memory_order_relaxed);
  uint64_t free = free_.load(std::memory_order_acquire);
  while (free != 0) {
    const int index = std::countr_zero(free);
    if (free_.compare_exchange_weak(free, free & ~(uint64_t{1} << index),
                                    std::memory_order_acquire)) {
      return reinterpret_cast<uint8_t*>(pool_[index].data());
    }
  }
  misses_.fetch_add(1, std::memory_order_relaxed);
  absl::StatusOr<PageBlock> block = PageBlock::Create(bytes_);
  if (!block.ok()) return nullptr;
  const MutexLock lock(mu_);
  extra_.push_back(*std::move(block));
  return reinterpret_cast<uint8_t*>(extra_.back().data());
}

void RecordBuffers::Complete(uint8_t* data, size_t bytes) {
  const MutexLock lock(mu_);
  filled_.push_back({data, bytes});
  if (std::popcount(free_.load(std::memory_order_relaxed)) < kLow) {
    changed_.SignalAll();
  }
}

std::optional<RecordBuffers::Filled> RecordBuffers::Next() {
  const MutexLock lock(mu_);
  if (filled_.empty()) return std::nullopt;
  const Filled filled = filled_.front();
  filled_.pop_front();
  return filled;
}

void RecordBuffers::Return(const Filled& filled) {
  for (size_t index = 0; index < pool_.size(); ++index) {
    if (reinterpret_cast<uint8_t*>(pool_[index].data()) != filled.data) {
      continue;
    }
    // CUPTI may have begun a record behind what it calls valid.
    std::memset(filled.data, 0, std::min(bytes_, filled.bytes + kBehind));
    free_.fetch_or(uint64_t{1} << index, std::memory_order_release);
    return;
  }
  const MutexLock lock(mu_);
  std::erase_if(extra_, [&](const PageBlock& block) {
    return reinterpret_cast<uint8_t*>(block.data()) == filled.data;
  });
}

bool RecordBuffers::AwaitLow() {
  const MutexLock lock(mu_);
  while (!woken_) {
    if (!filled_.empty() &&
        std::popcount(free_.load(std::memory_order_relaxed)) < kLow) {
      return true;
    }
    changed_.Wait(mu_);
  }
  woken_ = false;
  return false;
}

void RecordBuffers::Wake() {
  const MutexLock lock(mu_);
  woken_ = true;
  changed_.SignalAll();
}

void RecordBuffers::ResetCounts() {
  requests_.store(0);
  misses_.store(0);
}

}  // namespace traza
