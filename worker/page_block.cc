// SPDX-License-Identifier: Apache-2.0
#include "worker/page_block.h"

#include <sys/mman.h>
#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"

#include "base/error.h"

namespace traza {
namespace {

// Below this a huge page wastes more than it saves.
constexpr size_t kHugePageBytes = size_t{4} << 20;

}  // namespace

absl::StatusOr<PageBlock> PageBlock::Create(size_t bytes) {
  if (bytes == 0) return PageBlock();
  void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) {
    return ErrorBuilder(absl::StatusCode::kResourceExhausted,
                        Reason::kOutOfMemory)
        .With("bytes", static_cast<int64_t>(bytes))
        .Build(absl::StrCat("There is no memory for ", bytes,
                            " bytes of records."));
  }
  PageBlock block(static_cast<char*>(data), bytes);
  if (bytes >= kHugePageBytes) madvise(data, bytes, MADV_HUGEPAGE);
  // Touching is as quick as MAP_POPULATE, and comes after the advice.
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  for (size_t at = 0; at < bytes; at += page) {
    *const_cast<volatile char*>(block.data_ + at) = 0;
  }
  return block;
}

PageBlock::PageBlock(PageBlock&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

PageBlock& PageBlock::operator=(PageBlock&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

PageBlock::~PageBlock() {
  if (data_ != nullptr) munmap(data_, size_);
}

}  // namespace traza
