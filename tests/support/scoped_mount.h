// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SUPPORT_SCOPED_MOUNT_H_
#define TESTS_SUPPORT_SCOPED_MOUNT_H_

#include <sched.h>
#include <sys/mount.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace traza {

// A mount that only this thread (and what it starts) sees, for tests of full
// and read-only disks; root's writes ignore modes. Not every machine lets a
// test mount: skip the test then, and say so.
//
//   auto disk = ScopedMount::Tmpfs(dir / "disk", 1 << 20);
//   if (!disk.ok()) GTEST_SKIP() << disk.status();
class ScopedMount {
 public:
  // An empty file system of `bytes` at the existing folder `path`.
  static absl::StatusOr<ScopedMount> Tmpfs(const std::filesystem::path& path,
                                           int64_t bytes) {
    if (absl::Status s = OwnMounts(); !s.ok()) return s;
    const std::string size = absl::StrCat("size=", bytes);
    if (::mount("tmpfs", path.c_str(), "tmpfs", 0, size.c_str()) != 0) {
      return Failed("mount tmpfs");
    }
    return ScopedMount(path);
  }

  // The folder `path` as it is, but read-only.
  static absl::StatusOr<ScopedMount> ReadOnly(
      const std::filesystem::path& path) {
    if (absl::Status s = OwnMounts(); !s.ok()) return s;
    if (::mount(path.c_str(), path.c_str(), nullptr, MS_BIND, nullptr) != 0) {
      return Failed("bind");
    }
    ScopedMount mount(path);
    if (::mount(nullptr, path.c_str(), nullptr,
                MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr) != 0) {
      return Failed("remount read-only");
    }
    return mount;
  }

  ScopedMount(ScopedMount&& other) noexcept
      : path_(std::exchange(other.path_, {})) {}
  ScopedMount& operator=(ScopedMount&&) = delete;
  ~ScopedMount() {
    if (!path_.empty()) ::umount2(path_.c_str(), MNT_DETACH);
  }

 private:
  explicit ScopedMount(std::filesystem::path path) : path_(std::move(path)) {}

  // Leaves the mounts of everybody else alone.
  static absl::Status OwnMounts() {
    if (::unshare(CLONE_NEWNS) != 0) return Failed("unshare mounts");
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
      return Failed("make mounts private");
    }
    return absl::OkStatus();
  }
  static absl::Status Failed(const char* what) {
    return absl::ErrnoToStatus(errno, absl::StrCat("Cannot ", what));
  }

  std::filesystem::path path_;
};

}  // namespace traza

#endif  // TESTS_SUPPORT_SCOPED_MOUNT_H_
