// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_STORE_TRACE_STORE_H_
#define SERVER_STORE_TRACE_STORE_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "spec/job.h"

namespace traza {

// The trace files below the data folder:
//   tmp/JOB.parquet                       while a worker writes it
//   tmp/import-TRACE{.upload,.parquet}    while it is imported
//   traces/yyyy-mm-dd/TRACE.parquet       committed (UTC date of creation)
//
// Thread-safe: immutable but for the disk.
class TraceStore {
 public:
  // Makes the folders; deletes what is left in tmp/.
  static absl::StatusOr<std::unique_ptr<TraceStore>> Open(
      const std::filesystem::path& data_dir);

  // Deletes what is in tmp/, once nobody writes there any more.
  absl::Status EmptyTemporary() const;

  std::filesystem::path TemporaryPath(const JobId& job) const;
  // Of an import: the file as it arrives, and the one that is made of it.
  std::filesystem::path UploadPath(const TraceId& trace) const;
  std::filesystem::path ConvertedPath(const TraceId& trace) const;
  std::filesystem::path PathOf(const TraceId& trace, absl::Time created) const;

  struct Committed {
    int64_t size_bytes = 0;
    std::string sha256;
  };
  // fsync of the file, rename, fsync of the folder. After an error the
  // temporary is gone.
  absl::StatusOr<Committed> Commit(const std::filesystem::path& temporary,
                                   const TraceId& trace, absl::Time created);

  absl::Status Remove(const TraceId& trace, absl::Time created);

  // Deletes committed files for which `known` is false: left by a crash between
  // rename and transaction. Returns how many.
  absl::StatusOr<int> RemoveUnknown(
      const std::function<bool(const TraceId&)>& known);

 private:
  explicit TraceStore(std::filesystem::path data_dir);

  absl::StatusOr<Committed> Move(const std::filesystem::path& temporary,
                                 const std::filesystem::path& path) const;

  const std::filesystem::path data_dir_;
};

}  // namespace traza

#endif  // SERVER_STORE_TRACE_STORE_H_
