// SPDX-License-Identifier: Apache-2.0
#ifndef SPEC_COST_H_
#define SPEC_COST_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"

#include "spec/condition.h"
#include "spec/param_schema.h"

namespace traza {

// coefficient * product of parameter^exponent. Integer parameters count by
// value; `dtype` counts as bytes per element (fp32 and tf32 4, bf16 and fp16
// 2). `only_if` limits the term to the jobs for which it holds.
struct CostTerm {
  double coefficient = 0;
  std::map<std::string, int> exponents;
  Conditions only_if;

  friend bool operator==(const CostTerm&, const CostTerm&) = default;
};

using CostSum = std::vector<CostTerm>;

// What one step of a workload costs, published with its schema so that the
// daemon can refuse a job that cannot end without knowing the workload.
struct Cost {
  CostSum flops;         // floating-point operations a step
  CostSum bytes;         // bytes a step must move at least
  CostSum memory_bytes;  // peak bytes of tensors on the job's device
  // Of tensors that lie on the host, whatever the job's device is.
  CostSum host_memory_bytes;
  CostSum ops;      // operator rows a step records
  CostSum kernels;  // device records a step, on a GPU

  friend bool operator==(const Cost&, const Cost&) = default;
};

// Never overflows: the sum is a double. `inputs` are those of CostInputs().
double Evaluate(const CostSum& sum, const ParamValues& inputs);

nlohmann::json ToJson(const Cost& cost);
absl::StatusOr<Cost> CostFromJson(const nlohmann::json& json);

}  // namespace traza

#endif  // SPEC_COST_H_
