// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_OP_COST_H_
#define TRACE_ANALYSIS_OP_COST_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"

#include "trace/analysis/kernel_names.h"
#include "trace/trace.h"

namespace traza {

// One input of an operator.
struct TensorShape {
  std::vector<int64_t> sizes;  // empty for a scalar
  KernelType type = KernelType::kUnknown;
};

// Of the columns `shapes` and `dtypes`, "[[64,64],[]]" and "float,Scalar". None
// for text that is no such list, and for lists of tensors among the inputs.
std::optional<std::vector<TensorShape>> ParseShapes(absl::string_view shapes,
                                                    absl::string_view dtypes);
// As a double, for products of hostile sizes. 1 for a scalar.
double ElementsOf(const TensorShape& shape);

// What an operator has to compute, and to move between the device and its
// memory at least: each input read once, the output written once.
struct OpCost {
  double flops = 0;
  double bytes = 0;
  KernelType type = KernelType::kUnknown;  // of its first tensor
};

// Matrix products (2 M K N, with what they add), attention (two products of
// each pair of positions, causal or not: an upper bound), and operators that
// work element by element, one operation an element. None for others and where
// shapes or types are unknown.
std::optional<OpCost> CostOf(absl::string_view op,
                             const std::vector<TensorShape>& inputs);
// CostOf for a row of kind op; the column `flops` comes first.
std::optional<OpCost> CostOf(const Trace& trace, size_t row);

}  // namespace traza

#endif  // TRACE_ANALYSIS_OP_COST_H_
