// SPDX-License-Identifier: Apache-2.0
#include "client/client.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "google/protobuf/empty.pb.h"
#include "grpcpp/grpcpp.h"

#include "api/convert_status.h"
#include "base/error.h"
#include "base/id.h"
#include "base/status_macros.h"
#include "base/version.h"
#include "traza/v1/host_service.grpc.pb.h"
#include "traza/v1/job_service.grpc.pb.h"
#include "traza/v1/trace_service.grpc.pb.h"

namespace traza {
namespace {

// Only what may be repeated without harm; CreateJob is here for its request id.
// Streams are resumed by those who read them: they know where.
constexpr char kServiceConfig[] = R"({"methodConfig": [{
  "name": [
    {"service": "traza.v1.JobService", "method": "CreateJob"},
    {"service": "traza.v1.JobService", "method": "GetJob"},
    {"service": "traza.v1.JobService", "method": "ListJobs"},
    {"service": "traza.v1.JobService", "method": "CancelJob"},
    {"service": "traza.v1.JobService", "method": "WaitJob"},
    {"service": "traza.v1.TraceService", "method": "GetTrace"},
    {"service": "traza.v1.TraceService", "method": "ListTraces"},
    {"service": "traza.v1.TraceService", "method": "GetTable"},
    {"service": "traza.v1.TraceService", "method": "ExplainTrace"},
    {"service": "traza.v1.TraceService", "method": "GetTimeline"},
    {"service": "traza.v1.TraceService", "method": "DiffTraces"},
    {"service": "traza.v1.TraceService", "method": "CheckTrace"},
    {"service": "traza.v1.HostService"}],
  "retryPolicy": {
    "maxAttempts": 4, "initialBackoff": "0.2s", "maxBackoff": "5s",
    "backoffMultiplier": 2, "retryableStatusCodes": ["UNAVAILABLE"]}}]})";

// The daemon allows a ping every 20 s (server/rpc/grpc_server.cc).
constexpr int kKeepaliveMs = 30'000;
constexpr int kKeepaliveTimeoutMs = 20'000;
constexpr int kReconnectMs = 200;
constexpr size_t kImportBlockBytes = 1024 * 1024;

// Spares an IP address the way through the DNS resolver.
std::string Target(const std::string& server) {
  if (absl::StartsWith(server, "unix:")) return server;
  if (absl::StartsWith(server, "[")) return absl::StrCat("ipv6:", server);
  const bool ipv4 = std::ranges::all_of(server, [](char c) {
    return absl::ascii_isdigit(static_cast<unsigned char>(c)) || c == '.' ||
           c == ':';
  });
  return absl::StrCat(ipv4 ? "ipv4:" : "dns:", server);
}

std::shared_ptr<grpc::Channel> OpenChannel(const std::string& server) {
  grpc::ChannelArguments arguments;
  arguments.SetServiceConfigJSON(kServiceConfig);
  arguments.SetUserAgentPrefix(absl::StrCat("traza/", kVersion));
  // No look-up of a TXT record, and no detour: a proxy from the environment
  // is meant for the web, and would be asked for 127.0.0.1 as well.
  arguments.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kReconnectMs);
  return grpc::CreateCustomChannel(
      Target(server), grpc::InsecureChannelCredentials(), arguments);
}

// "failed to connect to all addresses; last error: UNKNOWN: ipv4:127.0.0.1:1:
// Failed to connect to remote host: Connection refused" -> its end.
std::string ShortCause(absl::string_view message) {
  const size_t colon = message.rfind(": ");
  if (colon != absl::string_view::npos) message = message.substr(colon + 2);
  return std::string(message.empty() ? "no reason given" : message);
}

// Status of ours from one of gRPC; what gRPC itself made up says which daemon
// did not answer.
absl::Status FromGrpc(const grpc::Status& status,
                      const ClientOptions& options) {
  if (status.ok()) return absl::OkStatus();
  absl::Status converted =
      StatusFromWire(static_cast<int>(status.error_code()),
                     status.error_message(), status.error_details());
  const std::optional<ErrorDetails> details = DetailsOf(converted);
  if (!details || details->reason != Reason::kUnreachable) return converted;
  const std::string what =
      absl::IsDeadlineExceeded(converted)
          ? absl::StrCat("The daemon at ", options.server,
                         " did not answer within ",
                         absl::FormatDuration(options.deadline), ".")
          : absl::StrCat("Cannot reach the daemon at ", options.server, ": ",
                         ShortCause(status.error_message()), ".");
  return ErrorBuilder(converted.code(), Reason::kUnreachable)
      .With("server", options.server)
      .Build(what);
}

