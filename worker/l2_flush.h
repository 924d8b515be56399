// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_L2_FLUSH_H_
#define WORKER_L2_FLUSH_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace traza {

// Written where the driver does not say how large the cache is: more than twice
// the largest there is (126 MB).
inline constexpr int64_t kUnknownL2WriteBytes = int64_t{256} << 20;

// Bytes to write over a cache of that size: twice as many, so that nothing of
// before survives whatever the cache replaces first.
constexpr int64_t L2WriteBytes(int64_t cache_bytes) {
  return cache_bytes > 0 ? 2 * cache_bytes : kUnknownL2WriteBytes;
}

// Empties the L2 cache of a GPU of all that was in it, by writing over memory
// of its own. Thread-compatible.
class L2Flush {
 public:
  virtual ~L2Flush() = default;

  // Takes the memory. FAILED_PRECONDITION / DEVICE_UNAVAILABLE when `device` is
  // no GPU or the driver does not do it; may throw what PyTorch throws, for
  // example when memory runs out.
  static absl::StatusOr<std::unique_ptr<L2Flush>> Create(
      absl::string_view device);

  // Queues the writing on the stream that steps run on; does not wait for it.
  // Throws when the driver refuses.
  virtual void Run() = 0;
};

}  // namespace traza

#endif  // WORKER_L2_FLUSH_H_
