// SPDX-License-Identifier: Apache-2.0
#ifndef BASE_FILE_H_
#define BASE_FILE_H_

#include <cstdint>
#include <filesystem>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "base/unique_fd.h"

namespace traza {

// File helpers that return a Status. Every descriptor is close-on-exec. Errors
// carry the path and, for a full or read-only disk, the reason STORE_FULL or
// STORE_UNWRITABLE.

absl::StatusOr<UniqueFd> OpenFile(const std::filesystem::path& path, int flags,
                                  int mode = 0600);

// The whole file. Fails with RESOURCE_EXHAUSTED when it is larger than
// `max_bytes`.
absl::StatusOr<std::string> ReadFile(const std::filesystem::path& path,
                                     int64_t max_bytes);

// Reads at most `size` bytes at `offset`; fewer only at the end of the file.
absl::StatusOr<std::string> ReadFileAt(int fd, int64_t offset, int64_t size);

// Replaces the file: temporary beside it, fsync, rename, fsync of the folder.
absl::Status WriteFileAtomically(const std::filesystem::path& path,
                                 absl::string_view bytes);

// Writes all of `bytes`, across short writes and EINTR.
absl::Status WriteAll(int fd, absl::string_view bytes);

absl::Status SyncFile(const std::filesystem::path& path);
absl::Status SyncDirectory(const std::filesystem::path& path);
absl::Status RenameFile(const std::filesystem::path& from,
                        const std::filesystem::path& to);
// Creates the folder and its parents with mode 0700.
absl::Status MakeDirectories(const std::filesystem::path& path);
// Deletes a file; OK when there is none.
absl::Status RemoveFile(const std::filesystem::path& path);
absl::StatusOr<int64_t> FileSize(const std::filesystem::path& path);
// Bytes that a process of ours can still write on the file system of `path`.
absl::StatusOr<int64_t> FreeBytes(const std::filesystem::path& path);
// SHA-256 of the file, as 64 lower-case hex digits.
absl::StatusOr<std::string> FileSha256(const std::filesystem::path& path);
// The same of bytes in memory.
std::string Sha256(absl::string_view bytes);

// Takes an advisory lock on `path` (created when missing) for the life of the
// descriptor and writes our pid into it. Fails with FAILED_PRECONDITION /
// STORE_IN_USE and the holder's pid when another process has it.
absl::StatusOr<UniqueFd> LockFile(const std::filesystem::path& path);

// The folder of the running executable.
std::filesystem::path ExecutableDirectory();

}  // namespace traza

#endif  // BASE_FILE_H_