void SetDeadline(grpc::ClientContext& context, absl::Duration limit) {
  context.set_deadline(std::chrono::system_clock::now() +
                       absl::ToChronoMilliseconds(limit));
}

// One unary call: `method` is a member of the stub.
template <typename Stub, typename Request, typename Response>
absl::StatusOr<Response> Call(Stub& stub,
                              grpc::Status (Stub::*method)(grpc::ClientContext*,
                                                           const Request&,
                                                           Response*),
                              const Request& request,
                              const ClientOptions& options,
                              absl::Duration extra = absl::ZeroDuration()) {
  grpc::ClientContext context;
  SetDeadline(context, options.deadline + extra);
  Response response;
  RETURN_IF_ERROR(
      FromGrpc((stub.*method)(&context, request, &response), options));
  return response;
}

// Reads a server stream until it ends or `each` fails.
template <typename Message>
absl::Status Drain(grpc::ClientContext& context,
                   grpc::ClientReader<Message>& reader,
                   const ClientOptions& options,
                   const std::function<absl::Status(const Message&)>& each) {
  Message message;
  while (reader.Read(&message)) {
    if (absl::Status status = each(message); !status.ok()) {
      context.TryCancel();
      reader.Finish();
      return status;
    }
  }
  return FromGrpc(reader.Finish(), options);
}

}  // namespace

class Client::Stubs {
 public:
  explicit Stubs(const std::shared_ptr<grpc::Channel>& channel)
      : jobs(channel), traces(channel), host(channel) {}

  v1::JobService::Stub jobs;
  v1::TraceService::Stub traces;
  v1::HostService::Stub host;
};

Client::Client(const ClientOptions& options)
    : options_(options),
      stubs_(std::make_unique<Stubs>(OpenChannel(options.server))) {}

Client::~Client() = default;

absl::StatusOr<v1::Job> Client::CreateJob(v1::CreateJobRequest request) {
  if (request.request_id().empty()) {
    request.set_request_id(NewSortableId(absl::Now()));
  }
  return Call(stubs_->jobs, &v1::JobService::Stub::CreateJob, request,
              options_);
}

absl::StatusOr<v1::Job> Client::GetJob(const v1::GetJobRequest& request) {
  return Call(stubs_->jobs, &v1::JobService::Stub::GetJob, request, options_);
}

absl::StatusOr<v1::ListJobsResponse> Client::ListJobs(
    const v1::ListJobsRequest& request) {
  return Call(stubs_->jobs, &v1::JobService::Stub::ListJobs, request, options_);
}

absl::StatusOr<v1::Job> Client::CancelJob(const v1::CancelJobRequest& request) {
  return Call(stubs_->jobs, &v1::JobService::Stub::CancelJob, request,
              options_);
}

absl::Status Client::DeleteJob(const v1::DeleteJobRequest& request) {
  return Call(stubs_->jobs, &v1::JobService::Stub::DeleteJob, request, options_)
      .status();
}

absl::StatusOr<v1::Job> Client::WaitJob(const v1::WaitJobRequest& request) {
  // The daemon answers when the wait is over; the deadline starts then.
  constexpr absl::Duration kLongestWait = absl::Seconds(60);
  return Call(stubs_->jobs, &v1::JobService::Stub::WaitJob, request, options_,
              kLongestWait);
}

absl::Status Client::WatchJob(const v1::WatchJobRequest& request,
                              const std::function<bool(const v1::Job&)>& each) {
  grpc::ClientContext context;
  const auto reader = stubs_->jobs.WatchJob(&context, request);
  bool stopped = false;
  absl::Status status =
      Drain<v1::Job>(context, *reader, options_, [&](const v1::Job& job) {
        stopped = !each(job);
        return stopped ? absl::CancelledError("stopped") : absl::OkStatus();
      });
  return stopped ? absl::OkStatus() : status;
}

