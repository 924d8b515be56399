// SPDX-License-Identifier: Apache-2.0
#include "worker/l2_flush.h"

#include <dlfcn.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "ATen/DeviceAccelerator.h"
#include "ATen/core/Tensor.h"
#include "ATen/ops/empty.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "c10/core/DeviceGuard.h"
#include "c10/core/InferenceMode.h"
#include "c10/core/Stream.h"

#include "base/error.h"

namespace traza {
namespace {

// Of the driver API's stable ABI (cuda.h).
constexpr int kL2CacheSize = 38;  // CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE
using GetAttribute = int (*)(int* value, int attribute, int device);
using MemsetAsync = int (*)(uint64_t address, unsigned char value, size_t bytes,
                            void* stream);

class DriverL2Flush : public L2Flush {
 public:
  DriverL2Flush(at::Tensor memory, MemsetAsync memset)
      : memory_(std::move(memory)), memset_(memset) {}

  void Run() override {
    const c10::DeviceGuard guard(memory_.device());
    const c10::Stream stream =
        at::accelerator::getCurrentStream(memory_.device().index());
    const int fault =
        memset_(reinterpret_cast<uint64_t>(memory_.mutable_data_ptr()), 0x5a,
                memory_.nbytes(), stream.native_handle());
    if (fault != 0) {
      throw std::runtime_error(absl::StrCat(
          "The driver does not write over the L2 cache (CUDA error ", fault,
          ")."));
    }
  }

 private:
  const at::Tensor memory_;
  const MemsetAsync memset_;
};

absl::Status Unavailable(absl::string_view device, absl::string_view why) {
  return ErrorBuilder(absl::StatusCode::kFailedPrecondition,
                      Reason::kDeviceUnavailable)
      .With("device", device)
      .Build(absl::StrCat("The L2 cache of ", device,
                          " cannot be flushed: ", why));
}

}  // namespace

absl::StatusOr<std::unique_ptr<L2Flush>> L2Flush::Create(
    absl::string_view device) {
  int index = 0;
  if (!absl::StartsWith(device, "gpu") ||
      !absl::SimpleAtoi(device.substr(3), &index)) {
    return Unavailable(device, "it is no GPU.");
  }
  // Open already: the device could not be there without it.
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (driver == nullptr) return Unavailable(device, "there is no driver.");
  const auto attribute =
      reinterpret_cast<GetAttribute>(dlsym(driver, "cuDeviceGetAttribute"));
  const auto memset =
      reinterpret_cast<MemsetAsync>(dlsym(driver, "cuMemsetD8Async"));
  if (attribute == nullptr || memset == nullptr) {
    return Unavailable(device, "the driver is too old.");
  }
  int cache_bytes = 0;
  if (attribute(&cache_bytes, kL2CacheSize, index) != 0) cache_bytes = 0;
  const c10::InferenceMode inference;
  at::Tensor memory =
      at::empty({L2WriteBytes(cache_bytes)},
                at::TensorOptions().dtype(at::kByte).device(at::Device(
                    at::kCUDA, static_cast<c10::DeviceIndex>(index))));
  return std::make_unique<DriverL2Flush>(std::move(memory), memset);
}

}  // namespace traza
