// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_PLANNED_WORK_H_
#define WORKER_PLANNED_WORK_H_

#include <functional>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "spec/worker_description.h"
#include "worker/job.h"
#include "workloads/workload.h"

namespace traza {

// What a job runs, found by its name.
struct PlannedWork {
  // Builds or finds the package of a compiled variant; null for others.
  std::function<absl::Status()> compile;
  // Builds the workload, after `compile`; may throw.
  std::function<absl::StatusOr<std::unique_ptr<Workload>>()> make;
  // Of the registry; null for a model of the operator.
  const WorkloadSchema* schema_or_null = nullptr;
  // Declared rows of a step; absent when nobody knows.
  std::optional<double> ops_per_step;
  std::optional<double> device_records_per_step;
};

// Looks in the registry, then among the operator's own models in job.models.
//
// NOT_FOUND / WORKLOAD_NOT_FOUND, or FAILED_PRECONDITION /
// WORKLOAD_UNAVAILABLE for a model that cannot run on the device or whose
// manifest no longer fits the job. `job`, `device` and `parts` must outlive
// what is returned.
absl::StatusOr<PlannedWork> PlanWork(const WorkerJob& job,
                                     const DeviceDescription& device,
                                     const WorkerParts& parts);

}  // namespace traza

#endif  // WORKER_PLANNED_WORK_H_
