// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_DIFF_NAMES_H_
#define TRACE_ANALYSIS_DIFF_NAMES_H_

#include <string>

#include "absl/strings/string_view.h"

namespace traza {

// The name of a cuBLAS kernel for Hopper and later ("nvjet_...") without what
// it does beside the product: whether it adds into the output or adds a bias
// ("bz", "badd", "bias"). Other names as they are.
std::string MatrixCore(absl::string_view kernel);

// Element by element, as far as its name says (kernel_names.h); casts and
// copies by a kernel too.
bool IsPointwise(absl::string_view kernel);

// A kernel, copy or fill in a sentence: without arguments of templates and
// functions; a kernel of PyTorch's own by the operator that launched it, if
// `op` is not empty ("aten::gelu" -> "gelu"), since many share one function.
std::string ShortWorkName(absl::string_view name, absl::string_view op);

}  // namespace traza

#endif  // TRACE_ANALYSIS_DIFF_NAMES_H_
