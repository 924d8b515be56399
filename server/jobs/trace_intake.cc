// SPDX-License-Identifier: Apache-2.0
#include "server/jobs/trace_intake.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"

#include "base/error.h"
#include "base/file.h"
#include "base/id.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "server/jobs/trace_summary.h"
#include "trace/file/parquet_file.h"
#include "trace/trace.h"

namespace traza {
namespace {

namespace fs = std::filesystem;

absl::Status Bad(Reason reason, absl::string_view what) {
  return ErrorBuilder(absl::StatusCode::kDataLoss, reason).Build(what);
}

// Only a plain file: a worker could leave a link to something that it may not
// read itself.
absl::Status CheckFile(const fs::path& path, const WorkerResult& result,
                       int64_t max_bytes) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  if (status.type() == fs::file_type::not_found) {
    return Bad(Reason::kTraceIncomplete, "The worker left no trace file.");
  }
  if (error || status.type() != fs::file_type::regular) {
    return Bad(Reason::kTraceIncomplete,
               "The worker left something that is not a file.");
  }
  ASSIGN_OR_RETURN(const int64_t bytes, FileSize(path));
  if (bytes > max_bytes) {
    return Bad(Reason::kTraceTooLarge,
               absl::StrCat("The trace has ", bytes, " bytes; the limit is ",
                            max_bytes, "."));
  }
  if (bytes != result.file_bytes) {
    return Bad(
        Reason::kTraceIncomplete,
        absl::StrCat("The trace file has ", bytes, " bytes; the worker wrote ",
                     result.file_bytes, "."));
  }
  return absl::OkStatus();
}

// A file that cannot be read is, seen from its job, one that was not written
// whole; only a trace of a newer version says so.
absl::Status AsIncomplete(const absl::Status& status) {
  if (absl::IsFailedPrecondition(status)) return status;
  return Bad(Reason::kTraceIncomplete,
             absl::StrCat("The trace file cannot be read: ",
                          std::string(status.message())));
}

std::string HostName() {
  std::array<char, 256> name = {};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

void FillFromJob(const Job& job, const WorkerResult& result, TraceRow* row) {
  row->job = job.id;
  row->workload = job.spec.workload;
  row->variant = job.spec.variant;
  row->device = job.spec.device;
  row->host = HostName();
  row->partial = result.partial;
  row->labels = job.spec.labels;
}

struct Stamp {
  uint64_t inode = 0;
  absl::Time modified;
};

absl::StatusOr<Stamp> StampOf(const fs::path& path) {
  struct stat info = {};
  if (::lstat(path.c_str(), &info) != 0) {
    return Bad(Reason::kTraceIncomplete, "The worker left no trace file.");
  }
  return Stamp{info.st_ino, absl::TimeFromTimespec(info.st_mtim)};
}

// Reads the file and answers the questions; the trace itself is gone after it.
absl::StatusOr<TakenTrace> Judge(const fs::path& path, const Job& job,
                                 const WorkerResult& result,
                                 const TraceIntakeOptions& options) {
  ParquetReadLimits limits;
  limits.max_file_bytes = options.max_trace_bytes;
  const absl::StatusOr<Trace> trace = ReadParquet(path, limits);
  if (!trace.ok()) return AsIncomplete(trace.status());
  const auto rows = static_cast<int64_t>(trace->rows());
  if (rows == 0) return Bad(Reason::kTraceEmpty, "The trace has no events.");
  if (rows != result.rows) {
    return Bad(Reason::kTraceIncomplete,
               absl::StrCat("The trace file has ", rows,
                            " rows; the worker wrote ", result.rows, "."));
  }
  TakenTrace taken = Summarize(*trace, options.encode_answer);
  FillFromJob(job, result, &taken.row);
  return taken;
}

}  // namespace

TraceIntake::TraceIntake(const TraceIntakeOptions& options, TraceStore& traces)
    : options_(options), traces_(traces) {}

absl::StatusOr<TraceIntake::ReadTrace> TraceIntake::Read(
    const Job& job, const WorkerResult& result) {
  const fs::path path = PathFor(job.id);
  ReadTrace read;
  RETURN_IF_ERROR(CheckFile(path, result, options_.max_trace_bytes));
  ASSIGN_OR_RETURN(const Stamp stamp, StampOf(path));
  read.inode = stamp.inode;
  read.modified = stamp.modified;
  ASSIGN_OR_RETURN(read.trace, Judge(path, job, result, options_));
  // The trace itself is gone here; nothing waits while its memory is held.
  ReleaseMemoryOf(result.rows);
  return read;
}

absl::StatusOr<TakenTrace> TraceIntake::Commit(const Job& job, ReadTrace read,
                                               absl::Time now) {
  const fs::path path = PathFor(job.id);
  ASSIGN_OR_RETURN(const Stamp stamp, StampOf(path));
  if (stamp.inode != read.inode || stamp.modified != read.modified) {
    return Bad(Reason::kTraceIncomplete,
               "The worker changed the trace file after its result.");
  }
  TakenTrace taken = std::move(read.trace);
  taken.row.id = TraceId{NewSortableId(now)};
  taken.row.create_time = now;
  ASSIGN_OR_RETURN(const TraceStore::Committed committed,
                   traces_.Commit(path, taken.row.id, now));
  taken.row.size_bytes = committed.size_bytes;
  taken.row.sha256 = committed.sha256;
  taken.counts.file_bytes = committed.size_bytes;
  return taken;
}

void TraceIntake::Undo(const TakenTrace& trace) {
  const absl::Status removed =
      traces_.Remove(trace.row.id, trace.row.create_time);
  if (!removed.ok()) LogWarning(removed.message());
}

fs::path TraceIntake::PathFor(const JobId& job) const {
  return traces_.TemporaryPath(job);
}

void TraceIntake::RemoveTemporary(const JobId& job) {
  std::error_code error;
  // A hostile worker may have made a folder of that name.
  fs::remove_all(PathFor(job), error);
  if (error) LogWarning("Cannot delete ", PathFor(job).native());
}

}  // namespace traza
