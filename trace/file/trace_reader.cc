// SPDX-License-Identifier: Apache-2.0
#include "trace/file/trace_reader.h"

#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "arrow/util/key_value_metadata.h"
#include "parquet/file_reader.h"
#include "parquet/metadata.h"
#include "parquet/statistics.h"

#include "base/status_macros.h"
#include "base/utf8.h"
#include "spec/phase.h"
#include "trace/columns.h"
#include "trace/file/column_reader.h"
#include "trace/file/file_format.h"

namespace traza {
namespace {

// Of all distinct texts: those of ours take a few hundred kilobytes.
constexpr int64_t kMaxNameBytes = int64_t{64} << 20;

// Decoding so many rows takes much longer than a thread's start, and is worth
// the memory that the allocator keeps for the thread.
constexpr int64_t kRowsWorthAThread = 105'000;

template <typename T>
constexpr parquet::Type::type kPhysicalType =
    std::is_same_v<T, int64_t>   ? parquet::Type::INT64
    : std::is_same_v<T, double>  ? parquet::Type::DOUBLE
    : std::is_same_v<T, int32_t> ? parquet::Type::INT32
                                 : parquet::Type::BYTE_ARRAY;

// Whether the writer says that no cell of the chunk has a value.
bool AllNull(parquet::RowGroupReader& group, int column) {
  const auto chunk = group.metadata()->ColumnChunk(column);
  const auto statistics = chunk->statistics();
  return statistics != nullptr && statistics->HasNullCount() &&
         statistics->null_count() == group.metadata()->num_rows() &&
         statistics->num_values() == 0;
}

absl::StatusOr<int32_t> KindOf(absl::string_view text) {
  const std::optional<EventKind> kind = EventKindFromName(text);
  if (!kind.has_value()) {
    return UnreadableFile(
        absl::StrCat("The trace has events of the unknown kind '",
                     EscapeControlCharacters(CutUtf8(text, 64)), "'."));
  }
  return static_cast<int32_t>(*kind);
}

absl::StatusOr<int32_t> PhaseOf(absl::string_view text) {
  const std::optional<Phase> phase = PhaseFromName(text);
  if (!phase.has_value()) {
    return UnreadableFile(
        absl::StrCat("The trace has the unknown phase '",
                     EscapeControlCharacters(CutUtf8(text, 64)), "'."));
  }
  return static_cast<int32_t>(*phase);
}

// Adds `from` to the cells of `to`, a vector of smaller ones; the texts were
// checked, so that each value fits. Null in a required column is a fault.
template <typename T>
absl::Status Narrow(const std::vector<int32_t>& from, absl::string_view name,
                    std::vector<T>* to) {
  to->reserve(to->size() + from.size());
  for (const int32_t cell : from) {
    if (cell == kNull<int32_t>) {
      return IncompleteFile(
          absl::StrCat("the column ", name, " has an empty cell"));
    }
    to->push_back(static_cast<T>(cell));
  }
  return absl::OkStatus();
}

}  // namespace

TraceReader::TraceReader(parquet::ParquetFileReader& file)
    : file_(file), metadata_(*file.metadata()) {}

absl::StatusOr<Trace> TraceReader::Read(const ParquetReadLimits& limits) {
  RETURN_IF_ERROR(ReadHeader());
  if (metadata_.num_rows() > limits.max_rows) {
    return FileTooLarge("rows", metadata_.num_rows(), limits.max_rows);
  }
  RETURN_IF_ERROR(CheckRequiredColumns());
  int64_t rows = 0;
  for (int i = 0; i < metadata_.num_row_groups(); ++i) {
    const int64_t group_rows = metadata_.RowGroup(i)->num_rows();
    if (group_rows < 0 || group_rows > metadata_.num_rows() - rows) {
      return IncompleteFile("its parts have more rows than the whole");
    }
    rows += group_rows;
    RETURN_IF_ERROR(ReadRowGroup(i));
  }
  if (rows != metadata_.num_rows()) {
    return IncompleteFile("its parts have fewer rows than the whole");
  }
  RETURN_IF_ERROR(Validate(trace_));
  return std::move(trace_);
}

absl::Status TraceReader::ReadHeader() {
  const auto& texts = metadata_.key_value_metadata();
  const int index = texts == nullptr ? -1 : texts->FindKey(kHeaderKey);
  if (index < 0) {
    return UnreadableFile(absl::StrCat(
        "This Parquet file is no trace: it lacks ", kHeaderKey, "."));
  }
  ASSIGN_OR_RETURN(trace_.header, HeaderFromJson(texts->value(index)));
  return absl::OkStatus();
}

absl::Status TraceReader::CheckRequiredColumns() {
  std::vector<absl::string_view> missing;
  for (const absl::string_view name :
       {"id", "kind", "name", "start_ns", "duration_ns"}) {
    if (metadata_.schema()->ColumnIndex(std::string(name)) < 0) {
      missing.push_back(name);
    }
  }
  if (missing.empty()) return absl::OkStatus();
  return UnreadableFile(absl::StrCat("The trace lacks the columns ",
                                     absl::StrJoin(missing, ", "), "."));
}

absl::StatusOr<std::optional<int>> TraceReader::Find(
    absl::string_view name, parquet::Type::type type) const {
  const int index = metadata_.schema()->ColumnIndex(std::string(name));
  if (index < 0) return std::optional<int>();
  const parquet::ColumnDescriptor& column = *metadata_.schema()->Column(index);
  if (column.physical_type() != type || column.max_repetition_level() != 0 ||
      column.max_definition_level() > 1) {
    return UnreadableFile(
        absl::StrCat("The column ", name, " has the type ",
                     parquet::TypeToString(column.physical_type()),
                     "; it has to be ", parquet::TypeToString(type), "."));
  }
  return std::optional<int>(index);
}

absl::StatusOr<int32_t> TraceReader::InternName(absl::string_view text) {
  const int32_t before = trace_.names.size();
  const int32_t id = IsValidUtf8(text) ? trace_.names.Intern(text)
                                       : trace_.names.Intern(ToValidUtf8(text));
  if (trace_.names.size() > before) {
    name_bytes_ += static_cast<int64_t>(text.size());
    if (name_bytes_ > kMaxNameBytes) {
      return FileTooLarge("bytes of names", name_bytes_, kMaxNameBytes);
    }
  }
  return id;
}

template <typename T>
absl::Status TraceReader::ReadRequired(parquet::RowGroupReader& group,
                                       absl::string_view name,
                                       std::vector<T>* cells) {
  ASSIGN_OR_RETURN(const std::optional<int> index,
                   Find(name, kPhysicalType<T>));
  AppendNumbers(group, *index, cells);
  return absl::OkStatus();
}

absl::Status TraceReader::ReadIds(parquet::RowGroupReader& group) {
  const auto first = static_cast<int64_t>(trace_.rows());
  std::vector<int64_t> ids;
  RETURN_IF_ERROR(ReadRequired(group, "id", &ids));
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] != first + static_cast<int64_t>(i)) {
      return IncompleteFile("the column id does not count the rows");
    }
  }
  return absl::OkStatus();
}

