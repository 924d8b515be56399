// SPDX-License-Identifier: Apache-2.0
#include "worker/gpu_roofs.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <string>

#include "ATen/Context.h"
#include "ATen/core/Tensor.h"
#include "ATen/ops/empty.h"
#include "ATen/ops/matmul.h"
#include "ATen/ops/randn.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "c10/core/InferenceMode.h"

#include "base/check.h"
#include "base/error.h"
#include "base/status_macros.h"

namespace traza {
namespace {

// Rows of the matrices: past the size from which on a product of bf16 keeps an
// H200 busy. On a small GPU they are smaller.
constexpr int64_t kRows = 8192;
constexpr int64_t kRowsOfSmallGpus = 4096;
constexpr int64_t kSmallGpuBytes = int64_t{4} << 30;
// Far beyond every cache.
constexpr int64_t kCopyBytes = int64_t{1} << 30;

// One batch hides what launching and waiting cost; several show the clocks at
// their highest, which they reach after some 100 ms of work.
constexpr std::chrono::milliseconds kBatchTime(20);
constexpr std::chrono::milliseconds kMeasuredTime(400);

using Work = std::function<void()>;

// Seconds of one `work` in the fastest batch.
double BestSeconds(const Work& work, const Work& wait) {
  work();
  wait();
  std::chrono::duration<double> best(std::numeric_limits<double>::infinity());
  const auto until = std::chrono::steady_clock::now() + kMeasuredTime;
  bool measured = false;
  for (int64_t batch = 1;
       !measured || std::chrono::steady_clock::now() < until;) {
    const auto start = std::chrono::steady_clock::now();
    for (int64_t i = 0; i < batch; ++i) work();
    wait();
    const auto took = std::chrono::steady_clock::now() - start;
    if (took < kBatchTime) {
      batch *= 2;
      continue;
    }
    measured = true;
    best = std::min<std::chrono::duration<double>>(
        best, std::chrono::duration<double>(took) / batch);
  }
  return best.count();
}

absl::Status Unavailable(absl::string_view device, absl::string_view why) {
  return ErrorBuilder(absl::StatusCode::kFailedPrecondition,
                      Reason::kDeviceUnavailable)
      .With("device", device)
      .Build(why);
}

absl::Status CheckAlone(const DeviceDescription& device, GpuMonitor* monitor,
                        pid_t daemon) {
  if (monitor == nullptr || !device.uuid.has_value()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const GpuReading reading,
                   monitor->Read(*device.uuid, GpuFields::kAll));
  const int64_t others =
      reading.processes
          ? CountForeignProcesses(*reading.processes, getpid(), daemon)
          : 0;
  if (others == 0) return absl::OkStatus();
  return Unavailable(device.id, absl::StrCat("Other processes use ", device.id,
                                             ": ", others, "."));
}

// Products of one dtype on one device.
class Products {
 public:
  Products(at::Device device, int64_t rows, const Work& wait)
      : device_(device), rows_(rows), wait_(wait) {}

  double FlopsPerSecond(at::ScalarType dtype) const {
    const auto options = at::TensorOptions().device(device_).dtype(dtype);
    const at::Tensor x = at::randn({rows_, rows_}, options);
    const at::Tensor y = at::randn({rows_, rows_}, options);
    const auto rows = static_cast<double>(rows_);
    return 2 * rows * rows * rows /
           BestSeconds([&] { at::matmul(x, y); }, wait_);
  }

 private:
  const at::Device device_;
  const int64_t rows_;
  const Work& wait_;
};

double CopiedBytesPerSecond(at::Device device, int64_t bytes,
                            const Work& wait) {
  const auto options = at::TensorOptions().device(device).dtype(at::kByte);
  const at::Tensor from = at::empty({bytes}, options);
  at::Tensor to = at::empty({bytes}, options);
  return 2 * static_cast<double>(bytes) /
         BestSeconds([&] { to.copy_(from); }, wait);
}

}  // namespace

absl::StatusOr<DeviceRoofs> MeasureGpu(const TorchRuntime& runtime,
                                       absl::string_view device,
                                       GpuMonitor* monitor, pid_t daemon) {
  const DeviceDescription* const found = runtime.FindDevice(device);
  if (found == nullptr) {
    return ErrorBuilder(absl::StatusCode::kNotFound, Reason::kDeviceNotFound)
        .With("device", device)
        .Build(absl::StrCat("There is no device ", device, ". ",
                            runtime.no_gpu()));
  }
  if (found->kind != DeviceKind::kGpu) {
    return Unavailable(device, absl::StrCat(device, " is no GPU."));
  }
  if (found->unavailable) return Unavailable(device, *found->unavailable);
  RETURN_IF_ERROR(CheckAlone(*found, monitor, daemon));

  int index = 0;
  TRAZA_CHECK(absl::SimpleAtoi(absl::StripPrefix(device, "gpu"), &index));
  const at::Device gpu(at::kCUDA, static_cast<c10::DeviceIndex>(index));
  const bool small = found->memory_bytes < kSmallGpuBytes;
  const Work wait = [&] { runtime.Synchronize(device); };
  runtime.MakeCurrent(device);
  const c10::InferenceMode inference;
  const Products products(gpu, small ? kRowsOfSmallGpus : kRows, wait);
  DeviceRoofs roofs;
  roofs.flops_per_second["bf16"] = products.FlopsPerSecond(at::kBFloat16);
  roofs.flops_per_second["fp16"] = products.FlopsPerSecond(at::kHalf);
  at::globalContext().setAllowTF32CuBLAS(true);
  roofs.flops_per_second["tf32"] = products.FlopsPerSecond(at::kFloat);
  at::globalContext().setAllowTF32CuBLAS(false);
  roofs.flops_per_second["fp32"] = products.FlopsPerSecond(at::kFloat);
  roofs.memory_bytes_per_second =
      CopiedBytesPerSecond(gpu, small ? kCopyBytes / 8 : kCopyBytes, wait);
  return roofs;
}

}  // namespace traza
