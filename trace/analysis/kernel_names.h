// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_KERNEL_NAMES_H_
#define TRACE_ANALYSIS_KERNEL_NAMES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

#include "trace/trace.h"

namespace traza {

// What a kernel's name says. Names are no interface: of each library this
// knows what it has been seen to write, and says nothing where it is not sure.

enum class KernelKind : uint8_t {
  kGemm,
  kConvolution,
  kAttention,
  kPointwise,  // element by element
  kCopy,       // element by element, and nothing is computed; casts too
  kFill,
  kReduction,
  kSoftmax,
  kNormalization,
  kOptimizer,  // many tensors in one launch: multi_tensor_apply, fused Adam
  kCommunication,
  kOther,
};
// "gemm", "optimizer", ...: part of names of numbers.
absl::string_view KernelKindName(KernelKind kind);
// "matrix products", "optimizer steps", ...: words for titles.
absl::string_view KernelKindText(KernelKind kind);

// The type of what a kernel reads and writes. It may compute in another: a sum
// of bf16 in fp32 is kBf16.
enum class KernelType : uint8_t {
  kUnknown,
  kF64,
  kF32,
  kTf32,  // fp32 in memory, rounded for the tensor cores
  kBf16,
  kF16,
  kF8,
  kI8,
};
absl::string_view KernelTypeName(KernelType type);  // "bf16"; "" of kUnknown
// Bytes of one element; 0 of kUnknown.
int64_t KernelTypeBytes(KernelType type);

struct KernelName {
  KernelKind kind = KernelKind::kOther;
  KernelType type = KernelType::kUnknown;
  // Without arguments, return type, and the namespaces of PyTorch:
  // "vectorized_elementwise_kernel".
  std::string function;
  // What a kernel of PyTorch computes: "gelu", "mul", "sum"; of a generated one
  // its fused operators: "gelu_mul". Empty where unknown.
  std::string action;
  // Of a matrix product, as BLAS has it: "tn", "nn", "nt", "tt". Empty where
  // the name has no such letters.
  std::string layout;
  // Of a matrix product: what its end does besides: "bias", "add" (beta is not
  // 0: the output is read too), "relu". Empty where the name says nothing.
  std::string epilogue;
  // Of attention: "flash", "memory-efficient", "cuDNN", "FlashInfer",
  // "FlexAttention".
  std::string backend;
  // Of matrix products and convolutions, where the name tells.
  std::optional<bool> tensor_cores;
  // Of a pointwise kernel: tensors that it reads and writes; 0 is unknown.
  int32_t operands = 0;
  // Of these, flags of one byte an element beside others of `type`.
  int32_t flags = 0;
  // Of a pointwise kernel: elements a thread works on; 0 is unknown.
  int32_t elements_per_thread = 0;
  // Of a softmax that keeps a row in a warp: the longest row that it is
  // compiled for, a power of two; 0 is unknown.
  int32_t softmax_row = 0;
  bool casts = false;  // it reads another type than it writes
  // Of a cast that reads `type`: what it writes, where the name tells.
  KernelType writes = KernelType::kUnknown;
  bool generated = false;  // by a compiler (Triton)
};

// Reads at most the first 4 KiB and the last 32 bytes of it.
KernelName DecodeKernelName(absl::string_view name);

// "gelu (vectorized_elementwise_kernel)", "nvjet_sm90_...".
std::string KernelLabel(const KernelName& name);
// Whether the function is one that does anything, element by element or as a
// reduction: what it does is in its action, or with the operator.
bool DoesAnything(const KernelName& name);
// Of a name of more than 64 bytes, its start and its end.
std::string ShortName(absl::string_view name);
// "nn" -> "both operands as they lie in memory": how to read the letters.
absl::string_view LayoutText(absl::string_view layout);

// DecodeKernelName for the rows of one trace, each name once. Holds a reference
// to the trace.
class KernelNames {
 public:
  explicit KernelNames(const Trace& trace)
      : trace_(trace), known_(static_cast<size_t>(trace.names.size())) {}
  // Of a kernel, copy or fill.
  const KernelName& Of(size_t row);

 private:
  const Trace& trace_;
  std::vector<std::unique_ptr<const KernelName>> known_;  // by name
};

}  // namespace traza

#endif  // TRACE_ANALYSIS_KERNEL_NAMES_H_
