// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SUPPORT_FAKE_NVML_H_
#define TESTS_SUPPORT_FAKE_NVML_H_

#include <dlfcn.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/file.h"
#include "base/nvml_abi.h"

namespace traza {

// A GPU of the library that plays NVIDIA's (fake_nvml.cc).
struct FakeGpu {
  std::string uuid = "GPU-0000";
  int whole = -1;  // number of the GPU of which this is a part (MIG)
  // The answer to every call; success normally.
  nvml::Return state = nvml::kSuccess;
  // Function -> its answer, "nvmlDeviceGetPowerUsage" -> kNoPermission.
  std::map<std::string, nvml::Return> answers;

  unsigned int sm_mhz = 1980;
  unsigned int memory_mhz = 3201;
  unsigned int milliwatts = 612'500;
  uint64_t millijoules = 5'000'250;
  unsigned int celsius = 61;
  uint64_t memory_used = uint64_t{3} << 30;
  uint64_t memory_total = uint64_t{140} << 30;
  uint64_t reasons = nvml::kReasonSwPowerCap;
  unsigned int busy_percent = 75;
  std::vector<nvml::Process> processes;
  // Of nvmlDeviceGetFieldValues; one that is not here is unknown to the driver.
  std::map<unsigned int, uint64_t> fields = {
      {nvml::kFieldPowerInstant, 650'000},
      {nvml::kFieldSwPowerCapNs, 2'500'000'000},
      {nvml::kFieldSyncBoostNs, 0},
      {nvml::kFieldSwThermalNs, 0},
      {nvml::kFieldHwThermalNs, 0},
      {nvml::kFieldHwPowerBrakeNs, 0}};
};

// What the library answers. One for each process that has loaded it.
struct FakeNvml {
  std::mutex mu;  // guards all of it
  nvml::Return init = nvml::kSuccess;
  int inits = 0;  // minus shutdowns
  std::map<std::string, int> calls;
  std::vector<FakeGpu> gpus = {FakeGpu{}};
};

// The library, which lies beside the tests: a whole one, and one that lacks
// all but a few functions, as an old driver's does.
inline std::string FakeNvmlPath() {
  return ExecutableDirectory() / "fake_nvml" / "libnvidia-ml.so.1";
}
inline std::string OldFakeNvmlPath() {
  return ExecutableDirectory() / "fake_nvml_old" / "libnvidia-ml.so.1";
}

// Its answers, as they are at first.
inline FakeNvml& FreshFakeNvml() {
  void* const library = dlopen(FakeNvmlPath().c_str(), RTLD_NOW);
  TRAZA_CHECK(library != nullptr);
  const auto state =
      reinterpret_cast<FakeNvml* (*)()>(dlsym(library, "FakeNvmlState"));
  TRAZA_CHECK(state != nullptr);
  FakeNvml& fake = *state();
  const std::lock_guard<std::mutex> lock(fake.mu);
  fake.init = nvml::kSuccess;
  fake.inits = 0;
  fake.calls.clear();
  fake.gpus = {FakeGpu{}};
  return fake;
}

}  // namespace traza

#endif  // TESTS_SUPPORT_FAKE_NVML_H_
