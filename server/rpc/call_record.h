// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_RPC_CALL_RECORD_H_
#define SERVER_RPC_CALL_RECORD_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "grpcpp/support/status.h"

#include "server/metrics/metrics.h"

namespace traza {

// Names one method in metrics. The strings are literals.
struct RpcMethod {
  absl::string_view service;  // "traza.v1.JobService"
  absl::string_view method;   // "GetJob"
  absl::string_view type;     // "unary", "server_stream", "client_stream"
};

// Counts one call: started when this is made, handled when Close() is called,
// which has to happen exactly once. Thread-compatible. `metrics` must outlive
// it.
class CallRecord {
 public:
  CallRecord(Metrics& metrics, const RpcMethod& method);
  // Move-only, so that one call is closed in one place.
  CallRecord(CallRecord&&) = default;
  CallRecord& operator=(CallRecord&&) = default;

  // Turns the result into what gRPC sends, and counts it.
  grpc::Status Close(const absl::Status& status);

 private:
  Metrics* metrics_;
  RpcMethod method_;
  absl::Duration start_;  // monotonic
};

// The status with google.rpc.Status in its details; OK stays OK.
grpc::Status ToGrpcStatus(const absl::Status& status);

// RESOURCE_EXHAUSTED / TOO_MANY_REQUESTS with a delay; `what` is what there is
// too much of: "requests in progress".
absl::Status TooManyRequests(absl::string_view what);

// The result of a call whose client has gone.
absl::Status ClientGone();

// UNIMPLEMENTED / NOT_IMPLEMENTED.
absl::Status NotImplemented(absl::string_view method);

}  // namespace traza

#endif  // SERVER_RPC_CALL_RECORD_H_
