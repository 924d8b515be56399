// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_FILE_COLUMN_ARRAYS_H_
#define TRACE_FILE_COLUMN_ARRAYS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/strings/string_view.h"
#include "arrow/type_fwd.h"

#include "trace/trace.h"

namespace traza {

// The schema of a trace file: every column, in order.
std::shared_ptr<arrow::Schema> FileSchema();

// Makes the Arrow arrays of some rows of a trace. Cells are not copied where
// the trace has them as Arrow wants them: an array is valid until the next one
// is made. Thread-compatible; the trace must outlive it.
class ColumnArrays {
 public:
  // Of `rows` rows from `first` on.
  ColumnArrays(const Trace& trace, int64_t first, int64_t rows);

  // Calls `write` with each array in the order of the schema, until it fails.
  arrow::Status ForEach(
      const std::function<arrow::Status(const arrow::Array&)>& write);

 private:
  using Array = std::shared_ptr<arrow::Array>;

  Array RowNumbers();
  template <typename T>
  Array Numbers(const std::vector<T>& cells, bool nullable);
  template <typename T>
  Array Numbers(const Column<T>& column);
  // A dictionary of those of `count` texts that the cells use; `text_of` maps
  // a cell to its text.
  template <typename T>
  Array Texts(const std::vector<T>& cells, int64_t count,
              const std::function<absl::string_view(int64_t)>& text_of);
  // Over indices_ or zeros_, with validity_ if some are null.
  Array Indices(const int32_t* indices, int64_t nulls, Array texts);
  Array NameTexts(const std::vector<int32_t>& cells);
  Array NullTexts();
  Array PhaseTexts();

  const Trace& trace_;
  const int64_t first_;
  const int64_t rows_;
  std::vector<int64_t> row_numbers_;
  std::vector<int64_t> zeros_;     // backs the cells of null columns
  std::vector<uint8_t> validity_;  // one bit a row
  std::vector<int32_t> indices_;   // into the dictionary of a text column
  std::vector<int32_t> dictionary_ids_;
};

}  // namespace traza

#endif  // TRACE_FILE_COLUMN_ARRAYS_H_
