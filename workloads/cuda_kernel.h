// SPDX-License-Identifier: Apache-2.0
#ifndef WORKLOADS_CUDA_KERNEL_H_
#define WORKLOADS_CUDA_KERNEL_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace traza {

// The architecture of the device whose context is current on this thread, as
// compilers name it: "sm_90". FAILED_PRECONDITION without driver or context.
absl::StatusOr<std::string> CurrentArchitecture();

// A kernel of machine code that was loaded for the current context, through the
// driver: a launch shows as cuLaunchKernel. Thread-compatible; belongs to the
// context, and is never unloaded.
class CudaKernel {
 public:
  // FAILED_PRECONDITION when the driver refuses the code, or when it has no
  // kernel of that name.
  static absl::StatusOr<CudaKernel> Load(const std::string& cubin,
                                         const char* name);

  // Queues it on `stream`; `arguments` are pointers to its arguments.
  // INTERNAL with CUDA's words when the driver refuses.
  absl::Status Launch(uint32_t blocks, uint32_t threads, void* stream,
                      void** arguments) const;

 private:
  explicit CudaKernel(void* function) : function_(function) {}

  void* function_;
};

}  // namespace traza

#endif  // WORKLOADS_CUDA_KERNEL_H_
