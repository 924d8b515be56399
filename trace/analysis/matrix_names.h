// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_MATRIX_NAMES_H_
#define TRACE_ANALYSIS_MATRIX_NAMES_H_

#include "absl/strings/string_view.h"

#include "trace/analysis/kernel_names.h"

namespace traza {

// Of DecodeKernelName: names of cuBLAS, cuDNN, CUTLASS and the attention
// libraries. Sets type, layout, epilogue, backend and tensor_cores of `decoded`
// (kind gemm, convolution or attention) where `name` tells; `lower` is the same
// in small letters.
void DecodeMatrixName(absl::string_view name, absl::string_view lower,
                      KernelName* decoded);

}  // namespace traza

#endif  // TRACE_ANALYSIS_MATRIX_NAMES_H_
