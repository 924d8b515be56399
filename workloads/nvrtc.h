// SPDX-License-Identifier: Apache-2.0
#ifndef WORKLOADS_NVRTC_H_
#define WORKLOADS_NVRTC_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace traza {

// NVIDIA's run-time compiler of CUDA C++ (libnvrtc.so.13), which comes with
// PyTorch for CUDA 13. It is opened at run time and needs neither GPU nor
// driver. Thread-safe.

// OK where it can be opened; else NOT_FOUND with the reason in one sentence.
absl::Status NvrtcMissing();

// Compiles `source` with `options` to the machine code (a cubin) of the
// architecture that these name ("--gpu-architecture=sm_90"). `name` stands for
// the file in messages. About 0.2 s for a small kernel.
//
// NOT_FOUND as above; FAILED_PRECONDITION with the compiler's words where the
// source is wrong or the architecture is not known to it.
absl::StatusOr<std::string> CompileCuda(
    const std::string& source, const std::string& name,
    const std::vector<std::string>& options);

}  // namespace traza

#endif  // WORKLOADS_NVRTC_H_
