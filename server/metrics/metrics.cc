// SPDX-License-Identifier: Apache-2.0
#include "server/metrics/metrics.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

#include "base/version.h"
#include "server/metrics/gpu_metrics.h"
#include "server/metrics/metric_table.h"
#include "spec/phase.h"

namespace traza {
namespace {

using Values = MetricTable::Values;

// The rows of the table below, in its order.
enum Id : int {
  kBuildInfo,
  kJobsSubmitted,
  kJobsRejected,
  kJobsFinished,
  kJobFailures,
  kTracesCommitted,
  kJobsQueued,
  kJobsRunning,
  kStandbyWorkers,
  kQueueWait,
  kJobDuration,
  kPhase,
  kLastSuccess,
  kWorkerExits,
  kRecords,
  kRecordsLost,
  kStoreBytes,
  kStoreLimitBytes,
  kStoreTraces,
  kTraceWrittenBytes,
  kTracesDeleted,
  kDownloads,
  kDownloadBytes,
  kInsecureListener,
  kGpuInfo,
  kRpcStarted,
  kRpcHandled,
  kRpcSeconds,
  kHttpRequests,
};

std::vector<MetricSpec> Table() {
  using enum MetricType;
  const std::vector<double> queue = {.01, .1, .5,  1,   5,   10,
                                     30,  60, 300, 900, 3600};
  const std::vector<double> job = {.1, .5,  1,   2.5, 5,    10,  30,
                                   60, 120, 300, 600, 1800, 3600};
  const std::vector<double> rpc = {.001, .0025, .005, .01, .025, .05, .1,
                                   .25,  .5,    1,    2.5, 5,    10};
  // clang-format off
  return {
    {kGauge, "traza_build_info", {"version", "revision"}, "1; the labels say what runs.", {}},
    {kCounter, "traza_jobs_submitted_total", {"workload"}, "Jobs accepted.", {}},
    {kCounter, "traza_jobs_rejected_total", {"reason"}, "Jobs refused when they were submitted.", {}},
    {kCounter, "traza_jobs_finished_total", {"workload", "state"}, "Jobs that reached a final state.", {}},
    {kCounter, "traza_job_failures_total", {"reason"}, "Jobs that failed.", {}},
    {kCounter, "traza_traces_committed_total", {"workload", "validity"}, "Traces stored.", {}},
    {kGauge, "traza_jobs_queued", {"class"}, "Jobs that wait for their device.", {}},
    {kGauge, "traza_jobs_running", {"device"}, "Jobs that run.", {}},
    {kGauge, "traza_standby_workers", {"device"}, "Workers that are ready and wait for a job.", {}},
    {kHistogram, "traza_job_queue_wait_seconds", {"class"}, "Time from acceptance to start.", queue},
    {kHistogram, "traza_job_duration_seconds", {"workload"}, "Time from start to end.", job},
    {kHistogram, "traza_job_phase_seconds", {"phase"}, "Time in each phase of a job.", job},
    {kGauge, "traza_last_success_timestamp_seconds", {"workload"}, "When a job last succeeded; absent before.", {}},
    {kCounter, "traza_worker_exits_total", {"reason"}, "Worker processes that ended.", {}},
    {kCounter, "traza_activity_records_total", {"kind"}, "Records in stored traces.", {}},
    {kCounter, "traza_activity_records_lost_total", {"cause"}, "Records known to be lost or damaged in stored traces.", {}},
    {kGauge, "traza_store_bytes", {}, "Size of all trace files.", {}},
    {kGauge, "traza_store_limit_bytes", {}, "Above this size of all trace files no job is accepted.", {}},
    {kGauge, "traza_store_traces", {}, "Stored traces.", {}},
    {kCounter, "traza_trace_written_bytes_total", {}, "Size of the trace files stored.", {}},
    {kCounter, "traza_traces_deleted_total", {"cause"}, "Traces deleted.", {}},
    {kCounter, "traza_downloads_total", {"transport", "result"}, "Downloads of trace files that ended.", {}},
    {kCounter, "traza_download_bytes_total", {"transport"}, "Bytes of trace files sent.", {}},
    {kGauge, "traza_insecure_listener", {}, "1 when other machines can reach the daemon without encryption.", {}},
    {kGauge, "traza_gpu_info", {"device", "uuid", "model", "driver"}, "1; the labels describe the GPU.", {}},
    {kCounter, "grpc_server_started_total", {"grpc_type", "grpc_service", "grpc_method"}, "Calls started.", {}},
    {kCounter, "grpc_server_handled_total", {"grpc_type", "grpc_service", "grpc_method", "grpc_code"}, "Calls completed.", {}},
    {kHistogram, "grpc_server_handling_seconds", {"grpc_type", "grpc_service", "grpc_method"}, "Time from start to end of a call.", rpc},
    {kCounter, "traza_http_requests_total", {"route", "code"}, "HTTP requests answered.", {}},
  };
  // clang-format on
}

// This version has one queue for each device and no other classes of jobs.
constexpr absl::string_view kOnlyClass = "interactive";

constexpr std::array<absl::string_view, 3> kFinalStates = {
    "succeeded", "failed", "cancelled"};
constexpr std::array<absl::string_view, 3> kValidities = {"valid", "unstable",
                                                          "invalid"};
constexpr std::array<absl::string_view, 12> kRecordKinds = {
    "phase", "step", "range", "op",       "call",  "kernel",
    "copy",  "fill", "sync",  "overhead", "alloc", "counter"};
constexpr std::array<absl::string_view, 7> kLossCauses = {
    "dropped",     "zero_ts",        "bad_order",   "missing_gpu",
    "dropped_ops", "unmatched_call", "unmatched_op"};
constexpr std::array<absl::string_view, 7> kExitReasons = {
    "ok", "error", "cuda_error", "signal", "oom", "timeout", "cancelled"};
// In the spelling of the other gRPC libraries' metrics.
constexpr std::array<absl::string_view, 17> kRpcCodes = {"OK",
                                                         "Canceled",
                                                         "Unknown",
                                                         "InvalidArgument",
                                                         "DeadlineExceeded",
                                                         "NotFound",
                                                         "AlreadyExists",
                                                         "PermissionDenied",
                                                         "ResourceExhausted",
                                                         "FailedPrecondition",
                                                         "Aborted",
                                                         "OutOfRange",
                                                         "Unimplemented",
                                                         "Internal",
                                                         "Unavailable",
                                                         "DataLoss",
                                                         "Unauthenticated"};
constexpr std::array<int, 12> kHttpCodes = {200, 206, 304, 400, 404, 405,
                                            413, 416, 429, 500, 501, 503};

// A clock that was set back is no negative time.
double Seconds(absl::Time from, absl::Time to) {
  return std::max(0.0, absl::ToDoubleSeconds(to - from));
}

std::string Lower(absl::string_view text) {
  return absl::AsciiStrToLower(text);
}

}  // namespace

Metrics::Metrics() : table_(std::make_unique<MetricTable>(Table())) {
  table_->Set(kBuildInfo, {kVersion, kRevision}, 1);
  for (const Reason reason : AllReasons()) {
    table_->Declare(kJobsRejected, {TextOf(reason).name});
    table_->Declare(kJobFailures, {TextOf(reason).name});
  }
  for (const absl::string_view reason : kExitReasons) {
    table_->Declare(kWorkerExits, {reason});
  }
  for (const absl::string_view kind : kRecordKinds) {
    table_->Declare(kRecords, {kind});
  }
  for (const absl::string_view cause : kLossCauses) {
    table_->Declare(kRecordsLost, {cause});
  }
  for (const Phase phase : kAllPhases)
    table_->Declare(kPhase, {PhaseName(phase)});
  table_->Declare(kDownloadBytes, {"grpc"});
  table_->Declare(kDownloads, {"grpc", "ok"});
  table_->Declare(kDownloads, {"grpc", "error"});
  table_->Declare(kJobsQueued, {kOnlyClass});
  table_->Declare(kQueueWait, {kOnlyClass});
  table_->Declare(kTracesDeleted, {"user"});
  for (const absl::string_view validity : kValidities) {
    table_->Declare(kTracesCommitted, {kImportedWorkload, validity});
  }
  for (const int metric :
       {kStoreBytes, kStoreTraces, kTraceWrittenBytes, kInsecureListener}) {
    table_->Declare(metric, {});
  }
}

Metrics::~Metrics() = default;

void Metrics::DeclareHost(const WorkerDescription& description) {
  for (const WorkloadSchema& workload : description.workloads) {
    table_->Declare(kJobsSubmitted, {workload.name});
    table_->Declare(kJobDuration, {workload.name});
    for (const absl::string_view state : kFinalStates) {
      table_->Declare(kJobsFinished, {workload.name, state});
    }
    for (const absl::string_view validity : kValidities) {
      table_->Declare(kTracesCommitted, {workload.name, validity});
    }
  }
  const auto driver = description.versions.find("driver");
  for (const DeviceDescription& device : description.devices) {
    table_->Declare(kJobsRunning, {device.id});
    table_->Declare(kStandbyWorkers, {device.id});
    if (device.kind != DeviceKind::kGpu) continue;
    table_->Set(kGpuInfo,
                {device.id, device.uuid.value_or(""), device.model,
                 driver == description.versions.end() ? "" : driver->second},
                1);
  }
}

void Metrics::DeclareRpc(absl::string_view service, absl::string_view method,
                         absl::string_view type) {
  table_->Declare(kRpcStarted, {type, service, method});
  table_->Declare(kRpcSeconds, {type, service, method});
  for (const absl::string_view code : kRpcCodes) {
    table_->Declare(kRpcHandled, {type, service, method, code});
  }
}

void Metrics::DeclareHttpRoute(absl::string_view route) {
  for (const int code : kHttpCodes) {
    table_->Declare(kHttpRequests, {route, absl::StrCat(code)});
  }
}

void Metrics::JobSubmitted(absl::string_view workload) {
  table_->Add(kJobsSubmitted, {workload});
}

void Metrics::JobRejected(Reason reason) {
  table_->Add(kJobsRejected, {TextOf(reason).name});
}

void Metrics::JobStarted(const Job& job) {
  if (!job.start_time.has_value()) return;
  table_->Observe(kQueueWait, {kOnlyClass},
                  Seconds(job.create_time, *job.start_time));
}

void Metrics::JobFinished(const Job& job) {
  const std::string& workload = job.spec.workload;
  table_->Add(kJobsFinished, {workload, Lower(JobStateName(job.state))});
  if (job.state == JobState::kFailed && job.error.has_value()) {
    table_->Add(kJobFailures, {TextOf(job.error->reason).name});
  }
  if (job.start_time.has_value() && job.end_time.has_value()) {
    table_->Observe(kJobDuration, {workload},
                    Seconds(*job.start_time, *job.end_time));
  }
  for (const auto& [phase, time] : job.phase_times) {
    table_->Observe(kPhase, {PhaseName(phase)}, absl::ToDoubleSeconds(time));
  }
  if (job.state == JobState::kSucceeded && job.end_time.has_value()) {
    table_->Set(kLastSuccess, {workload},
                absl::ToDoubleSeconds(*job.end_time - absl::UnixEpoch()));
  }
}

void Metrics::WorkerExit(WorkerExitReason reason) {
  table_->Add(kWorkerExits, {kExitReasons[static_cast<size_t>(reason)]});
}

void Metrics::SetQueuedJobs(int64_t count) {
  table_->Set(kJobsQueued, {kOnlyClass}, static_cast<double>(count));
}

void Metrics::SetRunningJobs(absl::string_view device, int64_t count) {
  table_->Set(kJobsRunning, {device}, static_cast<double>(count));
}

void Metrics::SetStandbyWorkers(absl::string_view device, int64_t count) {
  table_->Set(kStandbyWorkers, {device}, static_cast<double>(count));
}

void Metrics::TraceCommitted(absl::string_view workload,
                             const TraceCounts& counts) {
  table_->Add(kTracesCommitted, {workload, Lower(counts.validity)});
  table_->Add(kTraceWrittenBytes, {}, static_cast<double>(counts.file_bytes));
  for (const auto& [kind, count] : counts.records) {
    table_->Add(kRecords, {kind}, static_cast<double>(count));
  }
  for (const auto& [cause, count] : counts.lost) {
    table_->Add(kRecordsLost, {cause}, static_cast<double>(count));
  }
}

void Metrics::TraceDeletedByUser() { table_->Add(kTracesDeleted, {"user"}); }

void Metrics::StoreUsage(int64_t traces, int64_t bytes) {
  table_->Set(kStoreTraces, {}, static_cast<double>(traces));
  table_->Set(kStoreBytes, {}, static_cast<double>(bytes));
}

void Metrics::SetStoreLimit(int64_t bytes) {
  table_->Set(kStoreLimitBytes, {}, static_cast<double>(bytes));
}

void Metrics::DownloadFinished(absl::string_view transport, bool ok,
                               int64_t bytes) {
  table_->Add(kDownloads, {transport, ok ? "ok" : "error"});
  table_->Add(kDownloadBytes, {transport}, static_cast<double>(bytes));
}

void Metrics::SetInsecureListener(bool insecure) {
  table_->Set(kInsecureListener, {}, insecure ? 1 : 0);
}

void Metrics::RpcStarted(absl::string_view service, absl::string_view method,
                         absl::string_view type) {
  table_->Add(kRpcStarted, {type, service, method});
}

void Metrics::RpcHandled(absl::string_view service, absl::string_view method,
                         absl::string_view type, absl::StatusCode code,
                         absl::Duration time) {
  size_t number = static_cast<size_t>(code);
  // A code that gRPC does not know is Unknown (2), there and here.
  if (number >= kRpcCodes.size()) number = 2;
  table_->Add(kRpcHandled, {type, service, method, kRpcCodes[number]});
  table_->Observe(kRpcSeconds, {type, service, method},
                  absl::ToDoubleSeconds(time));
}

void Metrics::HttpRequest(absl::string_view route, int code) {
  table_->Add(kHttpRequests, {route, absl::StrCat(code)});
}

void Metrics::SetGpuSource(std::function<std::vector<GpuFigures>()> source) {
  gpu_source_ = std::move(source);
}

std::string Metrics::Text() const {
  return table_->Text(gpu_source_ ? GpuMetrics(gpu_source_())
                                  : std::vector<prometheus::MetricFamily>());
}

}  // namespace traza
