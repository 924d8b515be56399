// SPDX-License-Identifier: Apache-2.0
#ifndef SPEC_EXPECTATION_H_
#define SPEC_EXPECTATION_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"

#include "spec/condition.h"

namespace traza {

struct JobSpec;
struct WorkloadSchema;
enum class DeviceKind;

// What a trace of a workload is expected to show, written down before it is
// recorded: where the trace shows something else, that is what there is to
// learn from it.
struct Expectation {
  std::string variant;               // empty: every variant
  std::optional<DeviceKind> device;  // absent: any
  Conditions only_if;                // of the parameters
  std::string expr;  // as docs/checks.md has it: "kernels_per_step == 5"
  std::string why;   // one sentence

  friend bool operator==(const Expectation&, const Expectation&) = default;
};

// One that applies to a job, as its trace keeps it.
struct JobExpectation {
  std::string expr;
  std::string why;

  friend bool operator==(const JobExpectation&,
                         const JobExpectation&) = default;
};

// Those of `workload` that apply to the job on a device of that kind, in their
// order. The job has all its parameters.
std::vector<JobExpectation> ExpectationsOf(const WorkloadSchema& workload,
                                           const JobSpec& spec,
                                           DeviceKind device);

// All of these are hostile input; whether `expr` makes sense is not looked at.
nlohmann::json ToJson(const Expectation& expectation);
absl::StatusOr<Expectation> ExpectationFromJson(const nlohmann::json& json);
nlohmann::json ToJson(const JobExpectation& expectation);
absl::StatusOr<JobExpectation> JobExpectationFromJson(
    const nlohmann::json& json);

// Of one workload, and of one job.
inline constexpr int kMaxExpectations = 256;

}  // namespace traza

#endif  // SPEC_EXPECTATION_H_
