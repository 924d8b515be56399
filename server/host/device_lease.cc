// SPDX-License-Identifier: Apache-2.0
#include "server/host/device_lease.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

#include "base/error.h"
#include "base/file.h"
#include "base/status_macros.h"

namespace traza {
namespace {

constexpr size_t kMaxUuidBytes = 128;
constexpr int64_t kMaxLocksBytes = 4 << 20;

// Like /tmp: everybody may add files, only their owner may remove them.
constexpr mode_t kFolderMode = 01777;
// A lock needs no more than a descriptor, so reading is enough for anybody.
constexpr mode_t kFileMode = 0644;

absl::Status PathError(absl::string_view what,
                       const std::filesystem::path& path) {
  return ErrnoStatus(errno, absl::StrCat(what, " ", path.native()));
}

bool IsUuid(const std::string& text) {
  return !text.empty() && text.size() <= kMaxUuidBytes &&
         std::ranges::all_of(text, [](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
                  c == '-';
         });
}

// The mode of the umask is not that of others' daemons: hence the chmod.
absl::Status MakeSharedFolder(const std::filesystem::path& folder) {
  if (::mkdir(folder.c_str(), kFolderMode) != 0) {
    if (errno == EEXIST) return absl::OkStatus();
    return PathError("Cannot create", folder);
  }
  if (::chmod(folder.c_str(), kFolderMode) != 0) {
    return PathError("Cannot open to all users", folder);
  }
  return absl::OkStatus();
}

// Without O_CREAT first: in a folder like /tmp the kernel refuses it for a file
// of somebody else's.
absl::StatusOr<UniqueFd> OpenShared(const std::filesystem::path& path) {
  // Nor waits for the other end of somebody's pipe.
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  UniqueFd fd(::open(path.c_str(), kFlags));
  if (!fd.valid() && errno == ENOENT) {
    fd = UniqueFd(::open(path.c_str(), kFlags | O_CREAT | O_EXCL, kFileMode));
    if (fd.valid()) {
      if (::fchmod(fd.get(), kFileMode) != 0) {
        return PathError("Cannot open to all users", path);
      }
    } else if (errno == EEXIST) {
      fd = UniqueFd(::open(path.c_str(), kFlags));
    }
  }
  if (!fd.valid()) return PathError("Cannot open", path);
  return fd;
}

// A locked descriptor, or none if another process has the lock.
absl::StatusOr<UniqueFd> TryLock(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(UniqueFd fd, OpenShared(path));
  int locked;
  do {
    locked = ::flock(fd.get(), LOCK_EX | LOCK_NB);
  } while (locked != 0 && errno == EINTR);
  if (locked == 0) return fd;
  if (errno == EWOULDBLOCK) return UniqueFd();
  return PathError("Cannot lock", path);
}

// Not by closing alone: a process that is just being started has a copy of the
// descriptor until it is exec'ed.
void Unlock(UniqueFd* fd) {
  if (fd->valid()) ::flock(fd->get(), LOCK_UN);
  fd->Reset();
}

}  // namespace

absl::StatusOr<std::unique_ptr<DeviceLease>> DeviceLease::Create(
    const std::filesystem::path& folder, const std::string& uuid) {
  if (!IsUuid(uuid)) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", uuid, "\" is no UUID of a GPU."));
  }
  RETURN_IF_ERROR(MakeSharedFolder(folder));
  std::unique_ptr<DeviceLease> lease(
      new DeviceLease(folder / absl::StrCat(uuid, ".lock"),
                      folder / absl::StrCat(uuid, ".next")));
  RETURN_IF_ERROR(OpenShared(lease->lock_path_).status());
  RETURN_IF_ERROR(OpenShared(lease->turn_path_).status());
  return lease;
}

DeviceLease::DeviceLease(std::filesystem::path lock_path,
                         std::filesystem::path turn_path)
    : lock_path_(std::move(lock_path)), turn_path_(std::move(turn_path)) {}

DeviceLease::~DeviceLease() { Release(); }

absl::StatusOr<bool> DeviceLease::TryAcquire(IfTaken if_taken) {
  if (held()) return true;
  if (!turn_.valid()) {
    ASSIGN_OR_RETURN(turn_, TryLock(turn_path_));
    if (!turn_.valid()) return false;
  }
  absl::StatusOr<UniqueFd> lock = TryLock(lock_path_);
  if (lock.ok()) lock_ = *std::move(lock);
  if (held() || if_taken == IfTaken::kGiveUp) Unlock(&turn_);
  RETURN_IF_ERROR(lock.status());
  return held();
}

void DeviceLease::Release() {
  Unlock(&lock_);
  Unlock(&turn_);
}

// A line of /proc/locks: "1: FLOCK  ADVISORY  WRITE 4242 00:1a:137 0 EOF", with
// the process, and the file as device (hexadecimal) and inode.
std::optional<pid_t> DeviceLease::Holder() const {
  struct stat file;
  if (::stat(lock_path_.c_str(), &file) != 0) return std::nullopt;
  const auto locks = ReadFile("/proc/locks", kMaxLocksBytes);
  if (!locks.ok()) return std::nullopt;
  for (const absl::string_view line : absl::StrSplit(*locks, '\n')) {
    const std::vector<absl::string_view> words =
        absl::StrSplit(line, ' ', absl::SkipWhitespace());
    if (words.size() < 6 || words[1] != "FLOCK") continue;
    const std::vector<absl::string_view> id = absl::StrSplit(words[5], ':');
    uint32_t major = 0;
    uint32_t minor = 0;
    uint64_t inode = 0;
    pid_t pid = 0;
    if (id.size() == 3 && absl::SimpleHexAtoi(id[0], &major) &&
        absl::SimpleHexAtoi(id[1], &minor) && absl::SimpleAtoi(id[2], &inode) &&
        absl::SimpleAtoi(words[4], &pid) && inode == file.st_ino &&
        makedev(major, minor) == file.st_dev) {
      return pid;
    }
  }
  return std::nullopt;
}

}  // namespace traza
