// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "arrow/io/file.h"
#include "arrow/memory_pool.h"
#include "parquet/file_reader.h"
#include "parquet/properties.h"

#include "base/error.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "base/unique_fd.h"
#include "base/utf8.h"
#include "trace/file/file_errors.h"
#include "trace/file/open_file.h"
#include "trace/file/parquet_file.h"
#include "trace/file/trace_reader.h"

namespace traza {
namespace {

constexpr char kMagic[] = "PAR1";
constexpr int64_t kMagicBytes = 4;
// The length of the footer and the magic bytes after it.
constexpr int64_t kTailBytes = 8;

// What a hostile file can make us hold, beside the rows. Decoding needs one
// column chunk (10 MB of ours) and a dictionary; a footer of ours has 5 KB for
// each million rows and the header, at most 10 MB.
constexpr int64_t kMaxDecodeBytes = int64_t{512} << 20;
constexpr int64_t kMaxFooterBytes = int64_t{16} << 20;
constexpr int32_t kMaxFooterListEntries = 8192;
constexpr int32_t kMaxSchemaDepth = 16;

// Looks at both ends: says what is no Parquet file, what has lost its end, and
// refuses a footer that would take too much memory to parse.
absl::Status CheckEnds(int fd, int64_t bytes) {
  ASSIGN_OR_RETURN(const std::string head, ReadFileAt(fd, 0, kMagicBytes));
  if (std::memcmp(head.data(), kMagic, head.size()) != 0) {
    return UnreadableFile("This is no Parquet file.");
  }
  if (bytes < kMagicBytes + kTailBytes) {
    return IncompleteFile("it has no footer");
  }
  ASSIGN_OR_RETURN(const std::string tail,
                   ReadFileAt(fd, bytes - kTailBytes, kTailBytes));
  if (tail.size() != kTailBytes || tail.substr(4) != kMagic) {
    return IncompleteFile("it has no footer");
  }
  uint32_t footer = 0;
  std::memcpy(&footer, tail.data(), sizeof(footer));
  if (footer > kMaxFooterBytes) {
    return IncompleteFile("its footer is too large");
  }
  return absl::OkStatus();
}

absl::StatusOr<Trace> ReadOpenFile(UniqueFd fd,
                                   const ParquetReadLimits& limits) {
  // Capped, since a file says itself how much it unpacks to; a pool of its own,
  // since the cap counts all that is allocated from the pool.
  arrow::ProxyMemoryPool pool(arrow::system_memory_pool());
  arrow::CappedMemoryPool capped(&pool, kMaxDecodeBytes);
  parquet::ReaderProperties properties(&capped);
  properties.set_page_checksum_verification(true);
  properties.set_thrift_container_size_limit(kMaxFooterListEntries);
  properties.set_thrift_string_size_limit(
      static_cast<int32_t>(kMaxFooterBytes));
  properties.set_schema_depth_limit(kMaxSchemaDepth);
  try {
    auto source = arrow::io::ReadableFile::Open(fd.Release(), &capped);
    if (!source.ok()) return IncompleteFile(source.status().message());
    const std::unique_ptr<parquet::ParquetFileReader> file =
        parquet::ParquetFileReader::Open(*std::move(source), properties);
    return TraceReader(*file).Read(limits);
  } catch (const std::exception& exception) {
    return IncompleteFile(
        EscapeControlCharacters(CutUtf8(exception.what(), 500)));
  }
}

absl::StatusOr<Trace> Read(const std::filesystem::path& path,
                           const ParquetReadLimits& limits) {
  ASSIGN_OR_RETURN(UniqueFd fd, OpenTraceFile(path));
  struct stat status = {};
  if (::fstat(fd.get(), &status) != 0) {
    return ErrnoStatus(errno, "looking at the file");
  }
  const int64_t bytes = status.st_size;
  if (bytes > limits.max_file_bytes) {
    return FileTooLarge("bytes", bytes, limits.max_file_bytes);
  }
  RETURN_IF_ERROR(CheckEnds(fd.get(), bytes));
  return ReadOpenFile(std::move(fd), limits);
}

}  // namespace

absl::StatusOr<Trace> ReadParquet(const std::filesystem::path& path,
                                  const ParquetReadLimits& limits) {
  absl::StatusOr<Trace> trace = Read(path, limits);
  if (!trace.ok()) return Annotate(trace.status(), path.native());
  return trace;
}

}  // namespace traza
