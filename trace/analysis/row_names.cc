// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/row_names.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "absl/strings/strip.h"

#include "trace/analysis/kernel_work.h"

namespace traza {
namespace {

// As CUPTI's kinds of overhead are called in torch.profiler and in our traces.
constexpr absl::string_view kTracersOverhead[] = {
    "Activity Buffer Request", "Buffer Flush",    "Instrumentation", "Resource",
    "UVM Activity Init",       "Unknown Overhead"};
constexpr absl::string_view kModuleLoading[] = {
    "Lazy Function Loading", "Runtime Triggered Module Loading"};

// HIP leaves no records of overhead: its calls load code.
constexpr absl::string_view kHipLoading[] = {
    "hipModuleLoad", "hipModuleLoadData", "hipModuleLoadDataEx",
    "hipLibraryLoadData", "hipLibraryLoadFromFile"};

constexpr absl::string_view kAllocations[] = {
    // CUDA's runtime.
    "cudaMalloc", "cudaFree", "cudaMallocHost", "cudaFreeHost", "cudaHostAlloc",
    "cudaMallocManaged", "cudaMallocPitch", "cudaMalloc3D", "cudaMallocArray",
    "cudaMalloc3DArray", "cudaFreeArray",
    // Its driver.
    "cuMemAlloc", "cuMemFree", "cuMemAllocHost", "cuMemHostAlloc",
    "cuMemFreeHost", "cuMemAllocManaged", "cuMemAllocPitch", "cuArrayCreate",
    "cuArray3DCreate", "cuArrayDestroy", "cuMemCreate", "cuMemMap",
    "cuMemUnmap",
    // HIP, which has the calls of both, and some of its own.
    "hipMalloc", "hipFree", "hipMallocHost", "hipFreeHost", "hipHostAlloc",
    "hipHostMalloc", "hipHostFree", "hipExtHostAlloc", "hipExtMallocWithFlags",
    "hipMallocManaged", "hipMallocPitch", "hipMalloc3D", "hipMallocArray",
    "hipMalloc3DArray", "hipFreeArray", "hipMemAllocHost", "hipMemAllocPitch",
    "hipArrayCreate", "hipArray3DCreate", "hipArrayDestroy", "hipMemCreate",
    "hipMemMap", "hipMemUnmap"};

template <size_t kCount>
bool IsOneOf(absl::string_view name, const absl::string_view (&names)[kCount]) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

bool Goes(const Trace& trace, size_t row, absl::string_view kind,
          absl::string_view word) {
  const int32_t recorded = trace.copy_kind.at(row);
  return recorded >= 0 ? trace.names.at(recorded) == kind
                       : absl::StrContains(trace.name_of(row), word);
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

bool GoesToHost(const Trace& trace, size_t row) {
  return Goes(trace, row, "dtoh", "DtoH");
}

bool StaysOnDevice(const Trace& trace, size_t row) {
  return Goes(trace, row, "dtod", "DtoD");
}

bool IsTracersOverhead(absl::string_view name) {
  return IsOneOf(name, kTracersOverhead);
}

bool IsModuleLoading(absl::string_view name) {
  return IsOneOf(name, kModuleLoading);
}

bool LoadsModule(absl::string_view name) { return IsOneOf(name, kHipLoading); }

bool IsAllocation(absl::string_view name) {
  absl::ConsumeSuffix(&name, "_v2");  // of the driver's
  return IsOneOf(name, kAllocations);
}

}  // namespace traza
