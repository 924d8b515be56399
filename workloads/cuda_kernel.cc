// SPDX-License-Identifier: Apache-2.0
#include "workloads/cuda_kernel.h"

#include <dlfcn.h>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"

namespace traza {
namespace {

// The few functions of the driver API that are needed, by the names and numbers
// of its stable ABI (cuda.h).
using Result = int;  // 0 is success
constexpr int kComputeCapabilityMajor = 75;
constexpr int kComputeCapabilityMinor = 76;

struct Api {
  Result (*device)(int* device) = nullptr;
  Result (*attribute)(int* value, int attribute, int device) = nullptr;
  Result (*load)(void** module, const void* image) = nullptr;
  Result (*function)(void** function, void* module, const char* name) = nullptr;
  // NOLINTNEXTLINE(readability-function-size): as the driver has it
  Result (*launch)(void* function, unsigned grid_x, unsigned grid_y,
                   unsigned grid_z, unsigned block_x, unsigned block_y,
                   unsigned block_z, unsigned shared_bytes, void* stream,
                   void** arguments, void** extra) = nullptr;
  Result (*error_text)(Result result, const char** text) = nullptr;
};

template <typename Function>
bool Load(void* library, const char* name, Function** function) {
  *function = reinterpret_cast<Function*>(dlsym(library, name));
  return *function != nullptr;
}

absl::StatusOr<Api> OpenApi() {
  // Never closed: PyTorch uses the same one.
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  Api api;
  if (library == nullptr || !Load(library, "cuCtxGetDevice", &api.device) ||
      !Load(library, "cuDeviceGetAttribute", &api.attribute) ||
      !Load(library, "cuModuleLoadData", &api.load) ||
      !Load(library, "cuModuleGetFunction", &api.function) ||
      !Load(library, "cuLaunchKernel", &api.launch) ||
      !Load(library, "cuGetErrorString", &api.error_text)) {
    return absl::FailedPreconditionError(
        "There is no NVIDIA driver, or it is too old.");
  }
  return api;
}

const absl::StatusOr<Api>& TheApi() {
  static const auto* const api = new absl::StatusOr<Api>(OpenApi());
  return *api;
}

std::string Words(const Api& api, Result result) {
  const char* text = nullptr;
  api.error_text(result, &text);
  return absl::StrCat(text == nullptr ? "unknown error" : text, " (", result,
                      ")");
}

}  // namespace

absl::StatusOr<std::string> CurrentArchitecture() {
  RETURN_IF_ERROR(TheApi().status());
  const Api& api = *TheApi();
  int device = 0;
  int major = 0;
  int minor = 0;
  Result result = api.device(&device);
  if (result == 0) {
    result = api.attribute(&major, kComputeCapabilityMajor, device);
  }
  if (result == 0) {
    result = api.attribute(&minor, kComputeCapabilityMinor, device);
  }
  if (result != 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        "The driver does not say what the GPU is: ", Words(api, result), "."));
  }
  return absl::StrCat("sm_", major, minor);
}

absl::StatusOr<CudaKernel> CudaKernel::Load(const std::string& cubin,
                                            const char* name) {
  RETURN_IF_ERROR(TheApi().status());
  const Api& api = *TheApi();
  void* module = nullptr;
  void* function = nullptr;
  Result result = api.load(&module, cubin.data());
  if (result == 0) result = api.function(&function, module, name);
  if (result != 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        "The driver does not load ", name, ": ", Words(api, result), "."));
  }
  return CudaKernel(function);
}

absl::Status CudaKernel::Launch(uint32_t blocks, uint32_t threads, void* stream,
                                void** arguments) const {
  const Api& api = *TheApi();
  const Result result = api.launch(function_, blocks, 1, 1, threads, 1, 1, 0,
                                   stream, arguments, nullptr);
  if (result == 0) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("A kernel does not start: ", Words(api, result), "."));
}

}  // namespace traza
