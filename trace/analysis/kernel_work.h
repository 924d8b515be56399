// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_KERNEL_WORK_H_
#define TRACE_ANALYSIS_KERNEL_WORK_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace traza {

// The function of a kernel's name: without arguments, return type, anonymous
// namespaces and those of PyTorch. At most 512 bytes of it.
std::string FunctionOf(absl::string_view name);

// What of a kernel's name says what it does, in small letters. Its function,
// without arguments and without namespaces, which name a library: fbgemm_gpu
// permutes, flashinfer has norms. Where the function only runs what it is given
// ("cutlass::Kernel<...>"), all of it and the first argument.
std::string WorkName(absl::string_view name);

// Work that words of a kernel's name tell from other work.
enum class NamedWork : uint8_t {
  kCommunication,
  kAttention,
  kConvolution,
  kProduct,
  kOther,
};
NamedWork WorkOf(absl::string_view name);

}  // namespace traza

#endif  // TRACE_ANALYSIS_KERNEL_WORK_H_
