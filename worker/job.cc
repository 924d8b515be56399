// SPDX-License-Identifier: Apache-2.0
#include "worker/job.h"

#include <unistd.h>

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"

#include "base/error.h"
#include "base/version.h"
#include "spec/cost.h"
#include "worker/null_collector.h"
#include "worker/session.h"
#include "workloads/registry.h"

namespace traza {
namespace {

std::string HostName() {
  char name[256] = {};
  if (gethostname(name, sizeof name - 1) != 0) return "";
  return name;
}

// The device records that will be there, or why there are none.
std::unique_ptr<Collector> MakeCollector(const DeviceDescription& device) {
  return std::make_unique<NullCollector>(
      device.kind == DeviceKind::kCpu
          ? "The job ran on the CPU, where operators are the work itself."
          : "This version of the worker does not collect device records.");
}

const WorkloadSchema* FindSchema(absl::string_view workload) {
  for (const WorkloadEntry& entry : AllWorkloads()) {
    if (entry.schema.name == workload) return &entry.schema;
  }
  return nullptr;
}

Header MakeHeader(const WorkerJob& job, const DeviceDescription& device,
                  const TorchRuntime& runtime) {
  Header header;
  header.producer = absl::StrCat("traza ", kVersion);
  header.job_id = job.job_id;
  header.job = job.spec;
  header.host = HostName();
  header.device = device;
  header.versions = runtime.versions();
  header.versions["traza"] = kVersion;
  header.standby = job.standby;
  header.threads = runtime.threads();
  return header;
}

absl::Status NoDevice(const JobSpec& spec, const TorchRuntime& runtime) {
  return ErrorBuilder(absl::StatusCode::kNotFound, Reason::kDeviceNotFound)
      .With("device", spec.device)
      .Build(absl::StrCat("The worker has no device ", spec.device, ". ",
                          runtime.no_gpu()));
}

absl::Status Unavailable(const DeviceDescription& device) {
  return ErrorBuilder(absl::StatusCode::kFailedPrecondition,
                      Reason::kDeviceUnavailable)
      .With("device", device.id)
      .Build(*device.unavailable);
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

JobOutcome RunJob(const WorkerJob& job, const TorchRuntime& runtime,
                  OpRecorder& recorder, StepProgress& progress,
                  const std::atomic<bool>& stop) {
  const JobSpec& spec = job.spec;
  const DeviceDescription* const device = runtime.FindDevice(spec.device);
  if (device == nullptr) {
    return {.status = NoDevice(spec, runtime), .phase = Phase::kSetup};
  }
  if (device->unavailable) {
    return {.status = Unavailable(*device), .phase = Phase::kSetup};
  }
  const WorkloadArgs args = {.params = ParamValues(spec.params),
                             .variant = spec.variant,
                             .device = spec.device,
                             .seed = spec.seed};
  const std::unique_ptr<Collector> collector = MakeCollector(*device);

  SessionOptions options = {
      .header = MakeHeader(job, *device, runtime),
      .out = job.out,
      .start_ns = job.start_ns,
      .memory_bytes = runtime.FindDevice("cpu")->memory_bytes};
  if (const WorkloadSchema* const schema = FindSchema(spec.workload)) {
    options.ops_per_step = Evaluate(schema->cost.ops, args.params);
    if (collector->Capabilities().device_records) {
      options.device_records_per_step =
          Evaluate(schema->cost.kernels, args.params);
    }
  }
  Session session(
      std::move(options),
      {.make_workload = [&] { return CreateWorkload(spec.workload, args); },
       .synchronize = [&] { runtime.Synchronize(spec.device); },
       .recorder = recorder,
       .collector = *collector,
       .progress = progress,
       .stop = stop});
  absl::StatusOr<WorkerResult> result = session.Run();
  if (!result.ok()) {
    return {.status = result.status(), .phase = session.phase()};
  }
  return {.result = *result};
}

}  // namespace traza
