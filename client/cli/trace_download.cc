// SPDX-License-Identifier: Apache-2.0
#include "client/cli/trace_download.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"

#include "base/error.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "base/utf8.h"
#include "trace/quantity.h"

namespace traza {
namespace {

absl::StatusOr<int64_t> SizeOf(int fd) {
  struct stat status;
  if (::fstat(fd, &status) != 0)
    return ErrnoStatus(errno, "Cannot read a file");
  return static_cast<int64_t>(status.st_size);
}

absl::Status Truncate(int fd) {
  if (::ftruncate(fd, 0) != 0) return ErrnoStatus(errno, "Cannot empty a file");
  return absl::OkStatus();
}

absl::Status Corrupt(const v1::Trace& trace, absl::string_view what) {
  return ErrorBuilder(absl::StatusCode::kDataLoss, Reason::kTraceCorrupt)
      .With("trace", trace.name())
      .Build(absl::StrCat(trace.name(), ": ", what));
}

// Appends what is missing from `size` on; one stream.
absl::Status ReadRest(Client& client, const v1::Trace& trace, int fd,
                      int64_t size, ProgressLine& progress) {
  if (::lseek(fd, size, SEEK_SET) < 0) {
    return ErrnoStatus(errno, "Cannot write a file");
  }
  v1::ReadTraceRequest request;
  request.set_name(trace.name());
  request.set_read_offset(size);
  bool whole = false;
  const absl::Status status = client.ReadTrace(
      request, [&](const v1::FileChunk& chunk) -> absl::Status {
        if (!chunk.data().empty() && chunk.offset() != size) {
          return Corrupt(trace, "the daemon sent bytes of another place.");
        }
        RETURN_IF_ERROR(WriteAll(fd, chunk.data()));
        size += static_cast<int64_t>(chunk.data().size());
        whole = chunk.last();
        progress.Show(
            "download",
            absl::StrCat("downloaded ", BytesText(static_cast<double>(size)),
                         " of ",
                         BytesText(static_cast<double>(trace.size_bytes()))));
        return absl::OkStatus();
      });
  RETURN_IF_ERROR(status);
  if (whole) return absl::OkStatus();
  return absl::UnavailableError("The stream ended before the file did.");
}

bool IsPassing(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsUnknown(status) || absl::IsInternal(status) ||
         absl::IsCancelled(status);
}

// Reads until all is there, over broken streams.
absl::Status ReadAll(Client& client, const v1::Trace& trace, int fd,
                     ProgressLine& progress, const ResumeOptions& options) {
  absl::Duration wait = options.first_wait;
  int attempts = 0;
  int64_t before = -1;
  while (true) {
    ASSIGN_OR_RETURN(int64_t size, SizeOf(fd));
    if (size > trace.size_bytes()) {
      RETURN_IF_ERROR(Truncate(fd));
      size = 0;
    }
    if (size == trace.size_bytes()) return absl::OkStatus();
    if (size > before) {
      attempts = 0;
      wait = options.first_wait;
    }
    before = size;
    const absl::Status status = ReadRest(client, trace, fd, size, progress);
    if (status.ok()) continue;
    if (!IsPassing(status) || ++attempts >= options.max_attempts) return status;
    progress.Say("connection lost; the download goes on where it stopped");
    absl::SleepFor(wait);
    wait = std::min(wait * 2, options.longest_wait);
  }
}

}  // namespace

absl::StatusOr<UniqueFd> OpenTemporary() {
  std::error_code error;
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path(error);
  std::string path = (error ? std::filesystem::path("/tmp") : folder) /
                     "traza-download-XXXXXX";
  UniqueFd fd(::mkostemp(path.data(), O_CLOEXEC));
  if (!fd.valid())
    return ErrnoStatus(errno, absl::StrCat("Cannot make ", path));
  ::unlink(path.c_str());
  return fd;
}

absl::Status FillFromTrace(Client& client, const v1::Trace& trace, int fd,
                           ProgressLine& progress,
                           const ResumeOptions& options) {
  const std::string path = absl::StrCat("/proc/self/fd/", fd);
  while (true) {
    ASSIGN_OR_RETURN(const int64_t start, SizeOf(fd));
    RETURN_IF_ERROR(ReadAll(client, trace, fd, progress, options));
    ASSIGN_OR_RETURN(const std::string digest, FileSha256(path));
    if (digest == trace.sha256()) return absl::OkStatus();
    RETURN_IF_ERROR(Truncate(fd));
    if (start == 0) {
      return Corrupt(trace,
                     absl::StrCat("its SHA-256 should be ", trace.sha256(),
                                  " and is ", digest, "."));
    }
    progress.Say("the part that was there is of another file; starting anew");
  }
}

absl::Status DownloadToFile(Client& client, const v1::Trace& trace,
                            const std::filesystem::path& target,
                            ProgressLine& progress,
                            const ResumeOptions& options) {
  const std::filesystem::path part = target.native() + ".part";
  ASSIGN_OR_RETURN(const UniqueFd fd,
                   OpenFile(part, O_RDWR | O_CREAT | O_NOFOLLOW, 0666));
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("Another download writes ",
                     EscapeControlCharacters(part.native()), "."));
  }
  RETURN_IF_ERROR(FillFromTrace(client, trace, fd.get(), progress, options));
  // The name is given last: whoever sees it sees the whole file, also after a
  // power cut.
  RETURN_IF_ERROR(SyncFile(part));
  RETURN_IF_ERROR(RenameFile(part, target));
  const std::filesystem::path folder = target.parent_path();
  return SyncDirectory(folder.empty() ? "." : folder);
}

}  // namespace traza
