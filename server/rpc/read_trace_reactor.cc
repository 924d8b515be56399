// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/read_trace_reactor.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "server/rpc/limits.h"
#include "server/rpc/on_throw.h"
#include "server/rpc/validate.h"

namespace traza {
namespace {

constexpr char kParquetMediaType[] = "application/vnd.apache.parquet";

}  // namespace

grpc::ServerWriteReactor<v1::FileChunk>* ReadTraceReactor::Start(
    const ReadTraceParts& parts, CallRecord record, StreamLimit::Permit permit,
    Range range) {
  const std::shared_ptr<ReadTraceReactor> self(new ReadTraceReactor(
      parts, std::move(record), std::move(permit), std::move(range)));
  self->self_ = self;
  self->PostRead();
  return self.get();
}

ReadTraceReactor::ReadTraceReactor(const ReadTraceParts& parts,
                                   CallRecord record,
                                   StreamLimit::Permit permit, Range range)
    : parts_(parts),
      range_(std::move(range)),
      record_(std::move(record)),
      permit_(std::move(permit)) {}

void ReadTraceReactor::PostRead() {
  // A copy: the end may come while the executor still holds its own.
  const std::shared_ptr<ReadTraceReactor> self = self_;
  if (!parts_.executor.Post([self] { self->Read(); })) {
    End(TooManyRequests("requests in progress"));
  }
}

void ReadTraceReactor::Read() {
  OnThrow end_anyway(
      [this] { End(absl::InternalError("reading a trace threw")); });
  const absl::Status status = cancelled_ ? ClientGone() : ReadChunk();
  end_anyway.Dismiss();
  turns_.fetch_add(1, std::memory_order_release);
  if (status.ok()) {
    StartWrite(&message_);
  } else {
    End(status);
  }
}

absl::StatusOr<const TraceFile*> ReadTraceReactor::OpenFile() {
  if (file_.has_value()) return &*file_;
  ASSIGN_OR_RETURN(const TraceRow row, parts_.jobs.GetTrace(range_.id));
  if (range_.offset > row.size_bytes) {
    return InvalidField("read_offset",
                        absl::StrCat("is ", range_.offset, "; the file has ",
                                     row.size_bytes, " bytes"));
  }
  ASSIGN_OR_RETURN(TraceFile file, TraceFile::Open(parts_.traces, row));
  file_ = std::move(file);
  const int64_t rest = row.size_bytes - range_.offset;
  next_ = range_.offset;
  end_ = next_ + (range_.limit == 0 ? rest : std::min(rest, range_.limit));

  v1::FileDescription& description = *message_.mutable_file();
  description.set_size_bytes(row.size_bytes);
  description.set_sha256(row.sha256);
  description.set_media_type(kParquetMediaType);
  description.set_file_name(absl::StrCat(row.id.value, ".parquet"));
  return &*file_;
}

absl::Status ReadTraceReactor::ReadChunk() {
  ASSIGN_OR_RETURN(const TraceFile* const file, OpenFile());
  const int64_t size = std::min(end_ - next_, kReadChunkBytes);
  ASSIGN_OR_RETURN(*message_.mutable_data(), file->ReadAt(next_, size));
  message_.set_offset(next_);
  next_ += size;
  message_.set_last(next_ == end_);
  if (next_ == file->size_bytes()) return file->CheckDigest();
  return absl::OkStatus();
}

void ReadTraceReactor::OnWriteDone(bool ok) {
  turns_.load(std::memory_order_acquire);
  if (!ok) {
    End(ClientGone());
  } else if (message_.last()) {
    End(absl::OkStatus());
  } else {
    message_.clear_file();
    PostRead();
  }
}

void ReadTraceReactor::End(const absl::Status& status) {
  if (file_.has_value()) {
    parts_.metrics.DownloadFinished("grpc", status.ok(), next_ - range_.offset);
  }
  Finish(record_.Close(status));
}

void ReadTraceReactor::OnDone() {
  // May delete this.
  const std::shared_ptr<ReadTraceReactor> self = std::move(self_);
}

}  // namespace traza
