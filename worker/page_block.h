// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_PAGE_BLOCK_H_
#define WORKER_PAGE_BLOCK_H_

#include <cstddef>

#include "absl/status/statusor.h"

namespace traza {

// Zeroed memory whose pages are all present, so that writing to it never
// faults. Move-only.
class PageBlock {
 public:
  PageBlock() = default;
  // OUT_OF_MEMORY, with the size, when there is no room.
  static absl::StatusOr<PageBlock> Create(size_t bytes);

  PageBlock(PageBlock&& other) noexcept;
  PageBlock& operator=(PageBlock&& other) noexcept;
  ~PageBlock();

  char* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  PageBlock(char* data, size_t size) : data_(data), size_(size) {}

  char* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace traza

#endif  // WORKER_PAGE_BLOCK_H_
