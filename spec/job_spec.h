// SPDX-License-Identifier: Apache-2.0
#ifndef SPEC_JOB_SPEC_H_
#define SPEC_JOB_SPEC_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "nlohmann/json_fwd.hpp"

namespace traza {

// How much is collected in the traced steps, cheap to dear. Each level holds
// what the ones before it hold.
enum class Depth {
  kTiming,    // nothing: step times only
  kKernels,   // device work
  kLaunches,  // and the calls that launched it
  kOps,       // and PyTorch operators (the default)
  kShapes,    // and operator input shapes, dtypes, FLOP, allocations
};

// "timing", "kernels", "launches", "ops", "shapes".
absl::string_view DepthName(Depth depth);
std::optional<Depth> DepthFromName(absl::string_view name);

// What the device's L2 cache holds when a timed or traced step begins.
enum class L2Policy {
  kWarm,   // what the step before left there (the default)
  kFlush,  // nothing of the work: it is overwritten before each step
};

// "warm", "flush".
absl::string_view L2PolicyName(L2Policy policy);
std::optional<L2Policy> L2PolicyFromName(absl::string_view name);

// Warm-up: a fixed number of steps, or until step times are steady.
struct Warmup {
  bool automatic = true;
  int64_t steps = 0;  // Only when not automatic; 0 to kMaxSteps.

  friend bool operator==(const Warmup&, const Warmup&) = default;
};

// Limits of a job, enforced by MakeEffective (spec/admission.h).
inline constexpr int64_t kMaxSteps = 1'000'000;  // of each kind
// Timed steps with L2Policy::kFlush: each is timed alone, and its time kept in
// the trace's header.
inline constexpr int64_t kMaxFlushedSteps = 10'000;
inline constexpr int64_t kDefaultTimedSteps = 30;
inline constexpr int64_t kDefaultTracedSteps = 30;
inline constexpr absl::Duration kDefaultTimeout = absl::Minutes(5);
inline constexpr absl::Duration kMinTimeout = absl::Seconds(1);
inline constexpr absl::Duration kMaxTimeout = absl::Hours(1);
inline constexpr int kMaxLabels = 32;
inline constexpr int kMaxLabelKeyBytes = 63;     // [a-z0-9_.-]+
inline constexpr int kMaxLabelValueBytes = 255;  // UTF-8, no control characters
inline constexpr int kMaxParams = 64;
inline constexpr int kMaxParamValueBytes = 255;
inline constexpr int kMaxRequestIdBytes = 128;

// What a client asks for: everything but the workload may be left out.
struct JobRequest {
  std::string workload;
  std::optional<std::string> variant;
  std::optional<std::string> device;  // "cpu", "gpu0", ...
  std::map<std::string, std::string> params;
  std::optional<int64_t> cold_steps;
  std::optional<Warmup> warmup;
  std::optional<int64_t> timed_steps;
  std::optional<int64_t> traced_steps;
  std::optional<Depth> depth;
  std::optional<int64_t> seed;
  std::optional<absl::Duration> timeout;
  std::map<std::string, std::string> labels;
  std::optional<L2Policy> l2;

  friend bool operator==(const JobRequest&, const JobRequest&) = default;
};

// The effective job: what runs, every default filled in. It is what the worker
// gets and what a trace's header keeps.
struct JobSpec {
  std::string workload;
  std::string variant;                        // "eager"
  std::string device;                         // "cpu", "gpu0", ...
  std::map<std::string, std::string> params;  // one value for each parameter
  int64_t cold_steps = 0;  // steps recorded from the very first, 0..kMaxSteps
  Warmup warmup;
  int64_t timed_steps = kDefaultTimedSteps;    // 1..kMaxSteps
  int64_t traced_steps = kDefaultTracedSteps;  // 1..kMaxSteps
  Depth depth = Depth::kOps;
  int64_t seed = 0;
  absl::Duration timeout = kDefaultTimeout;  // of the whole run, queue excluded
  std::map<std::string, std::string> labels;
  L2Policy l2 = L2Policy::kWarm;

  friend bool operator==(const JobSpec&, const JobSpec&) = default;
};

// JSON with every field by its name, durations in ns as `timeout_ns`, warm-up
// as "auto" or a number, depth by name.
nlohmann::json ToJson(const JobSpec& spec);
// INVALID_ARGUMENT with the path of the first field that is missing or wrong.
// Without `l2`, which older jobs have not, it is warm.
absl::StatusOr<JobSpec> JobSpecFromJson(const nlohmann::json& json);

// The same for a request: only `workload` is needed. An unknown field is an
// error, so that a typing mistake in a hand-written spec is not ignored.
nlohmann::json ToJson(const JobRequest& request);
absl::StatusOr<JobRequest> JobRequestFromJson(const nlohmann::json& json);

}  // namespace traza

#endif  // SPEC_JOB_SPEC_H_
