// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_POINTWISE_NAMES_H_
#define TRACE_ANALYSIS_POINTWISE_NAMES_H_

#include "absl/strings/string_view.h"

#include "trace/analysis/kernel_names.h"

namespace traza {

// Of DecodeKernelName: names of PyTorch's own kernels and of Triton's. Sets
// type, action, operands, elements_per_thread and casts of `decoded` where
// `name` tells, and makes copies and fills of pointwise kernels that are.
void DecodePointwiseName(absl::string_view name, KernelName* decoded);

}  // namespace traza

#endif  // TRACE_ANALYSIS_POINTWISE_NAMES_H_
