// SPDX-License-Identifier: Apache-2.0
#include "client/hand_over.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "absl/strings/str_cat.h"

#include "base/file.h"

namespace traza {

absl::Status HandOver(char** argv) {
  const std::filesystem::path here = ExecutableDirectory();
  const std::filesystem::path installed = here / "../libexec/traza/traza-local";
  for (const std::filesystem::path& path : {here / "traza-local", installed}) {
    ::execv(path.c_str(), argv);
    if (errno != ENOENT) {
      return absl::ErrnoToStatus(errno,
                                 absl::StrCat("Cannot start ", path.native()));
    }
  }
  return absl::InternalError(
      absl::StrCat("Trace files are read by traza-local, which is neither in ",
                   here.native(), " nor in ../libexec/traza; install it."));
}

}  // namespace traza
