// SPDX-License-Identifier: Apache-2.0
#include "worker/planned_work.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/error.h"
#include "base/status_macros.h"
#include "spec/cost.h"
#include "spec/model_folder.h"
#include "worker/package_cache.h"
#include "workloads/model.h"
#include "workloads/registry.h"

namespace traza {
namespace {

// The file of the package that `entry` runs, built where it is missing.
absl::StatusOr<std::string> CompiledPackage(const WorkerJob& job,
                                            const WorkloadEntry& entry,
                                            const DeviceDescription& device,
                                            const WorkerParts& parts) {
  if (job.models.empty()) {
    return ErrorBuilder(absl::StatusCode::kInvalidArgument,
                        Reason::kInvalidArgument)
        .Build(
            "A compiled variant needs --models DIR: where packages are "
            "kept.");
  }
  ASSIGN_OR_RETURN(const HostPython python,
                   HostPython::Find(ProcessEnvironment()));
  const PackageCache cache(job.models / kPackageFolder, job.compile_timeout,
                           python, parts.stop);
  ASSIGN_OR_RETURN(
      const CachedPackage package,
      cache.Get({.workload = job.spec.workload,
                 .step = entry.compiled(ParamValues(job.spec.params)),
                 .device = device,
                 .torch = parts.runtime.versions().at("torch")}));
  return package.path.string();
}

PlannedWork PlanRegistered(const WorkerJob& job, const WorkloadEntry& entry,
                           const DeviceDescription& device,
                           const WorkerParts& parts) {
  // Shared: `compile` fills in what `make` needs.
  const auto args = std::make_shared<WorkloadArgs>(
      WorkloadArgs{.params = ParamValues(job.spec.params),
                   .variant = job.spec.variant,
                   .device = job.spec.device,
                   .seed = job.spec.seed});
  PlannedWork work;
  work.make = [&job, args] { return CreateWorkload(job.spec.workload, *args); };
  const ParamValues inputs = CostInputs(job.spec);
  work.schema_or_null = &entry.schema;
  work.ops_per_step = Evaluate(entry.schema.cost.ops, inputs);
  work.device_records_per_step = Evaluate(entry.schema.cost.kernels, inputs);
  if (job.spec.variant == kCompiledVariant && entry.compiled != nullptr) {
    work.compile = [&job, &entry, &device, &parts, args]() -> absl::Status {
      ASSIGN_OR_RETURN(args->package_file,
                       CompiledPackage(job, entry, device, parts));
      return absl::OkStatus();
    };
  }
  return work;
}

absl::Status Unavailable(const std::string& workload, absl::string_view why) {
  return ErrorBuilder(absl::StatusCode::kFailedPrecondition,
                      Reason::kWorkloadUnavailable)
      .With("workload", workload)
      .Build(why);
}

// One that broke since the job was accepted is listed under its file's name.
bool IsOf(const std::string& workload, const RegisteredModel& model) {
  return model.name() == workload ||
         (model.manifest.has_value() && model.manifest->name == workload);
}

// The manifest may have changed since the job was accepted.
absl::Status CheckStillFits(const RegisteredModel& model, const WorkerJob& job,
                            const DeviceDescription& device,
                            const std::string& torch) {
  const WorkloadSchema schema = SchemaOf(model, {device}, torch);
  const VariantSchema& variant = schema.variants.front();
  const auto why = variant.unavailable.find(device.id);
  if (why != variant.unavailable.end()) {
    return Unavailable(schema.name, why->second);
  }
  std::vector<FieldViolation> violations;
  FillParams(schema.params, device.kind == DeviceKind::kCpu, job.spec.params,
             &violations);
  if (violations.empty() && variant.name == job.spec.variant &&
      schema.params.size() == job.spec.params.size()) {
    return absl::OkStatus();
  }
  return Unavailable(
      schema.name,
      absl::StrCat("The manifest of ", schema.name,
                   " has changed since the job was accepted; run it again."));
}

}  // namespace

absl::StatusOr<PlannedWork> PlanWork(const WorkerJob& job,
                                     const DeviceDescription& device,
                                     const WorkerParts& parts) {
  if (const WorkloadEntry* const entry = FindWorkload(job.spec.workload)) {
    return PlanRegistered(job, *entry, device, parts);
  }
  for (RegisteredModel& model : ReadModels(job.models, WorkloadNames())) {
    // A manifest that cannot be used any more is known by its file only.
    if (model.name() == absl::StrCat(job.spec.workload, ".json")) {
      return ErrorBuilder(absl::StatusCode::kFailedPrecondition,
                          Reason::kModelUnusable)
          .With("workload", job.spec.workload)
          .Build(absl::StrCat("The model ", job.spec.workload,
                              " cannot be used any more: ", model.fault, "."));
    }
    if (!IsOf(job.spec.workload, model)) continue;
    RETURN_IF_ERROR(CheckStillFits(model, job, device,
                                   parts.runtime.versions().at("torch")));
    PlannedWork work;
    work.make = [&job, &device, found = std::move(model)] {
      return CreateModel(found,
                         {.params = ParamValues(job.spec.params),
                          .variant = job.spec.variant,
                          .device = job.spec.device,
                          .seed = job.spec.seed},
                         device.memory_bytes);
    };
    return work;
  }
  return ErrorBuilder(absl::StatusCode::kNotFound, Reason::kWorkloadNotFound)
      .With("workload", job.spec.workload)
      .Build(absl::StrCat("There is no workload ", job.spec.workload,
                          job.models.empty()
                              ? ""
                              : ", neither built in nor in the models folder",
                          "."));
}

}  // namespace traza
