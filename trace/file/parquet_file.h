// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_FILE_PARQUET_FILE_H_
#define TRACE_FILE_PARQUET_FILE_H_

#include <cstdint>
#include <filesystem>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "trace/trace.h"

namespace traza {

// Writes `trace` as Parquet (docs/trace-format.md): zstd level 3, strings
// dictionary-encoded, integers delta-encoded, row groups of at most 1,048,576
// rows. Creates or truncates `path`; does not fsync. Returns the bytes written.
// A full disk is RESOURCE_EXHAUSTED / STORE_FULL.
absl::StatusOr<int64_t> WriteParquet(const Trace& trace,
                                     const std::filesystem::path& path);

struct ParquetReadLimits {
  int64_t max_rows = 64'000'000;
  int64_t max_file_bytes = int64_t{8} << 30;
};

// Reads and validates a file. NOT_FOUND when there is none; INVALID_ARGUMENT /
// TRACE_UNREADABLE when it is no Parquet file or lacks our header or columns;
// DATA_LOSS / TRACE_INCOMPLETE when it is cut off or damaged;
// FAILED_PRECONDITION / TRACE_UNREADABLE for a newer schema. Columns that this
// version does not know are ignored.
absl::StatusOr<Trace> ReadParquet(const std::filesystem::path& path,
                                  const ParquetReadLimits& limits = {});

}  // namespace traza

#endif  // TRACE_FILE_PARQUET_FILE_H_
