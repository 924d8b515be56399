// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/row_names.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "trace/analysis/kernel_work.h"

namespace traza {
namespace {

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
bool IsOneOf(absl::string_view name, const absl::string_view (&names)[kCount]) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

}  // namespace

KernelClass ClassifyKernel(absl::string_view name) {
  switch (WorkOf(name)) {
    case NamedWork::kCommunication:
      return KernelClass::kCommunication;
    case NamedWork::kAttention:
    case NamedWork::kConvolution:
    case NamedWork::kProduct:
      return KernelClass::kMatrix;
    case NamedWork::kOther:
      break;
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
