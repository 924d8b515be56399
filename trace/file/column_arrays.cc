// SPDX-License-Identifier: Apache-2.0
#include "trace/file/column_arrays.h"

#include <numeric>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "arrow/api.h"

#include "base/check.h"
#include "spec/phase.h"
#include "trace/columns.h"
#include "trace/file/file_format.h"
#include "trace/record.h"

namespace traza {
namespace {

template <typename T>
std::shared_ptr<arrow::DataType> NumberType() {
  if constexpr (std::is_same_v<T, int64_t>) {
    return arrow::int64();
  } else if constexpr (std::is_same_v<T, int32_t>) {
    return arrow::int32();
  } else {
    static_assert(std::is_same_v<T, double>);
    return arrow::float64();
  }
}

std::shared_ptr<arrow::DataType> TextType() {
  return arrow::dictionary(arrow::int32(), arrow::utf8());
}

template <typename T>
std::shared_ptr<arrow::Buffer> Wrap(const T* cells, int64_t count) {
  return arrow::Buffer::Wrap(cells, static_cast<size_t>(count));
}

}  // namespace

std::shared_ptr<arrow::Schema> FileSchema() {
  arrow::FieldVector fields = {
      arrow::field("id", arrow::int64(), false),
      arrow::field("kind", TextType(), false),
      arrow::field("name", TextType(), false),
      arrow::field("start_ns", arrow::int64(), false),
      arrow::field("duration_ns", arrow::int64(), false)};
  const Trace empty;
  ForEachColumn(empty, [&](const char* name, const auto& column) {
    using T = std::decay_t<decltype(column.at(0))>;
    if constexpr (std::is_same_v<T, int8_t>) {
      fields.push_back(arrow::field(name, TextType()));
    } else {
      fields.push_back(
          arrow::field(name, HoldsText(name) ? TextType() : NumberType<T>()));
    }
  });
  return arrow::schema(std::move(fields));
}

ColumnArrays::ColumnArrays(const Trace& trace, int64_t first, int64_t rows)
    : trace_(trace), first_(first), rows_(rows) {}

arrow::Status ColumnArrays::ForEach(
    const std::function<arrow::Status(const arrow::Array&)>& write) {
  ARROW_RETURN_NOT_OK(write(*RowNumbers()));
  ARROW_RETURN_NOT_OK(
      write(*Texts(trace_.kind, static_cast<int64_t>(kAllEventKinds.size()),
                   [](int64_t kind) {
                     return EventKindName(static_cast<EventKind>(kind));
                   })));
  ARROW_RETURN_NOT_OK(write(*NameTexts(trace_.name)));
  ARROW_RETURN_NOT_OK(write(*Numbers(trace_.start_ns, false)));
  ARROW_RETURN_NOT_OK(write(*Numbers(trace_.duration_ns, false)));
  arrow::Status status;
  ForEachColumn(trace_, [&](const char* name, const auto& column) {
    using T = std::decay_t<decltype(column.at(0))>;
    if (!status.ok()) return;
    if constexpr (std::is_same_v<T, int8_t>) {
      status = write(*PhaseTexts());
    } else if constexpr (std::is_same_v<T, int32_t>) {
      if (!HoldsText(name)) {
        status = write(*Numbers(column));
      } else {
        status = write(
            *(column.all_null() ? NullTexts() : NameTexts(column.cells())));
      }
    } else {
      status = write(*Numbers(column));
    }
  });
  return status;
}

ColumnArrays::Array ColumnArrays::RowNumbers() {
  row_numbers_.resize(rows_);
  std::iota(row_numbers_.begin(), row_numbers_.end(), first_);
  return arrow::MakeArray(arrow::ArrayData::Make(
      arrow::int64(), rows_, {nullptr, Wrap(row_numbers_.data(), rows_)}, 0));
}

template <typename T>
ColumnArrays::Array ColumnArrays::Numbers(const std::vector<T>& cells,
                                          bool nullable) {
  const T* const begin = cells.data() + first_;
  std::shared_ptr<arrow::Buffer> validity;
  int64_t nulls = 0;
  if (nullable) {
    validity_.assign((rows_ + 7) / 8, 0);
    for (int64_t i = 0; i < rows_; ++i) {
      const bool null = Column<T>::IsNull(begin[i]);
      nulls += null;
      validity_[i / 8] |= static_cast<uint8_t>(!null) << (i % 8);
    }
    if (nulls > 0) {
      validity = Wrap(validity_.data(), static_cast<int64_t>(validity_.size()));
    }
  }
  return arrow::MakeArray(arrow::ArrayData::Make(
      NumberType<T>(), rows_, {validity, Wrap(begin, rows_)}, nulls));
}

template <typename T>
ColumnArrays::Array ColumnArrays::Numbers(const Column<T>& column) {
  if (!column.all_null()) return Numbers(column.cells(), true);
  zeros_.resize(rows_);  // is never written to: all cells are 0
  validity_.assign((rows_ + 7) / 8, 0);
  return arrow::MakeArray(arrow::ArrayData::Make(
      NumberType<T>(), rows_,
      {Wrap(validity_.data(), static_cast<int64_t>(validity_.size())),
       Wrap(reinterpret_cast<const T*>(zeros_.data()), rows_)},
      rows_));
}

template <typename T>
ColumnArrays::Array ColumnArrays::Texts(
    const std::vector<T>& cells, int64_t count,
    const std::function<absl::string_view(int64_t)>& text_of) {
  dictionary_ids_.assign(count, -1);
  indices_.resize(rows_);
  validity_.assign((rows_ + 7) / 8, 0);
  arrow::StringBuilder dictionary(arrow::system_memory_pool());
  int64_t nulls = 0;
  for (int64_t i = 0; i < rows_; ++i) {
    const auto cell = static_cast<int64_t>(cells[first_ + i]);
    if (cell < 0) {
      ++nulls;
      indices_[i] = 0;
      continue;
    }
    int32_t& id = dictionary_ids_[cell];
    if (id < 0) {
      id = static_cast<int32_t>(dictionary.length());
      const absl::string_view text = text_of(cell);
      // Fails for want of memory only, as does every vector here.
      const arrow::Status appended =
          dictionary.Append(std::string_view(text.data(), text.size()));
      TRAZA_CHECK(appended.ok());
    }
    indices_[i] = id;
    validity_[i / 8] |= static_cast<uint8_t>(1 << (i % 8));
  }
  return Indices(indices_.data(), nulls, dictionary.Finish().ValueOrDie());
}

ColumnArrays::Array ColumnArrays::Indices(const int32_t* indices, int64_t nulls,
                                          Array texts) {
  std::shared_ptr<arrow::Buffer> validity;
  if (nulls > 0) {
    validity = Wrap(validity_.data(), static_cast<int64_t>(validity_.size()));
  }
  const auto data = arrow::ArrayData::Make(
      arrow::int32(), rows_, {validity, Wrap(indices, rows_)}, nulls);
  return std::make_shared<arrow::DictionaryArray>(
      TextType(), arrow::MakeArray(data), std::move(texts));
}

ColumnArrays::Array ColumnArrays::NameTexts(const std::vector<int32_t>& cells) {
  return Texts(cells, trace_.names.size(), [this](int64_t id) {
    return absl::string_view(trace_.names.at(static_cast<int32_t>(id)));
  });
}

ColumnArrays::Array ColumnArrays::NullTexts() {
  zeros_.resize(rows_);
  validity_.assign((rows_ + 7) / 8, 0);
  return Indices(
      reinterpret_cast<const int32_t*>(zeros_.data()), rows_,
      arrow::StringBuilder(arrow::system_memory_pool()).Finish().ValueOrDie());
}

ColumnArrays::Array ColumnArrays::PhaseTexts() {
  if (trace_.phase.all_null()) return NullTexts();
  return Texts(
      trace_.phase.cells(), static_cast<int64_t>(kAllPhases.size()),
      [](int64_t phase) { return PhaseName(static_cast<Phase>(phase)); });
}

}  // namespace traza
