// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/health_service.h"

#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

#include "base/error.h"
#include "base/utf8.h"
#include "server/rpc/call_record.h"
#include "server/rpc/ended_stream.h"
#include "server/rpc/watch_health_reactor.h"

namespace traza {
namespace {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

constexpr char kService[] = "grpc.health.v1.Health";

absl::Status UnknownService(const std::string& service) {
  return ErrorBuilder(absl::StatusCode::kNotFound, Reason::kInvalidArgument)
      .Build(absl::StrCat("There is no service ",
                          Quoted(service, kMaxEchoBytes), "."));
}

}  // namespace

std::optional<ServingStatus> ServingStatusOf(const HostRegistry& host,
                                             absl::string_view service) {
  const std::map<std::string, std::string> unhealthy = host.unhealthy();
  bool serving = false;
  if (service.empty() || service == "traza.v1.JobService") {
    serving = unhealthy.empty();
  } else if (service == "traza.v1.TraceService") {
    serving = unhealthy.count("store") + unhealthy.count("draining") == 0;
  } else if (service == "traza.v1.HostService") {
    serving = true;
  } else {
    return std::nullopt;
  }
  return serving ? HealthCheckResponse::SERVING
                 : HealthCheckResponse::NOT_SERVING;
}

HealthService::HealthService(HostRegistry& host, Executor& executor,
                             Metrics& metrics)
    : host_(host), metrics_(metrics), unary_(kService, executor, metrics) {}

grpc::ServerUnaryReactor* HealthService::Check(
    grpc::CallbackServerContext* context, const HealthCheckRequest* request,
    HealthCheckResponse* response) {
  return unary_.RunHere(context, "Check", [&]() -> absl::Status {
    const std::optional<ServingStatus> status =
        ServingStatusOf(host_, request->service());
    if (!status.has_value()) return UnknownService(request->service());
    response->set_status(*status);
    return absl::OkStatus();
  });
}

grpc::ServerWriteReactor<HealthCheckResponse>* HealthService::Watch(
    grpc::CallbackServerContext* /*context*/,
    const HealthCheckRequest* request) {
  using Ended = EndedStream<grpc::ServerWriteReactor<HealthCheckResponse>>;
  CallRecord record(metrics_, {kService, "Watch", "server_stream"});
  std::optional<StreamLimit::Permit> permit = streams_.Take();
  if (!permit.has_value()) {
    return Ended::Start(std::move(record),
                        TooManyRequests("open health streams"));
  }
  return WatchHealthReactor::Start(
      [this, service = request->service()] {
        return ServingStatusOf(host_, service)
            .value_or(HealthCheckResponse::SERVICE_UNKNOWN);
      },
      std::move(record), *std::move(permit));
}

}  // namespace traza
