// SPDX-License-Identifier: Apache-2.0
#include "worker/cuda_driver.h"

#include <dlfcn.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

#include "base/status_macros.h"

namespace traza {
namespace {

// The few functions of the driver API (cuda.h) that are needed, by the names
// and numbers of its stable ABI.
using Result = int;  // 0 is success
// CU_DEVICE_ATTRIBUTE_...
constexpr int kMaxThreadsPerBlock = 1;
constexpr int kMaxSharedMemoryPerBlock = 8;
constexpr int kWarpSize = 10;
constexpr int kMaxRegistersPerBlock = 12;
constexpr int kMultiprocessorCount = 16;
constexpr int kMaxThreadsPerMultiprocessor = 39;
constexpr int kComputeCapabilityMajor = 75;
constexpr int kComputeCapabilityMinor = 76;
constexpr int kMaxSharedMemoryPerMultiprocessor = 81;
constexpr int kMaxRegistersPerMultiprocessor = 82;
constexpr int kMaxSharedMemoryPerBlockOptin = 97;
constexpr int kMaxBlocksPerMultiprocessor = 106;
constexpr int kReservedSharedMemoryPerBlock = 111;

struct Api {
  Result (*init)(unsigned int flags) = nullptr;
  Result (*version)(int* version) = nullptr;
  Result (*count)(int* count) = nullptr;
  Result (*device)(int* device, int ordinal) = nullptr;
  Result (*name)(char* name, int size, int device) = nullptr;
  Result (*memory)(size_t* bytes, int device) = nullptr;
  Result (*attribute)(int* value, int attribute, int device) = nullptr;
  Result (*uuid)(unsigned char* uuid, int device) = nullptr;
  // That of the part, where the device is a part of a GPU (MIG). Null where the
  // driver has none.
  Result (*part_uuid)(unsigned char* uuid, int device) = nullptr;
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
  if (library == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("There is no NVIDIA driver: ", LoadError(), "."));
  }
  Api api;
  const bool whole = Load(library, "cuInit", &api.init) &&
                     Load(library, "cuDriverGetVersion", &api.version) &&
                     Load(library, "cuDeviceGetCount", &api.count) &&
                     Load(library, "cuDeviceGet", &api.device) &&
                     Load(library, "cuDeviceGetName", &api.name) &&
                     Load(library, "cuDeviceTotalMem_v2", &api.memory) &&
                     Load(library, "cuDeviceGetAttribute", &api.attribute) &&
                     Load(library, "cuDeviceGetUuid", &api.uuid) &&
                     Load(library, "cuGetErrorString", &api.error_text);
  if (!whole) {
    return absl::NotFoundError("The NVIDIA driver is too old.");
  }
  Load(library, "cuDeviceGetUuid_v2", &api.part_uuid);
  return api;
}

absl::Status Check(const Api& api, Result result) {
  if (result == 0) return absl::OkStatus();
  const char* text = nullptr;
  api.error_text(result, &text);
  return absl::NotFoundError(absl::StrCat(
      "The NVIDIA driver does not start: ",
      text == nullptr ? "unknown error" : text, " (", result, ")."));
}

// "8-4-4-4-12", as nvidia-smi prints it behind "GPU-" or "MIG-".
std::string UuidText(const unsigned char* bytes) {
  std::string hex = absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(bytes), 16));
  for (const size_t at : {20, 16, 12, 8}) hex.insert(at, "-");
  return hex;
}

absl::StatusOr<std::string> UuidOf(const Api& api, int device) {
  unsigned char whole[16] = {};
  RETURN_IF_ERROR(Check(api, api.uuid(whole, device)));
  unsigned char part[16] = {};
  if (api.part_uuid != nullptr && api.part_uuid(part, device) == 0 &&
      memcmp(part, whole, sizeof part) != 0) {
    return absl::StrCat("MIG-", UuidText(part));
  }
  return absl::StrCat("GPU-", UuidText(whole));
}

