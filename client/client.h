// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_CLIENT_H_
#define CLIENT_CLIENT_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "traza/v1/host.pb.h"
#include "traza/v1/host_service.pb.h"
#include "traza/v1/job.pb.h"
#include "traza/v1/job_service.pb.h"
#include "traza/v1/trace.pb.h"
#include "traza/v1/trace_service.pb.h"

namespace traza {

struct ClientOptions {
  // "HOST:PORT" or "unix:PATH", as NormalizeServer returns it. Anything else
  // may end the process: gRPC aborts on bytes that no header may hold.
  std::string server;
  // Limit of each unary call, retries included. Streams have none.
  absl::Duration deadline = absl::Seconds(10);
};

// A daemon, seen from a program: one method for each RPC of
// proto/traza/v1/*_service.proto, with the same names and messages.
//
// Calls block. Idempotent unary ones (CreateJob too, since it always carries a
// request id) are tried up to 4 times, 0.2 s to 5 s apart, while the daemon is
// UNAVAILABLE; streams are not. Errors carry ErrorDetails (base/error.h); a
// daemon that does not answer is UNAVAILABLE or DEADLINE_EXCEEDED with the
// reason UNREACHABLE.
//
// Opens one connection, at the first call. Thread-safe.
class Client {
 public:
  explicit Client(const ClientOptions& options);
  ~Client();

  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Fills in a random request id where there is none.
  absl::StatusOr<v1::Job> CreateJob(v1::CreateJobRequest request);
  absl::StatusOr<v1::Job> GetJob(const v1::GetJobRequest& request);
  absl::StatusOr<v1::ListJobsResponse> ListJobs(
      const v1::ListJobsRequest& request);
  absl::StatusOr<v1::Job> CancelJob(const v1::CancelJobRequest& request);
  absl::Status DeleteJob(const v1::DeleteJobRequest& request);
  absl::StatusOr<v1::Job> WaitJob(const v1::WaitJobRequest& request);
  // Calls `each` for every snapshot, on this thread. Ends when the stream does
  // (OK after the final state) or when `each` returns false (OK, too).
  absl::Status WatchJob(const v1::WatchJobRequest& request,
                        const std::function<bool(const v1::Job&)>& each);

  absl::StatusOr<v1::Trace> GetTrace(const v1::GetTraceRequest& request);
  absl::StatusOr<v1::ListTracesResponse> ListTraces(
      const v1::ListTracesRequest& request);
  absl::Status DeleteTrace(const v1::DeleteTraceRequest& request);
  // Calls `each` for every chunk, on this thread; a failure of `each` ends the
  // stream and is returned.
  absl::Status ReadTrace(
      const v1::ReadTraceRequest& request,
      const std::function<absl::Status(const v1::FileChunk&)>& each);
  // Takes the data from `next` until it returns an empty string. Not retried.
  absl::StatusOr<v1::Trace> ImportTrace(
      const v1::ImportTraceHeader& header,
      const std::function<absl::StatusOr<std::string>()>& next);
  absl::StatusOr<v1::GetTableResponse> GetTable(
      const v1::GetTableRequest& request);
  absl::StatusOr<v1::Answer> ExplainTrace(
      const v1::ExplainTraceRequest& request);
  absl::StatusOr<v1::Timeline> GetTimeline(
      const v1::GetTimelineRequest& request);
  absl::StatusOr<v1::Diff> DiffTraces(const v1::DiffTracesRequest& request);
  absl::StatusOr<v1::CheckTraceResponse> CheckTrace(
      const v1::CheckTraceRequest& request);
  absl::Status ExportTrace(
      const v1::ExportTraceRequest& request,
      const std::function<absl::Status(const v1::FileChunk&)>& each);

  absl::StatusOr<v1::Host> GetHost(const v1::GetHostRequest& request = {});
  absl::StatusOr<v1::ListDevicesResponse> ListDevices(
      const v1::ListDevicesRequest& request = {});
  absl::StatusOr<v1::ListWorkloadsResponse> ListWorkloads(
      const v1::ListWorkloadsRequest& request = {});

 private:
  class Stubs;  // keeps gRPC out of this header

  const ClientOptions options_;
  const std::unique_ptr<Stubs> stubs_;
};

}  // namespace traza

#endif  // CLIENT_CLIENT_H_
