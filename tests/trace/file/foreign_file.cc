// SPDX-License-Identifier: Apache-2.0
#include "tests/trace/file/foreign_file.h"

#include <utility>

#include "arrow/io/file.h"
#include "parquet/arrow/writer.h"

#include "base/check.h"

namespace traza {
namespace {

template <typename Builder, typename T>
std::shared_ptr<arrow::Array> MakeArray(const std::vector<T>& cells,
                                        const std::vector<bool>& valid) {
  Builder builder;
  for (size_t i = 0; i < cells.size(); ++i) {
    const bool has_value = valid.empty() || valid[i];
    TRAZA_CHECK(
        (has_value ? builder.Append(cells[i]) : builder.AppendNull()).ok());
  }
  return *builder.Finish();
}

}  // namespace

ForeignFile ForeignFile::Least() {
  ForeignFile file;
  file.Int64("id", {0, 1, 2})
      .Text("kind", {"step", "op", "op"})
      .Text("name", {"step", "aten::mm", "aten::add"})
      .Int64("start_ns", {100, 110, 150})
      .Int64("duration_ns", {100, 30, 40});
  return file;
}

ForeignFile& ForeignFile::Add(const std::string& name,
                              std::shared_ptr<arrow::Array> array) {
  Remove(name);
  fields.push_back(arrow::field(name, array->type()));
  arrays.push_back(std::move(array));
  return *this;
}

ForeignFile& ForeignFile::Remove(const std::string& name) {
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i]->name() == name) {
      fields.erase(fields.begin() + static_cast<ptrdiff_t>(i));
      arrays.erase(arrays.begin() + static_cast<ptrdiff_t>(i));
      break;
    }
  }
  return *this;
}

ForeignFile& ForeignFile::Int64(const std::string& name,
                                std::vector<int64_t> cells) {
  return Add(name, MakeArray<arrow::Int64Builder>(cells, {}));
}

ForeignFile& ForeignFile::Int32(const std::string& name,
                                std::vector<int32_t> cells) {
  return Add(name, MakeArray<arrow::Int32Builder>(cells, {}));
}

ForeignFile& ForeignFile::Text(const std::string& name,
                               std::vector<std::string> cells) {
  return Add(name, MakeArray<arrow::StringBuilder>(cells, {}));
}

ForeignFile& ForeignFile::NullableInt64(const std::string& name,
                                        std::vector<int64_t> cells,
                                        std::vector<bool> valid) {
  return Add(name, MakeArray<arrow::Int64Builder>(cells, valid));
}

ForeignFile& ForeignFile::NullableText(const std::string& name,
                                       std::vector<std::string> cells,
                                       std::vector<bool> valid) {
  return Add(name, MakeArray<arrow::StringBuilder>(cells, valid));
}

void ForeignFile::WriteTo(const std::filesystem::path& path) const {
  const auto schema = arrow::schema(fields);
  const auto table = arrow::Table::Make(schema, arrays);
  parquet::WriterProperties::Builder properties;
  if (!dictionary) properties.disable_dictionary();
  if (compressed) properties.compression(parquet::Compression::ZSTD);
  const auto sink = *arrow::io::FileOutputStream::Open(path.native());
  const auto writer = *parquet::arrow::FileWriter::Open(
      *schema, arrow::default_memory_pool(), sink, properties.build());
  TRAZA_CHECK(writer->WriteTable(*table).ok());
  if (has_header) {
    TRAZA_CHECK(writer
                    ->AddKeyValueMetadata(
                        arrow::key_value_metadata({"traza.header"}, {header}))
                    .ok());
  }
  TRAZA_CHECK(writer->Close().ok());
  TRAZA_CHECK(sink->Close().ok());
}

}  // namespace traza
