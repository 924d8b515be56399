// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_FILE_COLUMN_READER_H_
#define TRACE_FILE_COLUMN_READER_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace parquet {
class RowGroupReader;
}  // namespace parquet

namespace traza {

// What a text cell is in memory: a name id or an enumerator.
using TextToCell = std::function<absl::StatusOr<int32_t>(absl::string_view)>;

// Appends the cells of one column of one row group; `column` is its number in
// the file and its type has been checked. Memory grows with what was decoded,
// never with what the file says it holds. Null cells become kNull<T> (NaN).
//
// Damage is thrown as parquet::ParquetException, as Arrow does.
void AppendNumbers(parquet::RowGroupReader& group, int column,
                   std::vector<int64_t>* cells);
void AppendNumbers(parquet::RowGroupReader& group, int column,
                   std::vector<int32_t>* cells);
void AppendNumbers(parquet::RowGroupReader& group, int column,
                   std::vector<double>* cells);

// Fails where `convert` does, which is called once for each text of a
// dictionary that is used.
absl::Status AppendTexts(parquet::RowGroupReader& group, int column,
                         const TextToCell& convert,
                         std::vector<int32_t>* cells);

}  // namespace traza

#endif  // TRACE_FILE_COLUMN_READER_H_