// Unknown as a whole where an old driver does not know one of them: nothing
// follows from the others alone.
std::optional<MultiprocessorLimits> Limits(const Api& api, int device) {
  MultiprocessorLimits limits;
  limits.max_blocks = 0;
  const std::pair<int, int32_t*> attributes[] = {
      {kMultiprocessorCount, &limits.count},
      {kComputeCapabilityMajor, &limits.compute_major},
      {kComputeCapabilityMinor, &limits.compute_minor},
      {kWarpSize, &limits.warp_threads},
      {kMaxThreadsPerBlock, &limits.max_threads_per_block},
      {kMaxThreadsPerMultiprocessor, &limits.max_threads},
      {kMaxBlocksPerMultiprocessor, &*limits.max_blocks},
      {kMaxRegistersPerBlock, &limits.registers_per_block},
      {kMaxRegistersPerMultiprocessor, &limits.registers},
      {kMaxSharedMemoryPerBlock, &limits.shared_bytes_per_block},
      {kMaxSharedMemoryPerBlockOptin, &limits.shared_bytes_per_block_optin},
      {kReservedSharedMemoryPerBlock, &limits.shared_bytes_reserved_per_block},
      {kMaxSharedMemoryPerMultiprocessor, &limits.shared_bytes},
  };
  for (const auto& [attribute, value] : attributes) {
    if (api.attribute(value, attribute, device) != 0 || *value < 0) {
      return std::nullopt;
    }
  }
  return limits;
}

absl::StatusOr<DeviceDescription> Describe(const Api& api, int ordinal) {
  DeviceDescription description;
  description.id = absl::StrCat("gpu", ordinal);
  description.kind = DeviceKind::kGpu;
  int device = 0;
  RETURN_IF_ERROR(Check(api, api.device(&device, ordinal)));
  char name[256] = {};
  RETURN_IF_ERROR(Check(api, api.name(name, sizeof name - 1, device)));
  description.model = name;
  size_t bytes = 0;
  RETURN_IF_ERROR(Check(api, api.memory(&bytes, device)));
  description.memory_bytes = static_cast<int64_t>(bytes);
  RETURN_IF_ERROR(Check(
      api, api.attribute(&description.cores, kMultiprocessorCount, device)));
  int major = 0;
  int minor = 0;
  RETURN_IF_ERROR(
      Check(api, api.attribute(&major, kComputeCapabilityMajor, device)));
  RETURN_IF_ERROR(
      Check(api, api.attribute(&minor, kComputeCapabilityMinor, device)));
  description.compute_capability = absl::StrCat(major, ".", minor);
  description.multiprocessor = Limits(api, device);
  ASSIGN_OR_RETURN(description.uuid, UuidOf(api, device));
  return description;
}

// "580.159.04" of "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580...": the
// first word that begins with a digit.
std::string KernelModuleVersion() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string line;
  std::getline(file, line);
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    if (word[0] >= '0' && word[0] <= '9') return word;
  }
  return "";
}

}  // namespace

std::string LoadError() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): each thread has its own in glibc.
  const char* const text = dlerror();
  return text == nullptr ? "unknown error" : text;
}

absl::StatusOr<CudaDriver> CudaDriver::Open() {
  ASSIGN_OR_RETURN(const Api api, OpenApi());
  RETURN_IF_ERROR(Check(api, api.init(0)));
  CudaDriver driver;
  int version = 0;
  RETURN_IF_ERROR(Check(api, api.version(&version)));
  driver.versions["cuda"] =
      absl::StrCat(version / 1000, ".", version % 1000 / 10);
  if (std::string module = KernelModuleVersion(); !module.empty()) {
    driver.versions["driver"] = std::move(module);
  }
  int count = 0;
  RETURN_IF_ERROR(Check(api, api.count(&count)));
  if (count == 0) {
    return absl::NotFoundError("The NVIDIA driver has no GPU.");
  }
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    ASSIGN_OR_RETURN(DeviceDescription device, Describe(api, ordinal));
    driver.devices.push_back(std::move(device));
  }
  return driver;
}

}  // namespace traza
