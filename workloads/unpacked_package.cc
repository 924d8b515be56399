// SPDX-License-Identifier: Apache-2.0
#include "workloads/unpacked_package.h"

#include <sys/stat.h>
#include <unistd.h>

#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

#include "spec/package_file.h"

namespace traza {
namespace {

std::set<std::string> FoldersOf(const std::filesystem::path& parent) {
  std::set<std::string> folders;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(parent, error), end;
       !error && entry != end; entry.increment(error)) {
    struct stat info = {};
    if (::lstat(entry->path().c_str(), &info) == 0 && S_ISDIR(info.st_mode) &&
        info.st_uid == ::geteuid()) {
      folders.insert(entry->path().filename().native());
    }
  }
  return folders;
}

// Whether there are files in the folder, and only such of `names`.
bool HoldsOnly(const std::filesystem::path& folder,
               const std::set<std::string>& names) {
  bool any = false;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator entry(folder, error), end;
       !error && entry != end; entry.increment(error)) {
    if (entry->is_directory(error) && !entry->is_symlink(error)) continue;
    if (!names.contains(entry->path().lexically_relative(folder).native())) {
      return false;
    }
    any = true;
  }
  return any && !error;
}

}  // namespace

UnpackedPackage::UnpackedPackage(std::filesystem::path package,
                                 std::filesystem::path temporary)
    : package_(std::move(package)),
      temporary_(std::move(temporary)),
      before_(FoldersOf(temporary_)) {}

void UnpackedPackage::RemoveLeftovers() const {
  const absl::StatusOr<std::vector<ArchiveMember>> members =
      ReadArchive(package_);
  if (!members.ok()) return;
  std::set<std::string> names;
  for (const ArchiveMember& member : *members) names.insert(member.name);
  for (const std::string& name : FoldersOf(temporary_)) {
    const std::filesystem::path folder = temporary_ / name;
    if (before_.contains(name) || !HoldsOnly(folder, names)) continue;
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
}

}  // namespace traza
