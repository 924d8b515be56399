// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_RPC_CONNECT_CALL_H_
#define SERVER_RPC_CONNECT_CALL_H_

#include <optional>
#include <string>

#include "absl/time/time.h"

namespace traza {

// A unary call of the Connect protocol, as HTTP brought it.
struct ConnectCall {
  std::string service;       // "traza.v1.JobService"
  std::string method;        // "GetJob"
  std::string content_type;  // "application/json" or "application/proto"
  std::string body;
  std::optional<absl::Duration> timeout;  // of Connect-Timeout-Ms
};

// What HTTP has to answer.
struct ConnectReply {
  int http_status = 200;
  std::string content_type;
  std::string body;
};

}  // namespace traza

#endif  // SERVER_RPC_CONNECT_CALL_H_
