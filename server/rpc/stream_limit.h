// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_RPC_STREAM_LIMIT_H_
#define SERVER_RPC_STREAM_LIMIT_H_

#include <atomic>
#include <optional>
#include <utility>

namespace traza {

// Bounds how many streams of a kind are open at a time. Thread-safe; must
// outlive its permits.
class StreamLimit {
 public:
  explicit StreamLimit(int max) : free_(max) {}
  StreamLimit(const StreamLimit&) = delete;
  StreamLimit& operator=(const StreamLimit&) = delete;

  // The right to one open stream, given back by the destructor.
  class Permit {
   public:
    explicit Permit(StreamLimit& limit) : limit_(&limit) {}
    Permit(Permit&& other) noexcept
        : limit_(std::exchange(other.limit_, nullptr)) {}
    Permit& operator=(Permit&&) = delete;
    ~Permit() {
      if (limit_ != nullptr) ++limit_->free_;
    }

   private:
    StreamLimit* limit_;
  };

  // Nothing when all are taken.
  std::optional<Permit> Take() {
    if (--free_ >= 0) return Permit(*this);
    ++free_;
    return std::nullopt;
  }

 private:
  std::atomic<int> free_;
};

}  // namespace traza

#endif  // SERVER_RPC_STREAM_LIMIT_H_
