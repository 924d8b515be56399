// SPDX-License-Identifier: Apache-2.0
#ifndef SPEC_PREDICT_H_
#define SPEC_PREDICT_H_

#include "absl/status/status.h"

#include "spec/admission.h"
#include "spec/job_spec.h"
#include "spec/worker_description.h"

namespace traza {

// What `spec`, with all its parameters, is expected to cost there. Figures
// beyond int64 are the largest int64; a time without end is infinite.
Prediction Predict(const JobSpec& spec, const WorkloadSchema& workload,
                   const DeviceDescription& device);

// INVALID_ARGUMENT (MEMORY_TOO_LARGE, TIME_TOO_LONG, TRACE_TOO_LARGE) with
// every figure that exceeds its limit: readable in the violations, exact in the
// metadata as predicted_X and limit_X, X being memory_bytes, time_ns or
// trace_bytes. The reason is that of the first.
absl::Status CheckPrediction(const JobSpec& spec, const Prediction& prediction,
                             const DeviceDescription& device,
                             const AdmissionLimits& limits);

// The same error for a job on a GPU that needs too much memory of the host,
// which is the device `cpu`.
absl::Status CheckHostMemory(const JobSpec& spec,
                             const WorkloadSchema& workload,
                             const DeviceDescription& cpu,
                             const AdmissionLimits& limits);

}  // namespace traza

#endif  // SPEC_PREDICT_H_
