// SPDX-License-Identifier: Apache-2.0
#include "worker/torch_runtime.h"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "ATen/DeviceAccelerator.h"
#include "ATen/Parallel.h"
#include "ATen/core/Tensor.h"
#include "ATen/ops/add.h"
#include "ATen/ops/matmul.h"
#include "ATen/ops/randn.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "c10/core/InferenceMode.h"
#include "c10/core/Stream.h"
#include "torch/headeronly/version.h"

#include "base/check.h"
#include "worker/cpu_device.h"
#include "worker/cuda_driver.h"

namespace traza {
namespace {

// Rows of the matrices that speed is measured with: large enough to be past
// the overhead of a call, small enough for bf16 on a CPU without its
// instructions (11 ms).
constexpr int64_t kMeasuredSize = 192;
// The best of a few runs counts: other programs disturb many of them.
constexpr int kMeasuredRuns = 20;
constexpr std::chrono::milliseconds kMeasuredTime(40);

// The number of "gpu3"; nothing for the CPU.
std::optional<int> GpuIndex(absl::string_view device) {
  int index = 0;
  if (!absl::StartsWith(device, "gpu") ||
      !absl::SimpleAtoi(device.substr(3), &index)) {
    return std::nullopt;
  }
  return index;
}

// The CUDA half of PyTorch. libtorch.so needs it first, and is itself needed
// by compiled models.
std::string LoadTorchCuda() {
  for (const char* name : {"libtorch_cuda.so", "libtorch.so"}) {
    if (dlopen(name, RTLD_NOW | RTLD_GLOBAL) == nullptr) {
      return absl::StrCat("PyTorch's CUDA library does not load: ", LoadError(),
                          ".");
    }
  }
  if (at::accelerator::deviceCount() == 0) {
    return "PyTorch finds no GPU, although the driver does.";
  }
  return "";
}

// How long to ask a device whether it is done before sleeping until it is.
constexpr std::chrono::milliseconds kSpinTime(100);

double MeasureFlops(at::ScalarType dtype) {
  const at::Tensor x = at::randn({kMeasuredSize, kMeasuredSize},
                                 at::TensorOptions().dtype(dtype));
  at::matmul(x, x);
  std::chrono::duration<double> best = kMeasuredTime;
  const auto deadline = std::chrono::steady_clock::now() + kMeasuredTime;
  for (int run = 0; run < kMeasuredRuns; ++run) {
    const auto start = std::chrono::steady_clock::now();
    at::matmul(x, x);
    const auto end = std::chrono::steady_clock::now();
    best = std::min<std::chrono::duration<double>>(best, end - start);
    if (end > deadline) break;
  }
  return 2.0 * kMeasuredSize * kMeasuredSize * kMeasuredSize /
         std::max(best.count(), 1e-9);
}

}  // namespace

TorchRuntime::TorchRuntime() {
  versions_["torch"] = TORCH_VERSION;
  devices_.push_back(DescribeCpu(threads()));
  OpenCuda();
}

void TorchRuntime::OpenCuda() {
  absl::StatusOr<CudaDriver> driver = CudaDriver::Open();
  if (!driver.ok()) {
    no_gpu_ = std::string(driver.status().message());
    return;
  }
  versions_.merge(driver->versions);
  const std::string fault = LoadTorchCuda();
  for (DeviceDescription& device : driver->devices) {
    if (!fault.empty()) device.unavailable = fault;
    devices_.push_back(std::move(device));
  }
}

const DeviceDescription* TorchRuntime::FindDevice(absl::string_view id) const {
  for (const DeviceDescription& device : devices_) {
    if (device.id == id) return &device;
  }
  return nullptr;
}

int TorchRuntime::threads() const { return at::get_num_threads(); }

std::map<std::string, double> TorchRuntime::MeasureCpu() const {
  const c10::InferenceMode inference;
  // On one thread: on a busy machine several wait for each other for whole
  // time slices, which measured 150 times too slow. That threads scale is
  // assumed, so a prediction errs on the quick side.
  const int all = threads();
  at::set_num_threads(1);
  std::map<std::string, double> flops = {{"fp32", MeasureFlops(at::kFloat)},
                                         {"bf16", MeasureFlops(at::kBFloat16)},
                                         {"fp16", MeasureFlops(at::kHalf)}};
  at::set_num_threads(all);
  for (auto& [dtype, rate] : flops) rate *= all;
  return flops;
}

void TorchRuntime::MakeCurrent(absl::string_view device) const {
  if (const std::optional<int> gpu = GpuIndex(device)) {
    at::accelerator::setDeviceIndex(static_cast<c10::DeviceIndex>(*gpu));
  }
}

void TorchRuntime::Synchronize(absl::string_view device) const {
  const std::optional<int> gpu = GpuIndex(device);
  if (!gpu.has_value()) return;
  const auto index = static_cast<c10::DeviceIndex>(*gpu);
  // A thread that the driver puts to sleep comes back to cold caches: the
  // first step after it took twice the time of the others.
  const c10::Stream stream = at::accelerator::getCurrentStream(index);
  const auto until = std::chrono::steady_clock::now() + kSpinTime;
  while (!stream.query() && std::chrono::steady_clock::now() < until) {
  }
  at::accelerator::synchronizeDevice(index);
}

int64_t TorchRuntime::DeviceAllocations(absl::string_view device) const {
  const std::optional<int> gpu = GpuIndex(device);
  if (!gpu.has_value()) return 0;
  return at::accelerator::getDeviceStats(static_cast<c10::DeviceIndex>(*gpu))
      .num_device_alloc;
}

void TorchRuntime::RunThrowawaySteps(absl::string_view device) const {
  MakeCurrent(device);
  const c10::InferenceMode inference;
  at::TensorOptions options;
  if (const std::optional<int> index = GpuIndex(device)) {
    options = options.device(
        at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(*index)));
  }
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16, at::kHalf}) {
    const at::Tensor x = at::randn({64, 64}, options.dtype(dtype));
    at::add(at::matmul(x, x), x);
  }
  Synchronize(device);
}

}  // namespace traza
