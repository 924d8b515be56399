// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "openssl/evp.h"

#include "base/check.h"
#include "base/error.h"
#include "base/id.h"
#include "base/status_macros.h"

namespace traza {
namespace {

constexpr int64_t kChunkBytes = 256 * 1024;

// The status of the last failed call on `path`.
absl::Status PathError(absl::string_view what,
                       const std::filesystem::path& path) {
  return ErrnoStatus(errno, absl::StrCat(what, " ", path.native()));
}

absl::Status SyncDescriptor(int fd, const std::filesystem::path& path) {
  if (::fsync(fd) != 0) return PathError("Cannot sync", path);
  return absl::OkStatus();
}

// read(2) across EINTR.
ssize_t ReadSome(int fd, char* buffer, size_t size) {
  ssize_t n;
  do {
    n = ::read(fd, buffer, size);
  } while (n < 0 && errno == EINTR);
  return n;
}

absl::Status WriteSynced(const std::filesystem::path& path,
                         absl::string_view bytes) {
  ASSIGN_OR_RETURN(UniqueFd fd,
                   OpenFile(path, O_WRONLY | O_CREAT | O_EXCL, 0600));
  if (absl::Status written = WriteAll(fd.get(), bytes); !written.ok()) {
    return Annotate(written, path.native());
  }
  return SyncDescriptor(fd.get(), path);
}

struct DigestDeleter {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

}  // namespace

absl::StatusOr<UniqueFd> OpenFile(const std::filesystem::path& path, int flags,
                                  int mode) {
  int fd;
  do {
    fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  if (fd >= 0) return UniqueFd(fd);
  // A file that may not be read says nothing about the data folder.
  if (errno == EACCES && (flags & O_ACCMODE) == O_RDONLY) {
    return absl::ErrnoToStatus(errno,
                               absl::StrCat("Cannot open ", path.native()));
  }
  return PathError("Cannot open", path);
}

absl::StatusOr<std::string> ReadFile(const std::filesystem::path& path,
                                     int64_t max_bytes) {
  ASSIGN_OR_RETURN(UniqueFd fd, OpenFile(path, O_RDONLY));
  // Read to the end instead of trusting a size: files of /proc say 0, and a
  // file may grow meanwhile.
  std::string bytes;
  size_t used = 0;
  while (true) {
    bytes.resize(used + static_cast<size_t>(kChunkBytes));
    const ssize_t n =
        ReadSome(fd.get(), bytes.data() + used, bytes.size() - used);
    if (n < 0) return PathError("Cannot read", path);
    used += static_cast<size_t>(n);
    if (static_cast<int64_t>(used) > max_bytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat(path.native(), " is larger than ", max_bytes, " bytes"));
    }
    if (n == 0) break;
  }
  bytes.resize(used);
  return bytes;
}

absl::StatusOr<std::string> ReadFileAt(int fd, int64_t offset, int64_t size) {
  if (offset < 0 || size < 0) {
    return absl::InvalidArgumentError("Offset and size must not be negative");
  }
  std::string bytes(static_cast<size_t>(size), '\0');
  size_t used = 0;
  while (used < bytes.size()) {
    const ssize_t n = ::pread(fd, bytes.data() + used, bytes.size() - used,
                              offset + static_cast<int64_t>(used));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus(errno, "Cannot read a file");
    if (n == 0) break;
    used += static_cast<size_t>(n);
  }
  bytes.resize(used);
  return bytes;
}

absl::Status WriteFileAtomically(const std::filesystem::path& path,
                                 absl::string_view bytes) {
  const std::filesystem::path temporary =
      absl::StrCat(path.native(), ".", NewSortableId(absl::Now()), ".tmp");
  absl::Status status = WriteSynced(temporary, bytes);
  if (status.ok()) status = RenameFile(temporary, path);
  if (!status.ok()) {
    ::unlink(temporary.c_str());
    return status;
  }
  // Without this the new name may be lost with the power.
  const std::filesystem::path folder = path.parent_path();
  return SyncDirectory(folder.empty() ? "." : folder);
}

absl::Status WriteAll(int fd, absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus(errno, "Cannot write");
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return absl::OkStatus();
}

absl::Status SyncFile(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(UniqueFd fd, OpenFile(path, O_RDONLY));
  return SyncDescriptor(fd.get(), path);
}

absl::Status SyncDirectory(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(UniqueFd fd, OpenFile(path, O_RDONLY | O_DIRECTORY));
  return SyncDescriptor(fd.get(), path);
}

absl::Status RenameFile(const std::filesystem::path& from,
                        const std::filesystem::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) {
    return PathError(absl::StrCat("Cannot rename ", from.native(), " to"), to);
  }
  return absl::OkStatus();
}

absl::Status MakeDirectories(const std::filesystem::path& path) {
  std::filesystem::path prefix;
  for (const std::filesystem::path& part : path) {
    prefix /= part;
    if (::mkdir(prefix.c_str(), 0700) == 0) continue;
    const int error = errno;
    struct stat info;
    if (::stat(prefix.c_str(), &info) == 0) {
      if (S_ISDIR(info.st_mode)) continue;
      return ErrnoStatus(ENOTDIR,
                         absl::StrCat("Cannot make folder ", prefix.native()));
    }
    return ErrnoStatus(error,
                       absl::StrCat("Cannot make folder ", prefix.native()));
  }
  return absl::OkStatus();
}

absl::Status RemoveFile(const std::filesystem::path& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
    return PathError("Cannot delete", path);
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> FileSize(const std::filesystem::path& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) {
    return PathError("Cannot get the size of", path);
  }
  return int64_t{info.st_size};
}

absl::StatusOr<int64_t> FreeBytes(const std::filesystem::path& path) {
  struct statvfs info;
  if (::statvfs(path.c_str(), &info) != 0) {
    return PathError("Cannot get the free space of", path);
  }
  return static_cast<int64_t>(info.f_bavail) *
         static_cast<int64_t>(info.f_frsize);
}

absl::StatusOr<std::string> FileSha256(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(UniqueFd fd, OpenFile(path, O_RDONLY));
  const std::unique_ptr<EVP_MD_CTX, DigestDeleter> context(EVP_MD_CTX_new());
  bool ok = context != nullptr &&
            EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1;
  std::string chunk(static_cast<size_t>(kChunkBytes), '\0');
  while (ok) {
    const ssize_t n = ReadSome(fd.get(), chunk.data(), chunk.size());
    if (n < 0) return PathError("Cannot read", path);
    if (n == 0) break;
    ok = EVP_DigestUpdate(context.get(), chunk.data(),
                          static_cast<size_t>(n)) == 1;
  }
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  ok = ok && EVP_DigestFinal_ex(context.get(), digest, &size) == 1;
  if (!ok) return absl::InternalError("OpenSSL cannot compute SHA-256");
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(digest), size));
}

