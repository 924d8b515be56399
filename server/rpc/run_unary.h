// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_RPC_RUN_UNARY_H_
#define SERVER_RPC_RUN_UNARY_H_

#include <functional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "grpcpp/grpcpp.h"

#include "base/executor.h"
#include "server/metrics/metrics.h"

namespace traza {

// Does what every unary handler of one service needs done: hands the work to
// the executor, skips it when the client has gone, converts the status, counts
// the call, and finishes it whatever happens.
//
// Thread-safe. The collaborators must outlive every call.
class UnaryRunner {
 public:
  // `service` is a literal: "traza.v1.JobService".
  UnaryRunner(absl::string_view service, Executor& executor, Metrics& metrics);

  // Returns at once. `work` may use the request, the response and the context
  // of the call. `method` is a literal. A full executor answers
  // TOO_MANY_REQUESTS.
  grpc::ServerUnaryReactor* Run(grpc::CallbackServerContext* context,
                                absl::string_view method,
                                std::function<absl::Status()> work);

  // The same without the executor, for `work` that does no I/O.
  grpc::ServerUnaryReactor* RunHere(grpc::CallbackServerContext* context,
                                    absl::string_view method,
                                    const std::function<absl::Status()>& work);

 private:
  const absl::string_view service_;
  Executor& executor_;
  Metrics& metrics_;
};

}  // namespace traza

#endif  // SERVER_RPC_RUN_UNARY_H_
