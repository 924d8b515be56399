// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_HEADER_H_
#define TRACE_HEADER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "spec/expectation.h"
#include "spec/job_spec.h"
#include "spec/worker_description.h"

namespace traza {

// The version of the columns and of the header.
inline constexpr int kTraceSchema = 1;

// What was lost, cut or perturbed (docs/definitions.md, completeness). An
// absent counter is unknown: it could not be observed. Zero means that it was
// and is zero.
struct Completeness {
  std::optional<int64_t> dropped;         // records for which there was no room
  std::optional<int64_t> zero_ts;         // device records with start = end = 0
  std::optional<int64_t> bad_order;       // end < start
  std::optional<int64_t> before_launch;   // device start < start of its call
  std::optional<int64_t> missing_gpu;     // successful launches without record
  std::optional<int64_t> unmatched_call;  // device records without a call
  std::optional<int64_t> unmatched_op;    // calls without an operator
  std::optional<int64_t> failed_calls;    // calls that returned an error
  std::optional<int64_t> cut;             // straddle an edge of the window
  std::optional<int64_t> overhead_ns_in_window;
  std::optional<int64_t> buffer_requests_in_window;
  std::optional<int64_t> pool_misses;
  std::optional<int64_t> skew_min_ns;  // least (device start - call start)
  std::optional<int64_t> clock_step_ns;
  std::optional<int64_t> truncated_buffers;
  std::optional<int64_t>
      id_stack_depth;  // of the operator stack at the end; 0 is right
  std::optional<int64_t> dropped_ops;  // operators past the preallocated rows
  // Launches, copies, fills that were captured into a graph: no work by them.
  std::optional<int64_t> captured_calls;
  // Those without a device record that may have done nothing.
  std::optional<int64_t> unsure_gpu;

  friend bool operator==(const Completeness&, const Completeness&) = default;
};

// Untraced steps: the real step time.
struct TimedPass {
  int64_t steps = 0;
  int64_t steps_per_batch = 1;    // all but the last batch
  std::vector<int64_t> batch_ns;  // wall time of each batch
  bool armed_before = false;      // collection was on before it: biased

  friend bool operator==(const TimedPass&, const TimedPass&) = default;
};

struct WarmupResult {
  int64_t steps = 0;
  bool steady = false;   // the last steps agreed; only meaningful if checked
  bool checked = false;  // steadiness was looked at (automatic)
  bool cap_hit = false;  // ended by its time limit
  // Spread of the last 8 steps, (6th - 3rd of them by size) / median; absent
  // below 8 steps.
  std::optional<double> spread;

  friend bool operator==(const WarmupResult&, const WarmupResult&) = default;
};

// Says whether two variants computed the same thing.
struct Fingerprint {
  bool finite = false;  // no NaN, no infinity in the output
  double sum = 0;       // of all elements, in fp64
  double norm = 0;      // root of the sum of squares, in fp64
  int64_t elements = 0;
  std::string dtype;  // "float", "bfloat16", ...
  std::string shape;  // "[64,64]"
  // What another way to compute the same may differ by, as a share of the
  // norm, 0 to 1, where the workload says so; else it follows from the dtype.
  std::optional<double> tolerance;

  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};

// State of a device around the job; absent is unknown. Reasons and processes
// of the state after it are those since the state before.
struct DeviceState {
  std::optional<int64_t> clock_hz;
  std::optional<double> power_watts;
  std::optional<double> temperature_celsius;
  // Why its clocks were held down, "sw_power_cap", or {"none"} where nothing
  // did; empty is unknown.
  std::vector<std::string> throttle_reasons;
  std::optional<int64_t> memory_used_bytes;
  std::optional<int64_t> other_processes;

  friend bool operator==(const DeviceState&, const DeviceState&) = default;
};

// What one step does at least, as its workload declares: FLOP, and bytes that
// have to move between memory and device whatever the caches do. Above 0.
struct StepCost {
  double flops = 0;
  double bytes = 0;

  friend bool operator==(const StepCost&, const StepCost&) = default;
};

// File metadata `traza.header`.
struct Header {
  int schema = kTraceSchema;
  std::string producer;  // "traza 0.1.0"
  std::string job_id;    // empty for a worker started by hand
  JobSpec job;
  std::string host;  // host name
  DeviceDescription device;
  std::optional<DeviceState> state_before;
  std::optional<DeviceState> state_after;
  std::map<std::string, std::string> versions;  // "torch" -> "2.11.0+cu130"
  std::string collector;                        // "null", "cupti", "replay"
  std::string collector_note;  // why there are no device rows, if so
  bool standby = false;  // ran on a standby worker: its first step is not cold
  bool partial = false;  // stopped before all steps were traced
  // How often the window was opened until the first traced step was like those
  // that primed it; what came before the last opening is in no row.
  int window_openings = 1;
  int threads = 0;  // CPU threads of PyTorch
  std::optional<int64_t> peak_resident_bytes;
  WarmupResult warmup;
  TimedPass timed;
  Completeness completeness;
  std::optional<Fingerprint> fingerprint;
  std::optional<StepCost> step_cost;  // absent where the workload has none
  // What was expected of the trace before it was recorded.
  std::vector<JobExpectation> expectations;

  friend bool operator==(const Header&, const Header&) = default;
};

std::string HeaderToJson(const Header& header);
// Hostile input; unknown fields are ignored, a newer schema is
// FAILED_PRECONDITION / TRACE_UNREADABLE with both numbers.
absl::StatusOr<Header> HeaderFromJson(absl::string_view text);

}  // namespace traza

#endif  // TRACE_HEADER_H_