absl::Status TraceReader::ReadRequiredColumns(parquet::RowGroupReader& group) {
  RETURN_IF_ERROR(ReadIds(group));
  RETURN_IF_ERROR(ReadRequired(group, "start_ns", &trace_.start_ns));
  RETURN_IF_ERROR(ReadRequired(group, "duration_ns", &trace_.duration_ns));
  ASSIGN_OR_RETURN(const std::optional<int> name,
                   Find("name", parquet::Type::BYTE_ARRAY));
  RETURN_IF_ERROR(AppendTexts(
      group, *name, [this](absl::string_view text) { return InternName(text); },
      &trace_.name));
  ASSIGN_OR_RETURN(const std::optional<int> kind,
                   Find("kind", parquet::Type::BYTE_ARRAY));
  std::vector<int32_t> kinds;
  RETURN_IF_ERROR(AppendTexts(group, *kind, KindOf, &kinds));
  return Narrow(kinds, "kind", &trace_.kind);
}

template <typename T>
absl::Status TraceReader::ReadColumn(parquet::RowGroupReader& group,
                                     const char* name, Column<T>* column) {
  constexpr bool kPhase = std::is_same_v<T, int8_t>;
  const bool text = kPhase || HoldsText(name);
  ASSIGN_OR_RETURN(
      const std::optional<int> index,
      Find(name, text ? parquet::Type::BYTE_ARRAY : kPhysicalType<T>));
  const size_t rows = trace_.rows();  // with those of this group
  const bool null = !index.has_value() || AllNull(group, *index);
  if (null && column->all_null()) return absl::OkStatus();
  const size_t first = rows - static_cast<size_t>(group.metadata()->num_rows());
  column->cells().resize(null ? rows : first, Column<T>::Null());
  if (null) return absl::OkStatus();
  if constexpr (kPhase) {
    std::vector<int32_t> phases;
    RETURN_IF_ERROR(AppendTexts(group, *index, PhaseOf, &phases));
    for (const int32_t phase : phases) {
      column->cells().push_back(
          phase == kNull<int32_t> ? kNull<int8_t> : static_cast<int8_t>(phase));
    }
  } else if constexpr (std::is_same_v<T, int32_t>) {
    if (text) {
      return AppendTexts(
          group, *index,
          [this](absl::string_view value) { return InternName(value); },
          &column->cells());
    }
    AppendNumbers(group, *index, &column->cells());
  } else {
    AppendNumbers(group, *index, &column->cells());
  }
  return absl::OkStatus();
}

absl::Status TraceReader::ReadColumns(parquet::RowGroupReader& group,
                                      bool texts, TakenColumns* taken) {
  absl::Status status;
  size_t next = 0;
  ForEachColumn(trace_, [&](const char* name, auto& column) {
    const size_t number = next++;
    if (!status.ok() || (HoldsText(name) && !texts)) return;
    if (!taken->at(number).exchange(true)) {
      status = ReadColumn(group, name, &column);
    }
  });
  return status;
}

absl::Status TraceReader::ReadRowGroup(int number) {
  const std::shared_ptr<parquet::RowGroupReader> group = file_.RowGroup(number);
  RETURN_IF_ERROR(ReadRequiredColumns(*group));
  TakenColumns taken = {};
  if (group->metadata()->num_rows() < kRowsWorthAThread) {
    return ReadColumns(*group, /*texts=*/true, &taken);
  }
  // Texts stay on this thread: they share the table of names.
  const std::shared_ptr<parquet::RowGroupReader> same = file_.RowGroup(number);
  absl::Status numbers;
  std::exception_ptr thrown;
  std::jthread helper([&] {
    try {
      numbers = ReadColumns(*same, /*texts=*/false, &taken);
    } catch (...) {
      thrown = std::current_exception();
    }
  });
  const absl::Status status = ReadColumns(*group, /*texts=*/true, &taken);
  helper.join();
  if (thrown != nullptr) std::rethrow_exception(thrown);
  RETURN_IF_ERROR(status);
  return numbers;
}

}  // namespace traza
