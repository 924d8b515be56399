// SPDX-License-Identifier: Apache-2.0
#include "worker/job.h"

#include <unistd.h>

#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

#include "base/error.h"
#include "base/status_macros.h"
#include "base/version.h"
#include "spec/cost.h"
#include "spec/violations.h"
#include "worker/device_sampler.h"
#include "worker/l2_flush.h"
#include "worker/planned_work.h"
#include "worker/session.h"
#include "workloads/registry.h"

namespace traza {
namespace {

std::string HostName() {
  char name[256] = {};
  if (gethostname(name, sizeof name - 1) != 0) return "";
  return name;
}

// What watches the device; null where its state cannot be read.
std::unique_ptr<DeviceSampler> MakeSampler(const WorkerJob& job,
                                           const DeviceDescription& device,
                                           GpuMonitor* monitor) {
  DeviceSamplerOptions options = {.daemon = job.daemon};
  if (monitor == nullptr || !device.uuid ||
      !absl::SimpleAtoi(absl::StripPrefix(device.id, "gpu"), &options.device)) {
    return nullptr;
  }
  options.uuid = *device.uuid;
  return std::make_unique<DeviceSampler>(options, *monitor);
}

// A daemon of an earlier version, or one that had the job in its queue while it
// was replaced, knows fewer parameters: those have their defaults.
absl::StatusOr<WorkerJob> WithAllParams(const WorkerJob& job,
                                        const DeviceDescription& device) {
  const WorkloadEntry* const entry = FindWorkload(job.spec.workload);
  WorkerJob whole = job;
  // Of the operator's models PlanWork() checks them.
  if (entry == nullptr) return whole;
  std::vector<FieldViolation> violations;
  whole.spec.params =
      FillParams(entry->schema.params, device.kind == DeviceKind::kCpu,
                 job.spec.params, &violations);
  if (violations.empty()) return whole;
  return ViolationsError(Reason::kInvalidArgument, violations);
}

Header MakeHeader(const WorkerJob& job, const DeviceDescription& device,
                  const TorchRuntime& runtime) {
  Header header;
  header.producer = absl::StrCat("traza ", kVersion);
  header.job_id = job.job_id;
  header.job = job.spec;
  header.host = HostName();
  header.device = device;
  header.device.roofs = job.roofs;
  header.versions = runtime.versions();
  header.versions["traza"] = kVersion;
  header.standby = job.standby;
  header.threads = runtime.threads();
  return header;
}

// Of one step; nothing where the workload does not say.
std::optional<StepCost> StepCostOf(const Cost& cost,
                                   const ParamValues& params) {
  const StepCost step = {.flops = Evaluate(cost.flops, params),
                         .bytes = Evaluate(cost.bytes, params)};
  if (!(step.flops > 0) || !(step.bytes > 0)) return std::nullopt;
  return step;
}

absl::Status NoDevice(const JobSpec& spec, const TorchRuntime& runtime) {
  return ErrorBuilder(absl::StatusCode::kNotFound, Reason::kDeviceNotFound)
      .With("device", spec.device)
      .Build(absl::StrCat("The worker has no device ", spec.device, ". ",
                          runtime.no_gpu()));
}

absl::Status Unavailable(const std::string& device, const std::string& why) {
  return ErrorBuilder(absl::StatusCode::kFailedPrecondition,
                      Reason::kDeviceUnavailable)
      .With("device", device)
      .Build(why);
}

}  // namespace

WorkerMessage JobOutcome::ToMessage() const {
  if (status.ok()) return result;
  const std::optional<ErrorDetails> details = DetailsOf(status);
  return WorkerError{
      .reason = details ? details->reason : Reason::kWorkerFailed,
      .message = std::string(status.message()),
      .phase = phase};
}

JobOutcome RunJob(const WorkerJob& given, const WorkerParts& parts) {
  const TorchRuntime& runtime = parts.runtime;
  const DeviceDescription* const device = runtime.FindDevice(given.spec.device);
  if (device == nullptr) {
    return {.status = NoDevice(given.spec, runtime), .phase = Phase::kSetup};
  }
  if (device->unavailable.has_value()) {
    return {.status = Unavailable(device->id, *device->unavailable),
            .phase = Phase::kSetup};
  }
  absl::StatusOr<WorkerJob> whole = WithAllParams(given, *device);
  if (!whole.ok()) return {.status = whole.status(), .phase = Phase::kSetup};
  const WorkerJob& job = *whole;
  const JobSpec& spec = job.spec;
  absl::StatusOr<PlannedWork> work = PlanWork(job, *device, parts);
  if (!work.ok()) return {.status = work.status(), .phase = Phase::kSetup};

  const std::unique_ptr<DeviceSampler> sampler =
      MakeSampler(job, *device, parts.monitor);
  SessionOptions options = {
      .header = MakeHeader(job, *device, runtime),
      .out = job.out,
      .dump = job.dump,
      .start_ns = job.start_ns,
      .memory_bytes = runtime.FindDevice("cpu")->memory_bytes};
  if (const WorkloadSchema* const schema = work->schema_or_null) {
    options.header.expectations = ExpectationsOf(*schema, spec, device->kind);
    options.header.step_cost = StepCostOf(schema->cost, CostInputs(spec));
  }
  options.ops_per_step = work->ops_per_step;
  options.device_records_per_step =
      parts.collector.Capabilities().device_records
          ? work->device_records_per_step
          : 0;
  std::unique_ptr<L2Flush> l2_flush;
  const auto make_workload =
      [&]() -> absl::StatusOr<std::unique_ptr<Workload>> {
    runtime.MakeCurrent(spec.device);
    if (spec.l2 == L2Policy::kFlush) {
      ASSIGN_OR_RETURN(l2_flush, L2Flush::Create(spec.device));
    }
    return work->make();
  };
  Session session(std::move(options),
                  {.compile = std::move(work->compile),
                   .make_workload = make_workload,
                   .synchronize = [&] { runtime.Synchronize(spec.device); },
                   .device_allocations =
                       [&] { return runtime.DeviceAllocations(spec.device); },
                   .clock = parts.clock,
                   .recorder = parts.recorder,
                   .collector = parts.collector,
                   .progress = parts.progress,
                   .stop = parts.stop,
                   .flush_l2 = [&] { l2_flush->Run(); },
                   .sampler = sampler.get()});
  absl::StatusOr<WorkerResult> result = session.Run();
  if (!result.ok()) {
    return {.status = result.status(), .phase = session.phase()};
  }
  return {.result = *result};
}

}  // namespace traza