std::string Sha256(absl::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  TRAZA_CHECK(EVP_Digest(bytes.data(), bytes.size(), digest, &size,
                         EVP_sha256(), nullptr) == 1);
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(digest), size));
}

absl::StatusOr<UniqueFd> LockFile(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(UniqueFd fd, OpenFile(path, O_RDWR | O_CREAT, 0600));
  int locked;
  do {
    locked = ::flock(fd.get(), LOCK_EX | LOCK_NB);
  } while (locked != 0 && errno == EINTR);
  if (locked != 0 && errno != EWOULDBLOCK) {
    return PathError("Cannot lock", path);
  }
  if (locked != 0) {
    // The holder may not have written its pid yet.
    ASSIGN_OR_RETURN(const std::string text, ReadFileAt(fd.get(), 0, 20));
    const std::string pid(absl::StripAsciiWhitespace(text));
    return ErrorBuilder(absl::StatusCode::kFailedPrecondition,
                        Reason::kStoreInUse)
        .With("path", path.native())
        .With("pid", pid)
        .Build(absl::StrCat(
            path.native(), " is locked by ",
            pid.empty() ? "another process" : absl::StrCat("process ", pid),
            "."));
  }
  if (::ftruncate(fd.get(), 0) != 0) return PathError("Cannot write", path);
  if (absl::Status written = WriteAll(fd.get(), absl::StrCat(::getpid(), "\n"));
      !written.ok()) {
    return Annotate(written, path.native());
  }
  return fd;
}

std::filesystem::path ExecutableDirectory() {
  std::error_code error;
  const std::filesystem::path self =
      std::filesystem::read_symlink("/proc/self/exe", error);
  return self.parent_path();
}

}  // namespace traza
