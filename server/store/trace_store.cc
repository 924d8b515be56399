// SPDX-License-Identifier: Apache-2.0
#include "server/store/trace_store.h"

#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/file.h"
#include "base/id.h"
#include "base/log.h"
#include "base/status_macros.h"

namespace traza {
namespace {

namespace fs = std::filesystem;

constexpr char kSuffix[] = ".parquet";

std::string DateOf(absl::Time time) {
  return absl::FormatTime("%Y-%m-%d", time, absl::UTCTimeZone());
}

absl::StatusOr<std::vector<fs::path>> Children(const fs::path& folder) {
  std::vector<fs::path> children;
  std::error_code error;
  fs::directory_iterator it(folder, error);
  for (; !error && it != fs::directory_iterator(); it.increment(error)) {
    children.push_back(it->path());
  }
  if (error) {
    return ErrnoStatus(error.value(),
                       absl::StrCat("Cannot list ", folder.native()));
  }
  return children;
}

}  // namespace

TraceStore::TraceStore(fs::path data_dir) : data_dir_(std::move(data_dir)) {}

absl::StatusOr<std::unique_ptr<TraceStore>> TraceStore::Open(
    const fs::path& data_dir) {
  RETURN_IF_ERROR(MakeDirectories(data_dir / "tmp"));
  RETURN_IF_ERROR(MakeDirectories(data_dir / "traces"));
  std::unique_ptr<TraceStore> store(new TraceStore(data_dir));
  RETURN_IF_ERROR(store->EmptyTemporary());
  return store;
}

absl::Status TraceStore::EmptyTemporary() const {
  ASSIGN_OR_RETURN(const std::vector<fs::path> left,
                   Children(data_dir_ / "tmp"));
  for (const fs::path& path : left) {
    std::error_code error;
    fs::remove_all(path, error);
    if (error) {
      return ErrnoStatus(error.value(),
                         absl::StrCat("Cannot delete ", path.native()));
    }
  }
  return absl::OkStatus();
}

fs::path TraceStore::TemporaryPath(const JobId& job) const {
  return data_dir_ / "tmp" / absl::StrCat(job.value, kSuffix);
}

fs::path TraceStore::UploadPath(const TraceId& trace) const {
  return data_dir_ / "tmp" / absl::StrCat("import-", trace.value, ".upload");
}

fs::path TraceStore::ConvertedPath(const TraceId& trace) const {
  return data_dir_ / "tmp" / absl::StrCat("import-", trace.value, kSuffix);
}

fs::path TraceStore::PathOf(const TraceId& trace, absl::Time created) const {
  return data_dir_ / "traces" / DateOf(created) /
         absl::StrCat(trace.value, kSuffix);
}

absl::StatusOr<TraceStore::Committed> TraceStore::Commit(
    const fs::path& temporary, const TraceId& trace, absl::Time created) {
  absl::StatusOr<Committed> committed = Move(temporary, PathOf(trace, created));
  if (!committed.ok()) {
    if (const absl::Status removed = RemoveFile(temporary); !removed.ok()) {
      LogWarning(removed.message());
    }
    // The rename may have been done and only its fsync have failed.
    if (const absl::Status removed = Remove(trace, created); !removed.ok()) {
      LogWarning(removed.message());
    }
  }
  return committed;
}

absl::StatusOr<TraceStore::Committed> TraceStore::Move(
    const fs::path& temporary, const fs::path& path) const {
  Committed committed;
  ASSIGN_OR_RETURN(committed.size_bytes, FileSize(temporary));
  ASSIGN_OR_RETURN(committed.sha256, FileSha256(temporary));
  std::error_code error;
  const bool new_day = !fs::exists(path.parent_path(), error);
  RETURN_IF_ERROR(MakeDirectories(path.parent_path()));
  if (new_day) RETURN_IF_ERROR(SyncDirectory(data_dir_ / "traces"));
  // Rename is the commit point: before it a crash leaves a temporary that the
  // next start deletes, after it a complete trace. The folder needs an fsync of
  // its own or the new name may be lost with the power.
  RETURN_IF_ERROR(SyncFile(temporary));
  RETURN_IF_ERROR(RenameFile(temporary, path));
  RETURN_IF_ERROR(SyncDirectory(path.parent_path()));
  return committed;
}

absl::Status TraceStore::Remove(const TraceId& trace, absl::Time created) {
  const fs::path path = PathOf(trace, created);
  RETURN_IF_ERROR(RemoveFile(path));
  // Succeeds only on the last trace of a day.
  std::error_code ignored;
  fs::remove(path.parent_path(), ignored);
  return absl::OkStatus();
}

absl::StatusOr<int> TraceStore::RemoveUnknown(
    const std::function<bool(const TraceId&)>& known) {
  int removed = 0;
  ASSIGN_OR_RETURN(const std::vector<fs::path> days,
                   Children(data_dir_ / "traces"));
  for (const fs::path& day : days) {
    std::error_code ignored;
    if (!fs::is_directory(fs::symlink_status(day, ignored))) continue;
    ASSIGN_OR_RETURN(const std::vector<fs::path> files, Children(day));
    for (const fs::path& file : files) {
      // What somebody else put here is not ours to delete.
      if (file.extension() != kSuffix || !IsResourceId(file.stem().native())) {
        continue;
      }
      if (known(TraceId{file.stem().native()})) continue;
      RETURN_IF_ERROR(RemoveFile(file));
      ++removed;
    }
    fs::remove(day, ignored);
  }
  return removed;
}

}  // namespace traza
