// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/host_service.h"

#include <map>
#include <memory>
#include <utility>

#include "api/convert_host.h"
#include "api/convert_job.h"
#include "base/version.h"
#include "server/rpc/limits.h"
#include "spec/job_spec.h"

namespace traza {
namespace {

constexpr char kService[] = "traza.v1.HostService";

v1::HostLimits LimitsOf(const JobManagerOptions& jobs) {
  v1::HostLimits limits;
  limits.set_max_queued_jobs(jobs.max_queued_jobs);
  limits.set_max_trace_bytes(jobs.admission.max_trace_bytes);
  limits.set_max_memory_share(jobs.admission.max_memory_share);
  limits.set_max_steps(kMaxSteps);
  *limits.mutable_max_timeout() = ToProto(kMaxTimeout);
  limits.set_max_watch_streams(kMaxWatchStreams);
  limits.set_max_read_streams(kMaxReadStreams);
  limits.set_max_request_bytes(kMaxMessageBytes);
  return limits;
}

}  // namespace

HostService::HostService(HostFacts facts, HostRegistry& host,
                         Executor& executor, Metrics& metrics)
    : facts_(std::move(facts)),
      host_(host),
      unary_(kService, executor, metrics) {}

grpc::ServerUnaryReactor* HostService::GetHost(
    grpc::CallbackServerContext* context, const v1::GetHostRequest* /*request*/,
    v1::Host* response) {
  return unary_.RunHere(context, "GetHost", [this, response] {
    const std::shared_ptr<const WorkerDescription> description =
        host_.description();
    response->set_hostname(facts_.hostname);
    response->set_version(kVersion);
    for (const auto& [name, version] : description->versions) {
      (*response->mutable_versions())[name] = version;
    }
    for (const std::string& capability : description->capabilities) {
      response->add_capabilities(capability);
    }
    *response->mutable_limits() = LimitsOf(facts_.jobs);
    const std::map<std::string, std::string> unhealthy = host_.unhealthy();
    response->set_ready(unhealthy.empty());
    for (const auto& [component, message] : unhealthy) {
      v1::HealthReason* reason = response->add_unhealthy();
      reason->set_component(component);
      reason->set_message(message);
    }
    *response->mutable_start_time() = ToProto(facts_.start_time);
    return absl::OkStatus();
  });
}

grpc::ServerUnaryReactor* HostService::ListDevices(
    grpc::CallbackServerContext* context,
    const v1::ListDevicesRequest* /*request*/,
    v1::ListDevicesResponse* response) {
  return unary_.RunHere(context, "ListDevices", [this, response] {
    const std::shared_ptr<const WorkerDescription> description =
        host_.description();
    for (const DeviceDescription& device : description->devices) {
      *response->add_devices() = ToProto(device);
    }
    return absl::OkStatus();
  });
}

grpc::ServerUnaryReactor* HostService::ListWorkloads(
    grpc::CallbackServerContext* context,
    const v1::ListWorkloadsRequest* /*request*/,
    v1::ListWorkloadsResponse* response) {
  return unary_.Run(context, "ListWorkloads", [this, response] {
    if (facts_.jobs.refresh_host) facts_.jobs.refresh_host();
    const std::shared_ptr<const WorkerDescription> description =
        host_.description();
    for (const WorkloadSchema& workload : description->workloads) {
      *response->add_workloads() = ToProto(workload);
    }
    return absl::OkStatus();
  });
}

}  // namespace traza
