// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/job_service.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "api/convert_job.h"
#include "base/status_macros.h"
#include "server/rpc/ended_stream.h"
#include "server/rpc/filter_parser.h"
#include "server/rpc/page_token.h"
#include "server/rpc/validate.h"
#include "server/rpc/wait_job_reactor.h"
#include "server/rpc/watch_job_reactor.h"

namespace traza {
namespace {

constexpr char kService[] = "traza.v1.JobService";

absl::StatusOr<absl::Duration> ParseWait(const v1::WaitJobRequest& request) {
  if (!request.has_timeout()) return kDefaultWait;
  const absl::StatusOr<absl::Duration> timeout = FromProto(request.timeout());
  if (!timeout.ok() || *timeout < absl::ZeroDuration()) {
    return InvalidField("timeout", "must be a duration that is not negative");
  }
  return std::min(*timeout, kMaxWait);
}

}  // namespace

JobService::JobService(JobManager& manager, Executor& executor,
                       Metrics& metrics)
    : manager_(manager),
      executor_(executor),
      metrics_(metrics),
      unary_(kService, executor, metrics) {}

grpc::ServerUnaryReactor* JobService::CreateJob(
    grpc::CallbackServerContext* context, const v1::CreateJobRequest* request,
    v1::Job* response) {
  return unary_.Run(context, "CreateJob",
                    [this, request, response]() -> absl::Status {
                      ASSIGN_OR_RETURN(const CreateJobArguments arguments,
                                       ParseCreateJob(*request));
                      const absl::StatusOr<Job> job =
                          manager_.Create(arguments.job, arguments.options);
                      if (!job.ok()) return BelowJob(job.status());
                      *response = ToProto(*job);
                      return absl::OkStatus();
                    });
}

grpc::ServerUnaryReactor* JobService::GetJob(
    grpc::CallbackServerContext* context, const v1::GetJobRequest* request,
    v1::Job* response) {
  return unary_.Run(
      context, "GetJob", [this, request, response]() -> absl::Status {
        ASSIGN_OR_RETURN(const JobId id, ParseJobName(request->name()));
        ASSIGN_OR_RETURN(const Job job, manager_.Get(id));
        *response = ToProto(job);
        return absl::OkStatus();
      });
}

grpc::ServerUnaryReactor* JobService::ListJobs(
    grpc::CallbackServerContext* context, const v1::ListJobsRequest* request,
    v1::ListJobsResponse* response) {
  return unary_.Run(
      context, "ListJobs", [this, request, response]() -> absl::Status {
        ASSIGN_OR_RETURN(const int page_size,
                         ParsePageSize(request->page_size()));
        ASSIGN_OR_RETURN(const ListFilter filter,
                         ParseFilter(request->filter(), FilterOf::kJobs));
        ASSIGN_OR_RETURN(const std::optional<PageEnd> after,
                         DecodePageToken(request->page_token(), "ListJobs",
                                         request->filter()));
        ASSIGN_OR_RETURN(Page<Job> page,
                         manager_.List(filter, page_size, after));
        size_t bytes = 0;
        for (const Job& job : page.items) {
          *response->add_jobs() = ToProto(job);
          bytes += response->jobs().rbegin()->ByteSizeLong();
          if (bytes > kMaxPageBytes && &job != &page.items.back()) {
            page.next = PageEnd{job.create_time, job.id.value};
            break;
          }
        }
        if (page.next.has_value()) {
          response->set_next_page_token(
              EncodePageToken(*page.next, "ListJobs", request->filter()));
        }
        return absl::OkStatus();
      });
}

grpc::ServerUnaryReactor* JobService::CancelJob(
    grpc::CallbackServerContext* context, const v1::CancelJobRequest* request,
    v1::Job* response) {
  return unary_.Run(
      context, "CancelJob", [this, request, response]() -> absl::Status {
        ASSIGN_OR_RETURN(const JobId id, ParseJobName(request->name()));
        ASSIGN_OR_RETURN(const Job job, manager_.Cancel(id));
        *response = ToProto(job);
        return absl::OkStatus();
      });
}

grpc::ServerUnaryReactor* JobService::DeleteJob(
    grpc::CallbackServerContext* context, const v1::DeleteJobRequest* request,
    google::protobuf::Empty* /*response*/) {
  return unary_.Run(context, "DeleteJob", [this, request]() -> absl::Status {
    ASSIGN_OR_RETURN(const JobId id, ParseJobName(request->name()));
    return manager_.Delete(id);
  });
}

grpc::ServerUnaryReactor* JobService::WaitJob(
    grpc::CallbackServerContext* context, const v1::WaitJobRequest* request,
    v1::Job* response) {
  const absl::StatusOr<JobId> id = ParseJobName(request->name());
  const absl::StatusOr<absl::Duration> timeout = ParseWait(*request);
  if (!id.ok() || !timeout.ok()) {
    return unary_.RunHere(context, "WaitJob", [&] {
      return id.ok() ? timeout.status() : id.status();
    });
  }
  return WaitJobReactor::Start(
      manager_, executor_, CallRecord(metrics_, {kService, "WaitJob", "unary"}),
      {.id = *id, .timeout = *timeout, .response = response});
}

grpc::ServerWriteReactor<v1::Job>* JobService::WatchJob(
    grpc::CallbackServerContext* /*context*/,
    const v1::WatchJobRequest* request) {
  using Ended = EndedStream<grpc::ServerWriteReactor<v1::Job>>;
  CallRecord record(metrics_, {kService, "WatchJob", "server_stream"});
  absl::StatusOr<JobId> id = ParseJobName(request->name());
  if (!id.ok()) return Ended::Start(std::move(record), id.status());
  std::optional<StreamLimit::Permit> permit = watch_streams_.Take();
  if (!permit.has_value()) {
    return Ended::Start(std::move(record),
                        TooManyRequests("open WatchJob streams"));
  }
  return WatchJobReactor::Start(manager_, executor_, std::move(record),
                                *std::move(permit), *std::move(id));
}

}  // namespace traza
