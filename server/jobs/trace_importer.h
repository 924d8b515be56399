// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_JOBS_TRACE_IMPORTER_H_
#define SERVER_JOBS_TRACE_IMPORTER_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "base/clock.h"
#include "base/unique_fd.h"
#include "server/jobs/trace_summary.h"
#include "server/metrics/metrics.h"
#include "server/store/job_store.h"
#include "server/store/trace_store.h"
#include "spec/job.h"
#include "trace/file/any_trace.h"
#include "trace/trace.h"

namespace traza {

struct TraceImporterOptions {
  int64_t max_trace_bytes = int64_t{1} << 30;  // as sent, and as stored
  int64_t max_store_bytes = int64_t{100} << 30;
  AnswerEncoder encode_answer;
};

// What a client says of a file that it sends.
struct ImportDescription {
  enum class Format { kAny, kParquet, kKineto };
  Format format = Format::kAny;  // kAny: told from the first bytes
  std::map<std::string, std::string> labels;
  std::optional<int64_t> size_bytes;
  std::optional<std::string> sha256;  // 64 lower-case hex digits
  std::string request_id;             // empty: the import cannot be repeated
};

// Takes traces that were made elsewhere into the store: a file of traza as it
// is, one of torch.profiler as a file of ours. They are hostile input.
//
// Thread-safe. What it is made of must outlive it and every Upload.
class TraceImporter {
 public:
  TraceImporter(TraceImporterOptions options, JobStore& jobs,
                TraceStore& traces, Metrics& metrics, const Clock& clock);

  // A file that is still being sent. Its temporaries go with it.
  // Thread-compatible.
  class Upload {
   public:
    ~Upload();
    Upload(const Upload&) = delete;
    Upload& operator=(const Upload&) = delete;

    // TRACE_TOO_LARGE; STORE_FULL, STORE_UNWRITABLE.
    absl::Status Append(absl::string_view bytes);

   private:
    friend class TraceImporter;
    Upload(TraceImporter& importer, ImportDescription description, TraceId id);

    TraceImporter& importer_;
    const ImportDescription description_;
    const TraceId id_;
    UniqueFd fd_;
    int64_t size_bytes_ = 0;
  };

  // INVALID_ARGUMENT for a fault of the description; STORE_FULL.
  absl::StatusOr<std::unique_ptr<Upload>> Begin(ImportDescription description);

  // Once all bytes are there: reads, checks, answers and stores. A repeated
  // request id gives back the trace that it made. Reasons: TRACE_INCOMPLETE
  // when size or digest differ from what was said or the file is cut off,
  // TRACE_UNREADABLE, TRACE_EMPTY, TRACE_TOO_LARGE, REQUEST_ID_REUSED,
  // STORE_FULL, STORE_UNWRITABLE.
  absl::StatusOr<TraceRow> Finish(Upload& upload);

 private:
  absl::StatusOr<Trace> Read(const Upload& upload, TraceFormat format) const;
  // The file that is to be stored.
  absl::StatusOr<std::filesystem::path> FileToStore(const Upload& upload,
                                                    TraceFormat format,
                                                    const Trace& trace) const;
  absl::StatusOr<TraceRow> Store(const Upload& upload,
                                 const std::string& sha256,
                                 const std::filesystem::path& file,
                                 TakenTrace taken);

  const TraceImporterOptions options_;
  JobStore& jobs_;
  TraceStore& traces_;
  Metrics& metrics_;
  const Clock& clock_;
};

}  // namespace traza

#endif  // SERVER_JOBS_TRACE_IMPORTER_H_
