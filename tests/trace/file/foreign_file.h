// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_TRACE_FILE_FOREIGN_FILE_H_
#define TESTS_TRACE_FILE_FOREIGN_FILE_H_

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "arrow/api.h"

namespace traza {

// A Parquet file as another program may write it: any columns, any header.
struct ForeignFile {
  std::vector<std::shared_ptr<arrow::Field>> fields;
  std::vector<std::shared_ptr<arrow::Array>> arrays;
  std::string header = R"({"schema":1})";
  bool has_header = true;
  bool dictionary = true;  // encoding
  bool compressed = false;

  // Three rows of the columns that every trace has: two ops in a step.
  static ForeignFile Least();

  ForeignFile& Int64(const std::string& name, std::vector<int64_t> cells);
  ForeignFile& Int32(const std::string& name, std::vector<int32_t> cells);
  ForeignFile& Text(const std::string& name, std::vector<std::string> cells);
  // A null where `valid` is false.
  ForeignFile& NullableInt64(const std::string& name,
                             std::vector<int64_t> cells,
                             std::vector<bool> valid);
  ForeignFile& NullableText(const std::string& name,
                            std::vector<std::string> cells,
                            std::vector<bool> valid);
  ForeignFile& Add(const std::string& name,
                   std::shared_ptr<arrow::Array> array);
  ForeignFile& Remove(const std::string& name);

  void WriteTo(const std::filesystem::path& path) const;
};

}  // namespace traza

#endif  // TESTS_TRACE_FILE_FOREIGN_FILE_H_
