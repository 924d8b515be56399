// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_RPC_HEALTH_SERVICE_H_
#define SERVER_RPC_HEALTH_SERVICE_H_

#include <optional>

#include "absl/strings/string_view.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "grpcpp/grpcpp.h"

#include "server/host/host_registry.h"
#include "server/metrics/metrics.h"
#include "server/rpc/limits.h"
#include "server/rpc/run_unary.h"
#include "server/rpc/stream_limit.h"

namespace traza {

using ServingStatus = grpc::health::v1::HealthCheckResponse::ServingStatus;

// Whether a service can do its work, or nothing when there is no such service:
//
//   "" and traza.v1.JobService   nothing is unhealthy
//   traza.v1.TraceService        the store is healthy and nothing is draining
//   traza.v1.HostService         always: it says what is wrong
std::optional<ServingStatus> ServingStatusOf(const HostRegistry& host,
                                             absl::string_view service);

// grpc.health.v1.Health from the real state of the host. Not gRPC's own one,
// which only repeats what it was told and which reflection cannot describe.
//
// Thread-safe. The collaborators must outlive every call.
class HealthService final : public grpc::health::v1::Health::CallbackService {
 public:
  HealthService(HostRegistry& host, Executor& executor, Metrics& metrics);

  // NOT_FOUND for a service that does not exist.
  grpc::ServerUnaryReactor* Check(
      grpc::CallbackServerContext* context,
      const grpc::health::v1::HealthCheckRequest* request,
      grpc::health::v1::HealthCheckResponse* response) override;

  // A change is seen within kHealthPeriod.
  grpc::ServerWriteReactor<grpc::health::v1::HealthCheckResponse>* Watch(
      grpc::CallbackServerContext* context,
      const grpc::health::v1::HealthCheckRequest* request) override;

 private:
  HostRegistry& host_;
  Metrics& metrics_;
  UnaryRunner unary_;
  StreamLimit streams_{kMaxHealthStreams};
};

}  // namespace traza

#endif  // SERVER_RPC_HEALTH_SERVICE_H_
