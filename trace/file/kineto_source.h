// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_FILE_KINETO_SOURCE_H_
#define TRACE_FILE_KINETO_SOURCE_H_

#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "base/unique_fd.h"

namespace traza {

// Bytes that come one after the other, so that a file is never in memory whole.
// Thread-compatible.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Fills in at most `size` (> 0) bytes and returns how many; 0 only at the
  // end.
  virtual absl::StatusOr<size_t> Read(char* to, size_t size) = 0;
};

// Of an open file, from its offset on.
std::unique_ptr<ByteSource> FileBytes(UniqueFd fd);

// Of memory, which must outlive it.
std::unique_ptr<ByteSource> MemoryBytes(absl::string_view bytes);

// Whether bytes that begin so are packed by gzip.
bool IsGzip(absl::string_view head);

// What gzip packed into `packed`, of one member or of several on end; zeros
// after the last are padding. Reading fails with DATA_LOSS / TRACE_INCOMPLETE
// where the data is cut off or damaged. Takes 128 KiB, whatever the data says
// of its own size.
std::unique_ptr<ByteSource> GzipBytes(std::unique_ptr<ByteSource> packed);

}  // namespace traza

#endif  // TRACE_FILE_KINETO_SOURCE_H_
