// SPDX-License-Identifier: Apache-2.0
// The library of an old driver: it finds one GPU and knows its clocks and why
// they are low, by the function's old name.
#include <cstdint>
#include <string>

#include "base/nvml_abi.h"

namespace nvml = traza::nvml;

// NOLINTBEGIN(readability-identifier-naming): the names of the library.
extern "C" {

nvml::Return nvmlInit_v2() { return nvml::kSuccess; }
nvml::Return nvmlShutdown() { return nvml::kSuccess; }

nvml::Return nvmlDeviceGetHandleByUUID(const char* uuid, nvml::Device* device) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): no pointer is behind it.
  *device = reinterpret_cast<nvml::Device>(uintptr_t{1});
  return std::string(uuid) == "GPU-0000" ? nvml::kSuccess : nvml::kNotFound;
}

nvml::Return nvmlDeviceGetClockInfo(nvml::Device /*device*/, int /*type*/,
                                    unsigned int* mhz) {
  *mhz = 1410;
  return nvml::kSuccess;
}

nvml::Return nvmlDeviceGetCurrentClocksThrottleReasons(nvml::Device /*device*/,
                                                       uint64_t* reasons) {
  *reasons = nvml::kReasonGpuIdle;
  return nvml::kSuccess;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
