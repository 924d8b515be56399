// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/trace_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"

#include "base/error.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "trace/file/parquet_file.h"

namespace traza {
namespace {

absl::Status Corrupt(const TraceId& id, absl::string_view what) {
  return ErrorBuilder(absl::StatusCode::kDataLoss, Reason::kTraceCorrupt)
      .With("trace", id.value)
      .Build(absl::StrCat("The file of trace ", id.value, " ", what, "."));
}

}  // namespace

TraceFile::TraceFile(UniqueFd fd, const TraceRow& row)
    : fd_(std::move(fd)),
      id_(row.id),
      size_bytes_(row.size_bytes),
      sha256_(row.sha256) {}

absl::StatusOr<TraceFile> TraceFile::Open(const TraceStore& store,
                                          const TraceRow& row) {
  absl::StatusOr<UniqueFd> fd =
      OpenFile(store.PathOf(row.id, row.create_time), O_RDONLY);
  if (absl::IsNotFound(fd.status())) return Corrupt(row.id, "is missing");
  if (!fd.ok()) return fd.status();
  struct stat state;
  if (::fstat(fd->get(), &state) != 0) {
    return ErrnoStatus(errno, absl::StrCat("Cannot look at ", row.id.value));
  }
  if (state.st_size != row.size_bytes) {
    return Corrupt(row.id, absl::StrCat("has ", state.st_size, " bytes; ",
                                        row.size_bytes, " were stored"));
  }
  return TraceFile(*std::move(fd), row);
}

absl::StatusOr<std::string> TraceFile::ReadAt(int64_t offset,
                                              int64_t size) const {
  ASSIGN_OR_RETURN(std::string bytes, ReadFileAt(fd_.get(), offset, size));
  if (static_cast<int64_t>(bytes.size()) != size) {
    return Corrupt(id_,
                   absl::StrCat("was cut off at byte ",
                                offset + static_cast<int64_t>(bytes.size())));
  }
  return bytes;
}

absl::Status TraceFile::CheckDigest() const {
  // By descriptor: the path may be gone, or another file.
  ASSIGN_OR_RETURN(const std::string digest,
                   FileSha256(absl::StrCat("/proc/self/fd/", fd_.get())));
  if (digest == sha256_) return absl::OkStatus();
  return Corrupt(id_, absl::StrCat("has the SHA-256 ", digest, "; ", sha256_,
                                   " was stored"));
}

absl::StatusOr<Trace> LoadTrace(const TraceStore& store, const TraceRow& row) {
  RETURN_IF_ERROR(TraceFile::Open(store, row).status());
  return ReadParquet(store.PathOf(row.id, row.create_time));
}

}  // namespace traza
