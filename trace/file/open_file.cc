// SPDX-License-Identifier: Apache-2.0
#include "trace/file/open_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "trace/file/file_errors.h"

namespace traza {

absl::StatusOr<UniqueFd> OpenTraceFile(const std::filesystem::path& path) {
  // O_NONBLOCK so that a pipe does not keep us waiting.
  absl::StatusOr<UniqueFd> fd = OpenFile(path, O_RDONLY | O_NONBLOCK);
  if (absl::IsNotFound(fd.status())) {
    return ErrorBuilder(absl::StatusCode::kNotFound, Reason::kTraceNotFound)
        .Build("There is no such file.");
  }
  RETURN_IF_ERROR(fd.status());
  struct stat status = {};
  if (::fstat(fd->get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return UnreadableFile("This is no regular file.");
  }
  return fd;
}

}  // namespace traza
