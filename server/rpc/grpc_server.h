// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_RPC_GRPC_SERVER_H_
#define SERVER_RPC_GRPC_SERVER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "base/executor.h"
#include "server/host/host_registry.h"
#include "server/jobs/job_manager.h"
#include "server/jobs/trace_importer.h"
#include "server/metrics/metrics.h"
#include "server/rpc/connect_call.h"
#include "server/store/job_store.h"
#include "server/store/trace_store.h"

namespace traza {

struct GrpcServerOptions {
  // "127.0.0.1:7719", "[::1]:0" (any free port), "unix:/run/traza.sock".
  std::string address = "127.0.0.1:7719";
  // What GetHost says.
  std::string hostname;
  absl::Time start_time;
  JobManagerOptions jobs;
};

// What the services work with. All of it must outlive the server.
struct GrpcServerParts {
  JobManager& manager;
  JobStore& jobs;
  TraceStore& traces;
  TraceImporter& importer;
  HostRegistry& host;
  Executor& executor;
  Metrics& metrics;
};

// The gRPC server: traza.v1, health and reflection on one address.
//
// Thread-safe. The destructor calls Shutdown with no time to finish.
class GrpcServer {
 public:
  // Fails with UNAVAILABLE / ADDRESS_IN_USE when the address cannot be had.
  static absl::StatusOr<std::unique_ptr<GrpcServer>> Start(
      const GrpcServerOptions& options, const GrpcServerParts& parts);
  ~GrpcServer();
  GrpcServer(const GrpcServer&) = delete;
  GrpcServer& operator=(const GrpcServer&) = delete;

  // The port that was bound; 0 for a unix socket.
  int port() const;

  // Takes no new calls, lets open ones run for at most `grace`, cancels the
  // rest and waits for them. Later calls do nothing.
  void Shutdown(absl::Duration grace);

  // Makes a unary call of traza.v1 in-process, for the HTTP server: limits,
  // status conversion and metrics are those of gRPC. Blocks for at most the
  // timeout of the call.
  ConnectReply Call(const ConnectCall& call);

 private:
  class State;
  explicit GrpcServer(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace traza

#endif  // SERVER_RPC_GRPC_SERVER_H_
