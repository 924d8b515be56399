// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_RPC_JOB_SERVICE_H_
#define SERVER_RPC_JOB_SERVICE_H_

#include "grpcpp/grpcpp.h"

#include "base/executor.h"
#include "server/jobs/job_manager.h"
#include "server/metrics/metrics.h"
#include "server/rpc/limits.h"
#include "server/rpc/run_unary.h"
#include "server/rpc/stream_limit.h"
#include "traza/v1/job_service.grpc.pb.h"

namespace traza {

// traza.v1.JobService: what each method does is in
// proto/traza/v1/job_service.proto.
//
// Thread-safe. The collaborators must outlive every call.
class JobService final : public v1::JobService::CallbackService {
 public:
  JobService(JobManager& manager, Executor& executor, Metrics& metrics);

  grpc::ServerUnaryReactor* CreateJob(grpc::CallbackServerContext* context,
                                      const v1::CreateJobRequest* request,
                                      v1::Job* response) override;
  grpc::ServerUnaryReactor* GetJob(grpc::CallbackServerContext* context,
                                   const v1::GetJobRequest* request,
                                   v1::Job* response) override;
  grpc::ServerUnaryReactor* ListJobs(grpc::CallbackServerContext* context,
                                     const v1::ListJobsRequest* request,
                                     v1::ListJobsResponse* response) override;
  grpc::ServerUnaryReactor* CancelJob(grpc::CallbackServerContext* context,
                                      const v1::CancelJobRequest* request,
                                      v1::Job* response) override;
  grpc::ServerUnaryReactor* DeleteJob(
      grpc::CallbackServerContext* context, const v1::DeleteJobRequest* request,
      google::protobuf::Empty* response) override;
  grpc::ServerUnaryReactor* WaitJob(grpc::CallbackServerContext* context,
                                    const v1::WaitJobRequest* request,
                                    v1::Job* response) override;
  grpc::ServerWriteReactor<v1::Job>* WatchJob(
      grpc::CallbackServerContext* context,
      const v1::WatchJobRequest* request) override;

 private:
  JobManager& manager_;
  Executor& executor_;
  Metrics& metrics_;
  UnaryRunner unary_;
  StreamLimit watch_streams_{kMaxWatchStreams};
};

}  // namespace traza

#endif  // SERVER_RPC_JOB_SERVICE_H_
