// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_RPC_HOST_SERVICE_H_
#define SERVER_RPC_HOST_SERVICE_H_

#include <string>

#include "absl/time/time.h"
#include "grpcpp/grpcpp.h"

#include "server/host/host_registry.h"
#include "server/jobs/job_manager.h"
#include "server/rpc/run_unary.h"
#include "traza/v1/host_service.grpc.pb.h"

namespace traza {

// What GetHost says that the registry does not know.
struct HostFacts {
  std::string hostname;
  absl::Time start_time;
  JobManagerOptions jobs;  // for the limits, and refresh_host
};

// traza.v1.HostService: what each method does is in
// proto/traza/v1/host_service.proto. What is in memory is answered on gRPC's
// own threads, also when the executor is full; workloads are not: models may
// have to be read.
//
// Thread-safe. The collaborators must outlive every call.
class HostService final : public v1::HostService::CallbackService {
 public:
  HostService(HostFacts facts, HostRegistry& host, Executor& executor,
              Metrics& metrics);

  grpc::ServerUnaryReactor* GetHost(grpc::CallbackServerContext* context,
                                    const v1::GetHostRequest* request,
                                    v1::Host* response) override;
  grpc::ServerUnaryReactor* ListDevices(
      grpc::CallbackServerContext* context,
      const v1::ListDevicesRequest* request,
      v1::ListDevicesResponse* response) override;
  grpc::ServerUnaryReactor* ListWorkloads(
      grpc::CallbackServerContext* context,
      const v1::ListWorkloadsRequest* request,
      v1::ListWorkloadsResponse* response) override;

 private:
  const HostFacts facts_;
  HostRegistry& host_;
  UnaryRunner unary_;
};

}  // namespace traza

#endif  // SERVER_RPC_HOST_SERVICE_H_
