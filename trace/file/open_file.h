// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_FILE_OPEN_FILE_H_
#define TRACE_FILE_OPEN_FILE_H_

#include <filesystem>

#include "absl/status/statusor.h"

#include "base/unique_fd.h"

namespace traza {

// Opens a regular file for reading: NOT_FOUND / TRACE_NOT_FOUND when there is
// none, INVALID_ARGUMENT / TRACE_UNREADABLE for a folder, a pipe, ...
absl::StatusOr<UniqueFd> OpenTraceFile(const std::filesystem::path& path);

}  // namespace traza

#endif  // TRACE_FILE_OPEN_FILE_H_
