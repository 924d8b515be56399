// SPDX-License-Identifier: Apache-2.0
#include "server/jobs/trace_importer.h"

#include <fcntl.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

#include "base/error.h"
#include "base/file.h"
#include "base/id.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "server/store/job_json.h"
#include "spec/request_check.h"
#include "spec/violations.h"
#include "trace/file/any_trace.h"
#include "trace/file/kineto_file.h"
#include "trace/file/parquet_file.h"

namespace traza {
namespace {

namespace fs = std::filesystem;
using Format = ImportDescription::Format;

constexpr size_t kDigestDigits = 64;
// They are in memory at once, some 250 bytes each.
constexpr int64_t kMaxImportedEvents = 16'000'000;
// Of JSON: what gzip packs can be a thousand times its size.
constexpr int64_t kMaxUnpackedBytes = int64_t{16} << 30;

bool IsDigest(absl::string_view text) {
  return text.size() == kDigestDigits && std::ranges::all_of(text, [](char c) {
           return absl::ascii_isdigit(c) || (c >= 'a' && c <= 'f');
         });
}

absl::Status Check(const ImportDescription& description) {
  std::vector<FieldViolation> faults = CheckLabels(description.labels);
  if (description.size_bytes.value_or(0) < 0) {
    faults.push_back({"size_bytes", "must not be negative"});
  }
  if (description.sha256.has_value() && !IsDigest(*description.sha256)) {
    faults.push_back({"sha256", "must be 64 lower-case hex digits"});
  }
  if (faults.empty()) return absl::OkStatus();
  return ViolationsError(Reason::kInvalidArgument, faults);
}

absl::Status TooLarge(absl::string_view what, int64_t max_bytes) {
  return ErrorBuilder(absl::StatusCode::kInvalidArgument,
                      Reason::kTraceTooLarge)
      .With("max_trace_bytes", max_bytes)
      .Build(absl::StrCat(what, " has more than ", max_bytes,
                          " bytes, the limit of a trace here."));
}

absl::Status Incomplete(absl::string_view what) {
  return ErrorBuilder(absl::StatusCode::kInvalidArgument,
                      Reason::kTraceIncomplete)
      .Build(absl::StrCat(what, " Send it again."));
}

// What is wrong with the file is a fault of the request, and where the daemon
// keeps it is no concern of the client's.
absl::Status AsFaultOfRequest(const absl::Status& status,
                              const fs::path& path) {
  const std::optional<ErrorDetails> details = DetailsOf(status);
  if (!details.has_value() || details->reason == Reason::kStoreUnwritable) {
    return status;
  }
  const absl::StatusCode code = absl::IsDataLoss(status)
                                    ? absl::StatusCode::kInvalidArgument
                                    : status.code();
  ErrorBuilder error(code, details->reason);
  for (const auto& [key, value] : details->metadata) error.With(key, value);
  absl::string_view message = status.message();
  absl::ConsumePrefix(&message, absl::StrCat(path.native(), ": "));
  return error.Build(message);
}

absl::StatusOr<Trace> ReadAs(TraceFormat format, const fs::path& path) {
  if (format == TraceFormat::kParquet) {
    return ReadParquet(path, {.max_rows = kMaxImportedEvents});
  }
  return ReadKinetoFile(
      path, {.max_events = kMaxImportedEvents, .max_bytes = kMaxUnpackedBytes});
}

absl::Status WrongFormat(absl::string_view said, absl::string_view is) {
  return ErrorBuilder(absl::StatusCode::kInvalidArgument,
                      Reason::kInvalidArgument)
      .Violation("format", absl::StrCat("says ", said, "; the data is ", is))
      .Build(absl::StrCat("The data is ", is, ", not ", said,
                          "; leave the format out or correct it."));
}

absl::Status CheckFormat(Format said, TraceFormat is) {
  if (said == Format::kParquet && is != TraceFormat::kParquet) {
    return WrongFormat("Parquet", "something else");
  }
  if (said == Format::kKineto && is == TraceFormat::kParquet) {
    return WrongFormat("the JSON of torch.profiler", "Parquet");
  }
  return absl::OkStatus();
}

}  // namespace

TraceImporter::Upload::Upload(TraceImporter& importer,
                              ImportDescription description, TraceId id)
    : importer_(importer),
      description_(std::move(description)),
      id_(std::move(id)) {}

TraceImporter::Upload::~Upload() {
  for (const fs::path& path : {importer_.traces_.UploadPath(id_),
                               importer_.traces_.ConvertedPath(id_)}) {
    const absl::Status removed = RemoveFile(path);
    if (!removed.ok()) LogWarning(removed.message());
  }
}

absl::Status TraceImporter::Upload::Append(absl::string_view bytes) {
  const int64_t max_bytes = importer_.options_.max_trace_bytes;
  if (static_cast<int64_t>(bytes.size()) > max_bytes - size_bytes_) {
    return TooLarge("What is sent", max_bytes);
  }
  size_bytes_ += static_cast<int64_t>(bytes.size());
  return WriteAll(fd_.get(), bytes);
}

TraceImporter::TraceImporter(TraceImporterOptions options, JobStore& jobs,
                             TraceStore& traces, Metrics& metrics,
                             const Clock& clock)
    : options_(std::move(options)),
      jobs_(jobs),
      traces_(traces),
      metrics_(metrics),
      clock_(clock) {}

absl::StatusOr<std::unique_ptr<TraceImporter::Upload>> TraceImporter::Begin(
    ImportDescription description) {
  RETURN_IF_ERROR(Check(description));
  if (description.size_bytes.value_or(0) > options_.max_trace_bytes) {
    return TooLarge("The file", options_.max_trace_bytes);
  }
  const int64_t stored = jobs_.SumTraces()->bytes;
  if (stored + description.size_bytes.value_or(0) > options_.max_store_bytes) {
    return ErrorBuilder(absl::StatusCode::kResourceExhausted,
                        Reason::kStoreFull)
        .With("stored_bytes", stored)
        .With("max_store_bytes", options_.max_store_bytes)
        .Build(absl::StrCat(
            "The traces have ", stored, " bytes, and the limit is ",
            options_.max_store_bytes, "; delete some before you import more."));
  }
  std::unique_ptr<Upload> upload(new Upload(
      *this, std::move(description), TraceId{NewSortableId(clock_.Now())}));
  ASSIGN_OR_RETURN(upload->fd_, OpenFile(traces_.UploadPath(upload->id_),
                                         O_WRONLY | O_CREAT | O_EXCL));
  return upload;
}

absl::StatusOr<TraceRow> TraceImporter::Finish(Upload& upload) {
  upload.fd_ = UniqueFd();
  const ImportDescription& description = upload.description_;
  if (description.size_bytes.value_or(upload.size_bytes_) !=
      upload.size_bytes_) {
    return Incomplete(absl::StrCat("The file has ", *description.size_bytes,
                                   " bytes, and ", upload.size_bytes_,
                                   " arrived."));
  }
  ASSIGN_OR_RETURN(const std::string sha256,
                   FileSha256(traces_.UploadPath(upload.id_)));
  if (description.sha256.value_or(sha256) != sha256) {
    return Incomplete(absl::StrCat("The file has the SHA-256 ",
                                   *description.sha256, ", and ", sha256,
                                   " arrived."));
  }
  const fs::path sent = traces_.UploadPath(upload.id_);
  const absl::StatusOr<TraceFormat> format = TraceFormatOf(sent);
  if (!format.ok()) return AsFaultOfRequest(format.status(), sent);
  RETURN_IF_ERROR(CheckFormat(description.format, *format));
  TakenTrace taken;
  fs::path file;
  {
    ASSIGN_OR_RETURN(const Trace trace, Read(upload, *format));
    taken = Summarize(trace, options_.encode_answer);
    const Header& header = trace.header;
    taken.row.workload = header.job.workload;
    taken.row.variant = header.job.variant;
    taken.row.device =
        header.device.id.empty() ? header.job.device : header.device.id;
    taken.row.host = header.host;
    taken.row.labels = description.labels;
    ASSIGN_OR_RETURN(file, FileToStore(upload, *format, trace));
  }
  ReleaseMemoryOf(taken.row.rows);
  return Store(upload, sha256, file, std::move(taken));
}

absl::StatusOr<Trace> TraceImporter::Read(const Upload& upload,
                                          TraceFormat format) const {
  const fs::path path = traces_.UploadPath(upload.id_);
  absl::StatusOr<Trace> trace = ReadAs(format, path);
  if (!trace.ok()) return AsFaultOfRequest(trace.status(), path);
  if (trace->rows() > 0) return trace;
  return ErrorBuilder(absl::StatusCode::kInvalidArgument, Reason::kTraceEmpty)
      .Build(
          "The file has no events: nothing ran while the profiler was on, or "
          "it was written before the first active step was done.");
}

absl::StatusOr<fs::path> TraceImporter::FileToStore(const Upload& upload,
                                                    TraceFormat format,
                                                    const Trace& trace) const {
  if (format == TraceFormat::kParquet) return traces_.UploadPath(upload.id_);
  fs::path converted = traces_.ConvertedPath(upload.id_);
  ASSIGN_OR_RETURN(const int64_t bytes, WriteParquet(trace, converted));
  if (bytes > options_.max_trace_bytes) {
    return TooLarge("The trace", options_.max_trace_bytes);
  }
  return converted;
}

absl::StatusOr<TraceRow> TraceImporter::Store(const Upload& upload,
                                              const std::string& sha256,
                                              const fs::path& file,
                                              TakenTrace taken) {
  TraceRow& row = taken.row;
  row.id = upload.id_;
  row.create_time = clock_.Now();
  ASSIGN_OR_RETURN(const TraceStore::Committed committed,
                   traces_.Commit(file, row.id, row.create_time));
  row.size_bytes = committed.size_bytes;
  row.sha256 = committed.sha256;
  taken.counts.file_bytes = committed.size_bytes;
  const JobStore::ImportRequest request = {
      upload.description_.request_id,
      Sha256(absl::StrCat(sha256, LabelsToJson(row.labels)))};
  absl::StatusOr<JobStore::Imported> imported =
      jobs_.AddImport(row, taken.answer, request);
  if (!imported.ok() || !imported->created) {
    const absl::Status removed = traces_.Remove(row.id, row.create_time);
    if (!removed.ok()) LogWarning(removed.message());
    RETURN_IF_ERROR(imported.status());
    return imported->trace;
  }
  // Its records were neither made nor lost here.
  metrics_.TraceCommitted(kImportedWorkload,
                          {.validity = taken.counts.validity,
                           .file_bytes = taken.counts.file_bytes,
                           .records = {},
                           .lost = {}});
  const JobStore::TraceTotals totals = *jobs_.SumTraces();
  metrics_.StoreUsage(totals.count, totals.bytes);
  return row;
}

}  // namespace traza
