// SPDX-License-Identifier: Apache-2.0
#include "trace/file/column_reader.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>

#include "parquet/column_reader.h"
#include "parquet/exception.h"
#include "parquet/file_reader.h"
#include "parquet/metadata.h"
#include "parquet/types.h"

#include "base/status_macros.h"
#include "trace/trace.h"

namespace traza {
namespace {

// Rows that are decoded at once.
constexpr int64_t kBatch = 65'536;

[[noreturn]] void ThrowEndsEarly() {
  throw parquet::ParquetException("a column has fewer cells than rows");
}

// Moves the first `values` of `rows` cells, those that are not null, to the
// places that `levels` (1 = not null) gives them.
template <typename T>
void SpreadOut(const std::vector<int16_t>& levels, int64_t rows, int64_t values,
               T null, T* cells) {
  for (int64_t row = rows - 1; row >= 0; --row) {
    cells[row] = levels[row] == 1 && values > 0 ? cells[--values] : null;
  }
}

// Room for `rows` more cells at once: growing batch by batch would touch twice
// the memory. Pages that a lying row count asks for are never touched.
template <typename T>
void MakeRoom(int64_t rows, std::vector<T>* cells) {
  if (rows <= kBatch) return;
  const size_t needed = cells->size() + static_cast<size_t>(rows);
  if (needed > cells->capacity()) {
    // Many small row groups must not copy all cells each time.
    cells->reserve(std::max(needed, 2 * cells->capacity()));
  }
}

// Decodes batch by batch: `read(rows, levels, cells, values)` as ReadBatch.
template <typename T, typename Read>
void AppendBatches(int64_t rows, T null, std::vector<T>* cells,
                   const Read& read) {
  std::vector<int16_t> levels(std::min(rows, kBatch));
  MakeRoom(rows, cells);
  while (rows > 0) {
    const size_t first = cells->size();
    const int64_t want = std::min(rows, kBatch);
    cells->resize(first + want);
    int64_t values = 0;
    const int64_t got =
        read(want, levels.data(), cells->data() + first, &values);
    if (got <= 0 || got > want || values > got) ThrowEndsEarly();
    if (values < got) {
      SpreadOut(levels, got, values, null, cells->data() + first);
    }
    cells->resize(first + got);
    rows -= got;
  }
}

template <typename ParquetType, typename T>
void AppendNumbersAs(parquet::RowGroupReader& group, int column,
                     std::vector<T>* cells) {
  const std::shared_ptr<parquet::ColumnReader> reader = group.Column(column);
  auto& typed = static_cast<parquet::TypedColumnReader<ParquetType>&>(*reader);
  AppendBatches(group.metadata()->num_rows(), Column<T>::Null(), cells,
                [&](int64_t want, int16_t* levels, T* out, int64_t* values) {
                  return typed.ReadBatch(want, levels, nullptr, out, values);
                });
}

absl::string_view ToView(const parquet::ByteArray& text) {
  return absl::string_view(reinterpret_cast<const char*>(text.ptr), text.len);
}

// Turns the texts of a dictionary into cells, each once, when it is met.
class DictionaryCells {
 public:
  explicit DictionaryCells(const TextToCell& convert) : convert_(convert) {}

  void SetTexts(const parquet::ByteArray* texts, int32_t count) {
    if (texts == texts_) return;
    texts_ = texts;
    cells_.assign(count, std::nullopt);
  }
  // Replaces the indices by their cells; null stays null.
  absl::Status Convert(int32_t* indices, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      const int32_t index = indices[i];
      if (index == kNull<int32_t>) continue;
      if (index < 0 || static_cast<size_t>(index) >= cells_.size()) {
        throw parquet::ParquetException("a text is not in its dictionary");
      }
      std::optional<int32_t>& cell = cells_[index];
      if (!cell.has_value()) {
        ASSIGN_OR_RETURN(cell, convert_(ToView(texts_[index])));
      }
      indices[i] = *cell;
    }
    return absl::OkStatus();
  }

 private:
  const TextToCell& convert_;
  const parquet::ByteArray* texts_ = nullptr;
  std::vector<std::optional<int32_t>> cells_;
};

absl::Status AppendDictionaryTexts(parquet::ByteArrayReader& reader,
                                   int64_t rows, const TextToCell& convert,
                                   std::vector<int32_t>* cells) {
  DictionaryCells dictionary(convert);
  const size_t first = cells->size();
  AppendBatches(
      rows, kNull<int32_t>, cells,
      [&](int64_t want, int16_t* levels, int32_t* out, int64_t* values) {
        const parquet::ByteArray* texts = nullptr;
        int32_t count = 0;
        const int64_t got = reader.ReadBatchWithDictionary(
            want, levels, nullptr, out, values, &texts, &count);
        if (texts != nullptr) dictionary.SetTexts(texts, count);
        return got;
      });
  // A column chunk has one dictionary: converting can wait until the end.
  return dictionary.Convert(cells->data() + first, rows);
}

// A chunk that is not dictionary-encoded throughout: other writers' files.
absl::Status AppendPlainTexts(parquet::ByteArrayReader& reader, int64_t rows,
                              const TextToCell& convert,
                              std::vector<int32_t>* cells) {
  std::vector<parquet::ByteArray> texts(std::min(rows, kBatch));
  absl::Status status;
  AppendBatches(
      rows, kNull<int32_t>, cells,
      [&](int64_t want, int16_t* levels, int32_t* out, int64_t* values) {
        const int64_t got =
            reader.ReadBatch(want, levels, nullptr, texts.data(), values);
        for (int64_t i = 0; i < *values && status.ok(); ++i) {
          const absl::StatusOr<int32_t> cell = convert(ToView(texts[i]));
          if (cell.ok()) {
            out[i] = *cell;
          } else {
            status = cell.status();
          }
        }
        return got;
      });
  return status;
}

}  // namespace

void AppendNumbers(parquet::RowGroupReader& group, int column,
                   std::vector<int64_t>* cells) {
  AppendNumbersAs<parquet::Int64Type>(group, column, cells);
}

void AppendNumbers(parquet::RowGroupReader& group, int column,
                   std::vector<int32_t>* cells) {
  AppendNumbersAs<parquet::Int32Type>(group, column, cells);
}

void AppendNumbers(parquet::RowGroupReader& group, int column,
                   std::vector<double>* cells) {
  AppendNumbersAs<parquet::DoubleType>(group, column, cells);
}

absl::Status AppendTexts(parquet::RowGroupReader& group, int column,
                         const TextToCell& convert,
                         std::vector<int32_t>* cells) {
  const int64_t rows = group.metadata()->num_rows();
  const std::shared_ptr<parquet::ColumnReader> reader =
      group.ColumnWithExposeEncoding(column,
                                     parquet::ExposedEncoding::DICTIONARY);
  auto& typed = static_cast<parquet::ByteArrayReader&>(*reader);
  return reader->GetExposedEncoding() == parquet::ExposedEncoding::DICTIONARY
             ? AppendDictionaryTexts(typed, rows, convert, cells)
             : AppendPlainTexts(typed, rows, convert, cells);
}

}  // namespace traza
