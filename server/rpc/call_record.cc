// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/call_record.h"

#include <string>

#include "absl/strings/str_cat.h"

#include "api/convert_status.h"
#include "base/clock.h"
#include "base/error.h"
#include "server/rpc/limits.h"

namespace traza {

CallRecord::CallRecord(Metrics& metrics, const RpcMethod& method)
    : metrics_(&metrics), method_(method), start_(Clock::Real().Monotonic()) {
  metrics_->RpcStarted(method_.service, method_.method, method_.type);
}

grpc::Status CallRecord::Close(const absl::Status& status) {
  grpc::Status result = ToGrpcStatus(status);
  metrics_->RpcHandled(method_.service, method_.method, method_.type,
                       static_cast<absl::StatusCode>(result.error_code()),
                       Clock::Real().Monotonic() - start_);
  return result;
}

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  WireError error = ToWireError(status);
  return grpc::Status(static_cast<grpc::StatusCode>(error.code), error.message,
                      error.details);
}

absl::Status TooManyRequests(absl::string_view what) {
  return ErrorBuilder(absl::StatusCode::kResourceExhausted,
                      Reason::kTooManyRequests)
      .RetryAfter(kTooManyRequestsRetry)
      .Build(absl::StrCat("The server has too many ", what, "."));
}

absl::Status ClientGone() {
  return ErrorBuilder(absl::StatusCode::kCancelled, Reason::kCancelled)
      .Build("The client cancelled the call or its deadline passed.");
}

absl::Status NotImplemented(absl::string_view method) {
  return ErrorBuilder(absl::StatusCode::kUnimplemented, Reason::kNotImplemented)
      .With("method", method)
      .Build(absl::StrCat(method, " is not part of this version."));
}

}  // namespace traza
