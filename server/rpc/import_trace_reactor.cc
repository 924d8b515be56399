// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/import_trace_reactor.h"

#include <utility>

#include "absl/status/statusor.h"

#include "base/status_macros.h"
#include "server/rpc/convert_trace_row.h"
#include "server/rpc/limits.h"
#include "server/rpc/on_throw.h"
#include "server/rpc/validate.h"

namespace traza {

grpc::ServerReadReactor<v1::ImportTraceRequest>* ImportTraceReactor::Start(
    const Parts& parts, grpc::CallbackServerContext& context, CallRecord record,
    StreamLimit::Permit permit, v1::Trace* response) {
  const std::shared_ptr<ImportTraceReactor> self(new ImportTraceReactor(
      parts, context, std::move(record), std::move(permit), response));
  self->self_ = self;
  self->StartRead(&self->message_);
  return self.get();
}

ImportTraceReactor::ImportTraceReactor(const Parts& parts,
                                       grpc::CallbackServerContext& context,
                                       CallRecord record,
                                       StreamLimit::Permit permit,
                                       v1::Trace* response)
    : parts_(parts),
      context_(context),
      record_(std::move(record)),
      permit_(std::move(permit)),
      response_(response) {}

void ImportTraceReactor::OnReadDone(bool ok) {
  turns_.load(std::memory_order_acquire);
  Post(/*all_read=*/!ok);
}

void ImportTraceReactor::Post(bool all_read) {
  // A copy: the end may come while the executor still holds its own.
  const std::shared_ptr<ImportTraceReactor> self = self_;
  if (!parts_.executor.Post([self, all_read] { self->Turn(all_read); })) {
    End(TooManyRequests("requests in progress"));
  }
}

void ImportTraceReactor::Turn(bool all_read) {
  OnThrow end_anyway(
      [this] { End(absl::InternalError("importing a trace threw")); });
  // A stream that broke ends as one that is whole does: only this tells them
  // apart.
  absl::Status status = ClientGone();
  if (!context_.IsCancelled()) status = all_read ? Complete() : Take();
  end_anyway.Dismiss();
  turns_.fetch_add(1, std::memory_order_release);
  if (status.ok() && !all_read) {
    StartRead(&message_);
  } else {
    End(status);
  }
}

absl::Status ImportTraceReactor::Take() {
  switch (message_.payload_case()) {
    case v1::ImportTraceRequest::kHeader:
      return TakeHeader();
    case v1::ImportTraceRequest::kData:
      if (upload_ == nullptr) {
        return InvalidField("header", "is required in the first message");
      }
      if (message_.data().size() > kMaxImportBlockBytes) {
        return InvalidField("data", "has more than 1 MiB");
      }
      return upload_->Append(message_.data());
    case v1::ImportTraceRequest::PAYLOAD_NOT_SET:
      break;
  }
  return InvalidField("payload", "is required: a header or data");
}

absl::Status ImportTraceReactor::TakeHeader() {
  if (upload_ != nullptr) {
    return InvalidField("header", "must be in the first message only");
  }
  ASSIGN_OR_RETURN(ImportDescription description,
                   ParseImportHeader(message_.header()));
  ASSIGN_OR_RETURN(upload_, parts_.importer.Begin(std::move(description)));
  return absl::OkStatus();
}

absl::Status ImportTraceReactor::Complete() {
  if (upload_ == nullptr) return InvalidField("header", "is required");
  ASSIGN_OR_RETURN(const TraceRow row, parts_.importer.Finish(*upload_));
  *response_ = ToProto(row);
  return absl::OkStatus();
}

void ImportTraceReactor::End(const absl::Status& status) {
  // Its temporaries and its place are free before the client sees the end: it
  // may go on with the next file.
  upload_.reset();
  permit_.reset();
  Finish(record_.Close(status));
}

void ImportTraceReactor::OnDone() {
  // May delete this.
  const std::shared_ptr<ImportTraceReactor> self = std::move(self_);
}

}  // namespace traza
