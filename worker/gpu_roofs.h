// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_GPU_ROOFS_H_
#define WORKER_GPU_ROOFS_H_

#include <sys/types.h>

#include "absl/status/statusor.h"

#include "base/gpu_monitor.h"
#include "spec/worker_description.h"
#include "worker/torch_runtime.h"

namespace traza {

// Measures what a GPU does at most, with what jobs run on: square matrix
// products of PyTorch by dtype (fp32, tf32, bf16, fp16; random elements, which
// cost more power than zeros), and a copy within its memory. Takes about 2 s
// and 3 GiB; the fastest of several batches counts.
//
// NOT_FOUND / DEVICE_NOT_FOUND; FAILED_PRECONDITION / DEVICE_UNAVAILABLE where
// it is no GPU, cannot run jobs, or where other processes than `daemon` and its
// children use it: what they leave over is no roof. `monitor` may be null; then
// nobody is asked. May throw what PyTorch throws.
absl::StatusOr<DeviceRoofs> MeasureGpu(const TorchRuntime& runtime,
                                       absl::string_view device,
                                       GpuMonitor* monitor, pid_t daemon);

}  // namespace traza

#endif  // WORKER_GPU_ROOFS_H_
