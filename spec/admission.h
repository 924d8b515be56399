// SPDX-License-Identifier: Apache-2.0
#ifndef SPEC_ADMISSION_H_
#define SPEC_ADMISSION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "spec/job_spec.h"
#include "spec/worker_description.h"

namespace traza {

struct AdmissionLimits {
  int64_t max_trace_bytes = int64_t{1} << 30;  // of one trace file
  // Share of the device's memory that a job may be predicted to need.
  double max_memory_share = 0.8;
};

// What a job is expected to cost. Absent means unknown, never zero.
struct Prediction {
  std::optional<absl::Duration> step;   // one step
  std::optional<absl::Duration> total;  // cold + warm-up + timed + traced steps
  std::optional<int64_t> memory_bytes;
  std::optional<int64_t> trace_rows;
  std::optional<int64_t> trace_bytes;

  friend bool operator==(const Prediction&, const Prediction&) = default;
};

// One value that the request did not hold, or that was changed.
struct Adjustment {
  std::string field;  // "device", "params[size]", ...
  std::string value;  // what is in force
  std::string why;    // "default", "default on cpu", "clamped from ..."

  friend bool operator==(const Adjustment&, const Adjustment&) = default;
};

struct AdmittedJob {
  JobSpec spec;
  Prediction prediction;
  std::vector<Adjustment> adjustments;
};

// Turns a request into the effective job, or says why it cannot run: the one
// place where defaults are filled in and limits are checked, for the daemon
// and for a worker started by hand.
//
// Errors: INVALID_ARGUMENT (INVALID_ARGUMENT, UNKNOWN_PARAMETER,
// MEMORY_TOO_LARGE, TIME_TOO_LONG, TRACE_TOO_LARGE; all faults of the request
// as violations, with the numbers), NOT_FOUND (WORKLOAD_NOT_FOUND,
// DEVICE_NOT_FOUND, VARIANT_NOT_FOUND, each naming what exists),
// FAILED_PRECONDITION (WORKLOAD_UNAVAILABLE, DEVICE_UNAVAILABLE with the
// reason).
//
// Without a device the job gets the first available GPU, else the CPU.
//
// Time: step = max(FLOP / measured FLOP/s, operators x 1 us); total = (cold +
// max(warm-up, 3) + timed + traced) steps. Trace bytes: rows x kBytesPerRow
// (spec/predict.cc), a measured upper figure of the Parquet writer.
absl::StatusOr<AdmittedJob> Admit(const JobRequest& request,
                                  const WorkerDescription& host,
                                  const AdmissionLimits& limits);

}  // namespace traza

#endif  // SPEC_ADMISSION_H_
