// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_FILE_TRACE_READER_H_
#define TRACE_FILE_TRACE_READER_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "parquet/types.h"

#include "trace/file/file_errors.h"
#include "trace/file/parquet_file.h"
#include "trace/trace.h"

namespace parquet {
class FileMetaData;
class ParquetFileReader;
class RowGroupReader;
}  // namespace parquet

namespace traza {

// Reads the columns that we know of an open file into a Trace, once. Throws
// what Arrow throws. `file` must outlive it.
class TraceReader {
 public:
  explicit TraceReader(parquet::ParquetFileReader& file);

  absl::StatusOr<Trace> Read(const ParquetReadLimits& limits);

 private:
  static constexpr size_t kMaxColumns = 64;

  absl::Status ReadHeader();
  absl::Status CheckRequiredColumns();
  absl::Status ReadRowGroup(int number);
  // Which columns of ForEachColumn somebody reads; two threads share them.
  using TakenColumns = std::array<std::atomic<bool>, kMaxColumns>;
  // Those that nobody has taken.
  absl::Status ReadColumns(parquet::RowGroupReader& group, bool texts,
                           TakenColumns* taken);
  absl::Status ReadRequiredColumns(parquet::RowGroupReader& group);

  // The number of a column, nothing when the file lacks it; fails when it has
  // another type.
  absl::StatusOr<std::optional<int>> Find(absl::string_view name,
                                          parquet::Type::type type) const;
  template <typename T>
  absl::Status ReadRequired(parquet::RowGroupReader& group,
                            absl::string_view name, std::vector<T>* cells);
  template <typename T>
  absl::Status ReadColumn(parquet::RowGroupReader& group, const char* name,
                          Column<T>* column);
  absl::Status ReadIds(parquet::RowGroupReader& group);
  absl::StatusOr<int32_t> InternName(absl::string_view text);

  parquet::ParquetFileReader& file_;
  const parquet::FileMetaData& metadata_;
  Trace trace_;
  int64_t name_bytes_ = 0;
};

}  // namespace traza

#endif  // TRACE_FILE_TRACE_READER_H_
