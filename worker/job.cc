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

const WorkloadSchema* FindSchema(absl::string_view workload) {
  for (const WorkloadEntry& entry : AllWorkloads()) {
    if (entry.schema.name == workload) return &entry.schema;
  }
  return nullptr;
}

// A daemon of an earlier version, or one that had the job in its queue while it
// was replaced, knows fewer parameters: those have their defaults.
absl::StatusOr<JobSpec> WithAllParams(const JobSpec& spec,
                                      const WorkloadSchema& workload,
                                      const DeviceDescription& device) {
  JobSpec whole = spec;
  std::vector<FieldViolation> violations;
  whole.params = FillParams(workload.params, device.kind == DeviceKind::kCpu,
                            spec.params, &violations);
  if (violations.empty()) return whole;
  return ViolationsError(Reason::kInvalidArgument, violations);
}

Header MakeHeader(const WorkerJob& job, const JobSpec& spec,
                  const DeviceDescription& device,
                  const TorchRuntime& runtime) {
  Header header;
  header.producer = absl::StrCat("traza ", kVersion);
  header.job_id = job.job_id;
  header.job = spec;
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

JobOutcome RunJob(const WorkerJob& job, const WorkerParts& parts) {
  const TorchRuntime& runtime = parts.runtime;
  const DeviceDescription* const device = runtime.FindDevice(job.spec.device);
  if (device == nullptr) {
    return {.status = NoDevice(job.spec, runtime), .phase = Phase::kSetup};
  }
  if (device->unavailable.has_value()) {
    return {.status = Unavailable(device->id, *device->unavailable),
            .phase = Phase::kSetup};
  }
  // Where there is none, the session says so.
  const WorkloadSchema* const schema = FindSchema(job.spec.workload);
  JobSpec spec = job.spec;
  if (schema != nullptr) {
    absl::StatusOr<JobSpec> whole = WithAllParams(job.spec, *schema, *device);
    if (!whole.ok()) {
      return {.status = whole.status(), .phase = Phase::kSetup};
    }
    spec = *std::move(whole);
  }
  const WorkloadArgs args = {.params = ParamValues(spec.params),
                             .variant = spec.variant,
                             .device = spec.device,
                             .seed = spec.seed};

  const std::unique_ptr<DeviceSampler> sampler =
      MakeSampler(job, *device, parts.monitor);
  SessionOptions options = {
      .header = MakeHeader(job, spec, *device, runtime),
      .out = job.out,
      .dump = job.dump,
      .start_ns = job.start_ns,
      .memory_bytes = runtime.FindDevice("cpu")->memory_bytes};
  if (schema != nullptr) {
    const ParamValues inputs = CostInputs(spec);
    options.header.expectations = ExpectationsOf(*schema, spec, device->kind);
    options.header.step_cost = StepCostOf(schema->cost, inputs);
    options.ops_per_step = Evaluate(schema->cost.ops, inputs);
    if (parts.collector.Capabilities().device_records) {
      options.device_records_per_step = Evaluate(schema->cost.kernels, inputs);
    }
  }
  std::unique_ptr<L2Flush> l2_flush;
  const auto make_workload =
      [&]() -> absl::StatusOr<std::unique_ptr<Workload>> {
    if (spec.l2 == L2Policy::kFlush) {
      ASSIGN_OR_RETURN(l2_flush, L2Flush::Create(spec.device));
    }
    return CreateWorkload(spec.workload, args);
  };
  Session session(std::move(options),
                  {.make_workload = make_workload,
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
