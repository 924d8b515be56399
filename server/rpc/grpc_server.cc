// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/grpc_server.h"

#include <chrono>
#include <mutex>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/descriptor.h"
#include "grpc/support/log.h"
#include "grpcpp/ext/proto_server_reflection_plugin.h"
#include "grpcpp/grpcpp.h"

#include "base/error.h"
#include "base/log.h"
#include "server/rpc/connect_bridge.h"
#include "server/rpc/health_service.h"
#include "server/rpc/host_service.h"
#include "server/rpc/job_service.h"
#include "server/rpc/limits.h"
#include "server/rpc/trace_service.h"

namespace traza {
namespace {

constexpr int kMinuteMs = 60'000;

// The series of every method exist from the start.
void DeclareMethods(const google::protobuf::FileDescriptor& file,
                    Metrics& metrics) {
  for (int i = 0; i < file.service_count(); ++i) {
    const google::protobuf::ServiceDescriptor& service = *file.service(i);
    for (int k = 0; k < service.method_count(); ++k) {
      const google::protobuf::MethodDescriptor& method = *service.method(k);
      const char* type = method.server_streaming()   ? "server_stream"
                         : method.client_streaming() ? "client_stream"
                                                     : "unary";
      metrics.DeclareRpc(service.full_name(), method.name(), type);
    }
  }
}

// gRPC's own words are for debugging: clients can cause them at will, and what
// matters comes back as a status.
void LogFromGrpc(gpr_log_func_args* args) { LogDebug("gRPC: ", args->message); }

void SetLimits(grpc::ServerBuilder& builder) {
  builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
  builder.SetMaxSendMessageSize(kMaxMessageBytes);
  // A second daemon on the same port has to fail, not to share it.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS,
                             kMaxStreamsPerConnection);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kMinuteMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20'000);
  // Clients ping every 30 s; the default would call that an attack.
  builder.AddChannelArgument(
      GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 20'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_MS, 60 * kMinuteMs);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS,
                             5 * kMinuteMs);
}

}  // namespace

class GrpcServer::State {
 public:
  State(const GrpcServerOptions& options, const GrpcServerParts& parts)
      : job_service_(parts.manager, parts.executor, parts.metrics),
        trace_service_(
            {parts.jobs, parts.traces, parts.executor, parts.metrics},
            parts.importer),
        host_service_({options.hostname, options.start_time, options.jobs},
                      parts.host, parts.executor, parts.metrics),
        health_service_(parts.host, parts.executor, parts.metrics) {
    DeclareMethods(*v1::CreateJobRequest::descriptor()->file(), parts.metrics);
    DeclareMethods(*v1::GetTraceRequest::descriptor()->file(), parts.metrics);
    DeclareMethods(*v1::GetHostRequest::descriptor()->file(), parts.metrics);
  }

  absl::Status Start(const std::string& address) {
    gpr_set_log_function(LogFromGrpc);
    // Repeating it does nothing.
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    grpc::ServerBuilder builder;
    SetLimits(builder);
    builder.AddListeningPort(address, grpc::InsecureServerCredentials(),
                             &port_);
    builder.RegisterService(&job_service_);
    builder.RegisterService(&trace_service_);
    builder.RegisterService(&host_service_);
    builder.RegisterService(&health_service_);
    server_ = builder.BuildAndStart();
    // gRPC calls the port of a unix socket 1.
    if (absl::StartsWith(address, "unix:")) port_ = 0;
    if (server_ == nullptr) {
      return ErrorBuilder(absl::StatusCode::kUnavailable, Reason::kAddressInUse)
          .With("address", address)
          .Build(absl::StrCat("Cannot listen on ", address,
                              ": it is taken, or no address of this host."));
    }
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
    bridge_ =
        std::make_unique<ConnectBridge>(server_->InProcessChannel(arguments));
    return absl::OkStatus();
  }

  void Shutdown(absl::Duration grace) {
    std::call_once(shut_down_, [this, grace] {
      if (server_ == nullptr) return;
      bridge_->Close();
      server_->Shutdown(std::chrono::system_clock::now() +
                        absl::ToChronoNanoseconds(grace));
    });
  }

  int port() const { return port_; }
  ConnectBridge& bridge() { return *bridge_; }

 private:
  JobService job_service_;
  TraceService trace_service_;
  HostService host_service_;
  HealthService health_service_;
  int port_ = 0;
  std::once_flag shut_down_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<ConnectBridge> bridge_;
};

GrpcServer::GrpcServer(std::unique_ptr<State> state)
    : state_(std::move(state)) {}

GrpcServer::~GrpcServer() { Shutdown(absl::ZeroDuration()); }

absl::StatusOr<std::unique_ptr<GrpcServer>> GrpcServer::Start(
    const GrpcServerOptions& options, const GrpcServerParts& parts) {
  auto state = std::make_unique<State>(options, parts);
  absl::Status started = state->Start(options.address);
  if (!started.ok()) return started;
  return std::unique_ptr<GrpcServer>(new GrpcServer(std::move(state)));
}

int GrpcServer::port() const { return state_->port(); }

void GrpcServer::Shutdown(absl::Duration grace) { state_->Shutdown(grace); }

ConnectReply GrpcServer::Call(const ConnectCall& call) {
  return state_->bridge().Call(call);
}

}  // namespace traza