absl::StatusOr<v1::Trace> Client::GetTrace(const v1::GetTraceRequest& request) {
  return Call(stubs_->traces, &v1::TraceService::Stub::GetTrace, request,
              options_);
}

absl::StatusOr<v1::ListTracesResponse> Client::ListTraces(
    const v1::ListTracesRequest& request) {
  return Call(stubs_->traces, &v1::TraceService::Stub::ListTraces, request,
              options_);
}

absl::Status Client::DeleteTrace(const v1::DeleteTraceRequest& request) {
  return Call(stubs_->traces, &v1::TraceService::Stub::DeleteTrace, request,
              options_)
      .status();
}

absl::Status Client::ReadTrace(
    const v1::ReadTraceRequest& request,
    const std::function<absl::Status(const v1::FileChunk&)>& each) {
  grpc::ClientContext context;
  const auto reader = stubs_->traces.ReadTrace(&context, request);
  return Drain<v1::FileChunk>(context, *reader, options_, each);
}

absl::StatusOr<v1::Trace> Client::ImportTrace(
    const v1::ImportTraceHeader& header,
    const std::function<absl::StatusOr<std::string>()>& next) {
  grpc::ClientContext context;
  v1::Trace trace;
  const auto writer = stubs_->traces.ImportTrace(&context, &trace);
  v1::ImportTraceRequest message;
  *message.mutable_header() = header;
  bool open = writer->Write(message);
  while (open) {
    absl::StatusOr<std::string> block = next();
    if (!block.ok()) {
      context.TryCancel();
      writer->Finish();
      return block.status();
    }
    if (block->empty()) break;
    for (size_t at = 0; open && at < block->size(); at += kImportBlockBytes) {
      message.set_data(block->substr(at, kImportBlockBytes));
      open = writer->Write(message);
    }
  }
  writer->WritesDone();
  RETURN_IF_ERROR(FromGrpc(writer->Finish(), options_));
  return trace;
}

absl::StatusOr<v1::GetTableResponse> Client::GetTable(
    const v1::GetTableRequest& request) {
  return Call(stubs_->traces, &v1::TraceService::Stub::GetTable, request,
              options_);
}

absl::StatusOr<v1::Answer> Client::ExplainTrace(
    const v1::ExplainTraceRequest& request) {
  return Call(stubs_->traces, &v1::TraceService::Stub::ExplainTrace, request,
              options_);
}

absl::StatusOr<v1::Timeline> Client::GetTimeline(
    const v1::GetTimelineRequest& request) {
  return Call(stubs_->traces, &v1::TraceService::Stub::GetTimeline, request,
              options_);
}

absl::StatusOr<v1::Diff> Client::DiffTraces(
    const v1::DiffTracesRequest& request) {
  return Call(stubs_->traces, &v1::TraceService::Stub::DiffTraces, request,
              options_);
}

absl::StatusOr<v1::CheckTraceResponse> Client::CheckTrace(
    const v1::CheckTraceRequest& request) {
  return Call(stubs_->traces, &v1::TraceService::Stub::CheckTrace, request,
              options_);
}

absl::Status Client::ExportTrace(
    const v1::ExportTraceRequest& request,
    const std::function<absl::Status(const v1::FileChunk&)>& each) {
  grpc::ClientContext context;
  const auto reader = stubs_->traces.ExportTrace(&context, request);
  return Drain<v1::FileChunk>(context, *reader, options_, each);
}

absl::StatusOr<v1::Host> Client::GetHost(const v1::GetHostRequest& request) {
  return Call(stubs_->host, &v1::HostService::Stub::GetHost, request, options_);
}

absl::StatusOr<v1::ListDevicesResponse> Client::ListDevices(
    const v1::ListDevicesRequest& request) {
  return Call(stubs_->host, &v1::HostService::Stub::ListDevices, request,
              options_);
}

absl::StatusOr<v1::ListWorkloadsResponse> Client::ListWorkloads(
    const v1::ListWorkloadsRequest& request) {
  return Call(stubs_->host, &v1::HostService::Stub::ListWorkloads, request,
              options_);
}

}  // namespace traza
