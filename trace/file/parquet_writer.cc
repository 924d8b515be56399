// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "arrow/api.h"
#include "arrow/io/interfaces.h"
#include "parquet/arrow/writer.h"
#include "parquet/properties.h"

#include "base/error.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "base/unique_fd.h"
#include "trace/file/column_arrays.h"
#include "trace/file/file_format.h"
#include "trace/file/parquet_file.h"

namespace traza {
namespace {

// Writes to a descriptor, and keeps the Status of the first failure: Arrow's
// own says nothing of a full disk that the caller could tell from others.
class FdOutputStream final : public arrow::io::OutputStream {
 public:
  explicit FdOutputStream(int fd) : fd_(fd) {}

  arrow::Status Close() override {
    closed_ = true;
    return arrow::Status::OK();
  }
  bool closed() const override { return closed_; }
  arrow::Result<int64_t> Tell() const override { return written_; }
  arrow::Status Write(const void* data, int64_t size) override {
    if (failure_.ok()) {
      failure_ = WriteAll(fd_, absl::string_view(static_cast<const char*>(data),
                                                 static_cast<size_t>(size)));
    }
    if (!failure_.ok()) return arrow::Status::IOError("write failed");
    written_ += size;
    return arrow::Status::OK();
  }

  const absl::Status& failure() const { return failure_; }
  int64_t written() const { return written_; }

 private:
  const int fd_;
  int64_t written_ = 0;
  bool closed_ = false;
  absl::Status failure_;
};

std::shared_ptr<parquet::WriterProperties> FileProperties(
    const arrow::Schema& schema) {
  parquet::WriterProperties::Builder properties;
  properties.memory_pool(arrow::system_memory_pool())
      ->compression(parquet::Compression::ZSTD)
      ->compression_level(3)
      ->enable_page_checksum()
      ->created_by("traza")
      ->max_row_group_length(kMaxRowGroupRows)
      // Kernel names take kilobytes each: past the limit, a column would be
      // written as plain text.
      ->dictionary_pagesize_limit(int64_t{16} << 20)
      ->set_size_statistics_level(parquet::SizeStatisticsLevel::None);
  for (const auto& field : schema.fields()) {
    if (arrow::is_integer(field->type()->id())) {
      properties.disable_dictionary(field->name());
      properties.encoding(field->name(),
                          parquet::Encoding::DELTA_BINARY_PACKED);
    }
  }
  return properties.build();
}

arrow::Status WriteTrace(const Trace& trace,
                         const std::shared_ptr<FdOutputStream>& sink) {
  const std::shared_ptr<arrow::Schema> schema = FileSchema();
  ARROW_ASSIGN_OR_RAISE(
      const std::unique_ptr<parquet::arrow::FileWriter> writer,
      parquet::arrow::FileWriter::Open(*schema, arrow::system_memory_pool(),
                                       sink, FileProperties(*schema)));
  const auto rows = static_cast<int64_t>(trace.rows());
  for (int64_t first = 0; first < rows; first += kMaxRowGroupRows) {
    ARROW_RETURN_NOT_OK(writer->NewRowGroup());
    ColumnArrays arrays(trace, first, std::min(rows - first, kMaxRowGroupRows));
    ARROW_RETURN_NOT_OK(arrays.ForEach([&](const arrow::Array& array) {
      return writer->WriteColumnChunk(array);
    }));
  }
  ARROW_RETURN_NOT_OK(writer->AddKeyValueMetadata(
      arrow::key_value_metadata({kHeaderKey}, {HeaderToJson(trace.header)})));
  return writer->Close();
}

}  // namespace

absl::StatusOr<int64_t> WriteParquet(const Trace& trace,
                                     const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const UniqueFd fd,
                   OpenFile(path, O_WRONLY | O_CREAT | O_TRUNC));
  const auto sink = std::make_shared<FdOutputStream>(fd.get());
  std::string fault;
  try {
    const arrow::Status written = WriteTrace(trace, sink);
    if (written.ok()) return sink->written();
    fault = written.ToString();
  } catch (const std::exception& exception) {
    fault = exception.what();
  }
  if (!sink->failure().ok()) {
    return Annotate(sink->failure(), absl::StrCat("writing ", path.native()));
  }
  return absl::InternalError(
      absl::StrCat("writing ", path.native(), ": ", fault));
}

}  // namespace traza
