// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/row_names.h"

#include <algorithm>
#include <array>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace traza {
namespace {

constexpr absl::string_view kCommunication[] = {
    "nccl", "rccl", "nvshmem", "cross_device_reduce", "multimem_all_reduce"};
// As cuBLAS, cuDNN, CUTLASS, Triton and the attention libraries name theirs.
constexpr absl::string_view kMatrix[] = {
    "gemm",     "nvjet",    "cutlass",   "xmma",   "wmma",      "wgmma",
    "matmul",   "convolve", "conv1d",    "conv2d", "conv3d",    "conv_",
    "winograd", "wgrad",    "dgrad",     "fprop",  "triton_mm", "triton_tem",
    "flash",    "fmha",     "attention", "attn",   "sdpa"};
// Names of these libraries that are bound by memory all the same.
constexpr absl::string_view kNoMatrix[] = {"gemv", "splitkreduce", "layernorm",
                                           "batchnorm"};

// As CUPTI's kinds of overhead are called in torch.profiler and in our traces.
constexpr absl::string_view kTracersOverhead[] = {
    "Activity Buffer Request", "Buffer Flush",    "Instrumentation", "Resource",
    "UVM Activity Init",       "Unknown Overhead"};
constexpr absl::string_view kModuleLoading[] = {
    "Lazy Function Loading", "Runtime Triggered Module Loading"};

constexpr absl::string_view kAllocations[] = {
    "cudaMalloc",     "cudaFree",      "cudaMallocHost",
    "cudaFreeHost",   "cudaHostAlloc", "cudaMallocManaged",
    "cuMemAlloc",     "cuMemFree",     "cuMemAllocHost",
    "cuMemHostAlloc", "cuMemFreeHost", "cuMemAllocManaged",
    "cuMemCreate",    "cuMemMap",      "cuMemUnmap"};

template <size_t kCount>
bool ContainsAny(absl::string_view text,
                 const absl::string_view (&parts)[kCount]) {
  return std::any_of(
      std::begin(parts), std::end(parts),
      [&](absl::string_view part) { return absl::StrContains(text, part); });
}

template <size_t kCount>
bool IsOneOf(absl::string_view name, const absl::string_view (&names)[kCount]) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

}  // namespace

KernelClass ClassifyKernel(absl::string_view name) {
  // The arguments of a template name types of other libraries.
  const std::string function =
      absl::AsciiStrToLower(name.substr(0, name.find('<')));
  if (ContainsAny(function, kCommunication)) return KernelClass::kCommunication;
  if (ContainsAny(function, kMatrix) && !ContainsAny(function, kNoMatrix)) {
    return KernelClass::kMatrix;
  }
  return KernelClass::kOther;
}

KernelClass KernelClasses::Of(size_t row) {
  uint8_t& known = known_[static_cast<size_t>(trace_.name[row])];
  if (known == kNone) {
    known = static_cast<uint8_t>(ClassifyKernel(trace_.name_of(row)));
  }
  return static_cast<KernelClass>(known);
}

bool IsTracersOverhead(absl::string_view name) {
  return IsOneOf(name, kTracersOverhead);
}

bool IsModuleLoading(absl::string_view name) {
  return IsOneOf(name, kModuleLoading);
}

bool IsAllocation(absl::string_view name) {
  return IsOneOf(name, kAllocations);
}

}  // namespace traza
