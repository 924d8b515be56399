// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_RPC_TRACE_FILE_H_
#define SERVER_RPC_TRACE_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "base/unique_fd.h"
#include "server/store/trace_row.h"
#include "server/store/trace_store.h"
#include "trace/trace.h"

namespace traza {

// The open file of a stored trace, to be read as bytes. It stays readable when
// the trace is deleted meanwhile. Every call does I/O. Thread-compatible.
//
// All faults of the file are DATA_LOSS / TRACE_CORRUPT: it was whole when it
// was stored.
class TraceFile {
 public:
  // Fails when there is no file, or one of another size than was stored.
  static absl::StatusOr<TraceFile> Open(const TraceStore& store,
                                        const TraceRow& row);

  int64_t size_bytes() const { return size_bytes_; }

  // Exactly `size` bytes at `offset`, which must be within the file.
  absl::StatusOr<std::string> ReadAt(int64_t offset, int64_t size) const;

  // Reads the whole file and compares its digest with the stored one.
  absl::Status CheckDigest() const;

 private:
  TraceFile(UniqueFd fd, const TraceRow& row);

  UniqueFd fd_;
  TraceId id_;
  int64_t size_bytes_;
  std::string sha256_;
};

// The trace in the file. Fails as above, or as ReadParquet does.
absl::StatusOr<Trace> LoadTrace(const TraceStore& store, const TraceRow& row);

}  // namespace traza

#endif  // SERVER_RPC_TRACE_FILE_H_
