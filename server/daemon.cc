// SPDX-License-Identifier: Apache-2.0
#include "server/daemon.h"

#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

#include "api/convert_trace.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/nvml_monitor.h"
#include "base/status_macros.h"
#include "server/jobs/device_roofs.h"

namespace traza {
namespace {

// Calls that are still open when everything has stopped, such as streams.
constexpr absl::Duration kCallGrace = absl::Seconds(5);

std::string HostName() {
  char name[256] = {};
  if (gethostname(name, sizeof(name) - 1) != 0) return "unknown";
  return name;
}

// Between the worker's own limit and ours: its words say more.
constexpr absl::Duration kCompileSlack = absl::Seconds(15);

std::filesystem::path ModelsFolder(const DaemonOptions& options) {
  std::error_code error;
  const std::filesystem::path folder =
      std::filesystem::absolute(options.data_dir, error);
  return (error ? options.data_dir : folder) / "models";
}

ProcessLauncherOptions LauncherOptions(
    const DaemonOptions& options, const std::vector<std::string>& environment) {
  ProcessLauncherOptions launcher;
  launcher.program = options.worker;
  launcher.data_dir = options.data_dir;
  launcher.models = ModelsFolder(options);
  launcher.compile_timeout = options.compile_timeout;
  launcher.max_trace_bytes = options.jobs.admission.max_trace_bytes;
  launcher.environment = environment;
  return launcher;
}

absl::StatusOr<std::unique_ptr<GpuMonitor>> OpenDriver() {
  ASSIGN_OR_RETURN(std::unique_ptr<NvmlMonitor> driver, NvmlMonitor::Open());
  return driver;
}

std::vector<GpuFigures> FiguresOf(std::vector<GpuSample> samples) {
  std::vector<GpuFigures> figures;
  for (GpuSample& sample : samples) {
    figures.push_back({.device = std::move(sample.device),
                       .state = std::string(GpuStateName(sample.state)),
                       .reading = std::move(sample.reading),
                       .age = sample.age,
                       .read_errors = std::move(sample.errors)});
  }
  return figures;
}

HttpReply ToHttp(ConnectReply reply) {
  return {.status = reply.http_status,
          .content_type = std::move(reply.content_type),
          .body = std::move(reply.body)};
}

ConnectCall ToConnect(const HttpCall& call) {
  return {.service = call.service,
          .method = call.method,
          .content_type = call.content_type,
          .body = call.body,
          .timeout = call.timeout};
}

}  // namespace

absl::StatusOr<std::unique_ptr<Daemon>> Daemon::Create(
    const DaemonOptions& options, const std::vector<std::string>& environment) {
  RETURN_IF_ERROR(MakeDirectories(options.data_dir));
  RETURN_IF_ERROR(MakeDirectories(ModelsFolder(options)));
  // Before anything in the folder is read: it may be another daemon's.
  ASSIGN_OR_RETURN(UniqueFd lock, LockFile(options.data_dir / "lock"));
  ASSIGN_OR_RETURN(std::unique_ptr<JobStore> jobs,
                   JobStore::Open(options.data_dir / "traza.db"));
  ASSIGN_OR_RETURN(std::unique_ptr<TraceStore> traces,
                   TraceStore::Open(options.data_dir));
  std::unique_ptr<Daemon> daemon(new Daemon(options, environment,
                                            std::move(lock), std::move(jobs),
                                            std::move(traces)));
  RETURN_IF_ERROR(daemon->DescribeHost());
  daemon->WatchGpus();
  daemon->MeasureGpus();
  daemon->ListModels();
  RETURN_IF_ERROR(daemon->manager_.Recover(WorkerMark(options.data_dir)));
  RETURN_IF_ERROR(daemon->StartRunners());
  RETURN_IF_ERROR(daemon->StartServers());
  daemon->CheckReadiness();
  return daemon;
}

Daemon::Daemon(const DaemonOptions& options,
               const std::vector<std::string>& environment, UniqueFd lock,
               std::unique_ptr<JobStore> jobs,
               std::unique_ptr<TraceStore> traces)
    : options_(options),
      lock_(std::move(lock)),
      jobs_(std::move(jobs)),
      traces_(std::move(traces)),
      launcher_(LauncherOptions(options, environment)),
      intake_({.max_trace_bytes = options.jobs.admission.max_trace_bytes,
               .encode_answer = EncodeAnswer},
              *traces_),
      manager_(JobOptions(), host_, *jobs_, *traces_, metrics_, Clock::Real()),
      importer_({.max_trace_bytes = options.jobs.admission.max_trace_bytes,
                 .max_store_bytes = options.jobs.max_store_bytes,
                 .encode_answer = EncodeAnswer},
                *jobs_, *traces_, metrics_, Clock::Real()),
      executor_({}) {}

Daemon::~Daemon() = default;

JobManagerOptions Daemon::JobOptions() {
  JobManagerOptions jobs = options_.jobs;
  jobs.refresh_host = [this] { models_->Refresh(); };
  return jobs;
}

absl::Status Daemon::DescribeHost() {
  absl::StatusOr<WorkerDescription> description = launcher_.Describe();
  if (!description.ok()) {
    return Annotate(description.status(),
                    absl::StrCat("--worker ", options_.worker.string()));
  }
  metrics_.DeclareHost(*description);
  for (const DeviceDescription& device : description->devices) {
    LogInfo("device ", device.id, ": ", device.model,
            device.unavailable ? ", unavailable: " : "",
            device.unavailable.value_or(""));
  }
  host_.SetDescription(*std::move(description));
  return absl::OkStatus();
}

void Daemon::ListModels() {
  models_ = std::make_unique<ModelCatalog>(ModelsFolder(options_),
                                           *host_.description(), host_);
  models_->Refresh();
}

void Daemon::WatchGpus() {
  std::vector<WatchedGpu> gpus;
  for (const DeviceDescription& device : host_.description()->devices) {
    if (device.kind != DeviceKind::kGpu || !device.uuid.has_value()) continue;
    absl::StatusOr<std::unique_ptr<DeviceLease>> lease =
        DeviceLease::Create(options_.lease_dir, *device.uuid);
    if (lease.ok()) {
      leases_[device.id] = *std::move(lease);
    } else {
      LogWarning("Other daemons may measure on ", device.id,
                 " while it runs a job: ", lease.status().message());
    }
    gpus.push_back({device.id, *device.uuid, LeaseOf(device.id)});
  }
  if (gpus.empty()) return;
  gpus_ = std::make_unique<GpuWatch>(GpuWatchOptions(), std::move(gpus),
                                     OpenDriver, Clock::Real());
  metrics_.SetGpuSource([this] { return FiguresOf(gpus_->Latest()); });
}

void Daemon::MeasureGpus() {
  if (!options_.measure_gpus) return;
  WorkerDescription description = *host_.description();
  FillRoofs({.launcher = launcher_,
             .store = *jobs_,
             .clock = Clock::Real(),
             .lease_of = [this](const std::string& id) { return LeaseOf(id); }},
            &description);
  host_.SetDescription(std::move(description));
}

DeviceLease* Daemon::LeaseOf(const std::string& device) {
  const auto found = leases_.find(device);
  return found == leases_.end() ? nullptr : found->second.get();
}

absl::Status Daemon::StartRunners() {
  for (const DeviceDescription& device : host_.description()->devices) {
    if (device.unavailable.has_value()) continue;
    DeviceRunnerOptions options;
    options.device = device.id;
    options.roofs = device.roofs;
    options.standby_workers = options_.standby_workers;
    options.limits.compiling = options_.compile_timeout + kCompileSlack;
    ASSIGN_OR_RETURN(
        std::unique_ptr<DeviceRunner> runner,
        DeviceRunner::Create(options, {.manager = manager_,
                                       .launcher = launcher_,
                                       .intake = intake_,
                                       .metrics = metrics_,
                                       .clock = Clock::Real(),
                                       .lease_or_null = LeaseOf(device.id)}));
    runners_.push_back(std::move(runner));
  }
  return absl::OkStatus();
}

absl::Status Daemon::StartServers() {
  GrpcServerOptions grpc;
  grpc.address = options_.listen.ToString();
  grpc.hostname = HostName();
  grpc.start_time = absl::Now();
  grpc.jobs = JobOptions();
  ASSIGN_OR_RETURN(grpc_, GrpcServer::Start(grpc, {.manager = manager_,
                                                   .jobs = *jobs_,
                                                   .traces = *traces_,
                                                   .importer = importer_,
                                                   .host = host_,
                                                   .executor = executor_,
                                                   .metrics = metrics_}));
  for (const char* route : kHttpRoutes) metrics_.DeclareHttpRoute(route);
  metrics_.SetInsecureListener(!options_.listen.loopback() ||
                               !options_.http_listen.loopback());
  HttpHandlers handlers{
      .metrics = [this] { return metrics_.Text(); },
      .unhealthy = [this] { return host_.unhealthy(); },
      .call =
          [this](const HttpCall& call) {
            return ToHttp(grpc_->Call(ToConnect(call)));
          },
      .count = [this](const std::string& route,
                      int status) { metrics_.HttpRequest(route, status); }};
  ASSIGN_OR_RETURN(
      http_,
      HttpServer::Create({.host = options_.http_listen.host,
                          .port = options_.http_listen.port,
                          .any_host_name = !options_.http_listen.loopback()},
                         std::move(handlers)));
  return absl::OkStatus();
}

std::string Daemon::grpc_address() const {
  return HostPort{options_.listen.host, grpc_->port()}.ToString();
}

std::string Daemon::http_address() const {
  return HostPort{options_.http_listen.host, http_->port()}.ToString();
}

void Daemon::CheckReadiness() {
  host_.SetHealth("store", jobs_->CheckWritable());
}

void Daemon::Drain() {
  host_.SetHealth("draining",
                  absl::UnavailableError("The daemon is shutting down."));
  manager_.Drain();
  for (const auto& runner : runners_) runner->Drain(options_.drain_timeout);
  // Their destructors wait for the jobs that run, while calls are still
  // answered: a client that waits for such a job sees how it ends.
  runners_.clear();
  http_.reset();
  grpc_->Shutdown(kCallGrace);
}

}  // namespace traza
