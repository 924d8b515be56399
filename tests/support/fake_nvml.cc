// SPDX-License-Identifier: Apache-2.0
// A library that plays NVIDIA's libnvidia-ml.so.1 for tests: the functions that
// base/nvml_monitor.cc opens, with the answers of fake_nvml.h.
#include "tests/support/fake_nvml.h"

#include <algorithm>
#include <cstring>

namespace traza {
namespace {

using nvml::Device;
using nvml::Return;

FakeNvml& State() {
  static auto* const state = new FakeNvml;
  return *state;
}

Device HandleOf(size_t number) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): no pointer is behind it.
  return reinterpret_cast<Device>(uintptr_t{number + 1});
}

// Answers a call of `function` for `device`: an error, or what `read` makes of
// the GPU.
template <typename Read>
Return Answer(const char* function, Device device, Read read) {
  FakeNvml& state = State();
  const std::lock_guard<std::mutex> lock(state.mu);
  ++state.calls[function];
  const size_t number = reinterpret_cast<uintptr_t>(device) - 1;
  if (number >= state.gpus.size()) return nvml::kInvalidArgument;
  FakeGpu& gpu = state.gpus[number];
  if (gpu.state != nvml::kSuccess) return gpu.state;
  const auto answer = gpu.answers.find(function);
  if (answer != gpu.answers.end()) return answer->second;
  return read(gpu);
}

// The same for a function that stores one member.
template <typename T, typename Member>
Return Get(const char* function, Device device, Member member, T* out) {
  return Answer(function, device, [&](const FakeGpu& gpu) {
    *out = gpu.*member;
    return nvml::kSuccess;
  });
}

}  // namespace
}  // namespace traza

using traza::FakeGpu;
using traza::FakeNvml;
namespace nvml = traza::nvml;

// NOLINTBEGIN(readability-identifier-naming): the names of the library.
extern "C" {

FakeNvml* FakeNvmlState() { return &traza::State(); }

nvml::Return nvmlInit_v2() {
  FakeNvml& state = traza::State();
  const std::lock_guard<std::mutex> lock(state.mu);
  if (state.init == nvml::kSuccess) ++state.inits;
  return state.init;
}

nvml::Return nvmlShutdown() {
  FakeNvml& state = traza::State();
  const std::lock_guard<std::mutex> lock(state.mu);
  --state.inits;
  return nvml::kSuccess;
}

const char* nvmlErrorString(nvml::Return result) {
  return result == nvml::kNoPermission ? "Insufficient Permissions"
                                       : "Some Error";
}

nvml::Return nvmlDeviceGetCount_v2(unsigned int* count) {
  FakeNvml& state = traza::State();
  const std::lock_guard<std::mutex> lock(state.mu);
  *count = static_cast<unsigned int>(state.gpus.size());
  return nvml::kSuccess;
}

nvml::Return nvmlDeviceGetHandleByIndex_v2(unsigned int index,
                                           nvml::Device* device) {
  *device = traza::HandleOf(index);
  return traza::Answer("nvmlDeviceGetHandleByIndex_v2", *device,
                       [](const FakeGpu&) { return nvml::kSuccess; });
}

// Like the real one: a GPU that is lost makes it fail for all.
nvml::Return nvmlDeviceGetHandleByUUID(const char* uuid, nvml::Device* device) {
  FakeNvml& state = traza::State();
  const std::lock_guard<std::mutex> lock(state.mu);
  ++state.calls["nvmlDeviceGetHandleByUUID"];
  for (const FakeGpu& gpu : state.gpus) {
    if (gpu.state != nvml::kSuccess) return gpu.state;
  }
  for (size_t i = 0; i < state.gpus.size(); ++i) {
    if (state.gpus[i].uuid != uuid) continue;
    *device = traza::HandleOf(i);
    return nvml::kSuccess;
  }
  return nvml::kNotFound;
}

nvml::Return nvmlDeviceGetUUID(nvml::Device device, char* uuid,
                               unsigned int length) {
  return traza::Answer("nvmlDeviceGetUUID", device, [&](const FakeGpu& gpu) {
    if (gpu.uuid.size() + 1 > length) return nvml::kInsufficientSize;
    std::memcpy(uuid, gpu.uuid.c_str(), gpu.uuid.size() + 1);
    return nvml::kSuccess;
  });
}

nvml::Return nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvml::Device part,
                                                          nvml::Device* whole) {
  return traza::Answer("nvmlDeviceGetDeviceHandleFromMigDeviceHandle", part,
                       [&](const FakeGpu& gpu) {
                         if (gpu.whole < 0) return nvml::kInvalidArgument;
                         *whole =
                             traza::HandleOf(static_cast<size_t>(gpu.whole));
                         return nvml::kSuccess;
                       });
}

nvml::Return nvmlDeviceGetClockInfo(nvml::Device device, int type,
                                    unsigned int* mhz) {
  return traza::Answer(
      "nvmlDeviceGetClockInfo", device, [&](const FakeGpu& gpu) {
        *mhz = type == nvml::kClockSm ? gpu.sm_mhz : gpu.memory_mhz;
        return nvml::kSuccess;
      });
}

nvml::Return nvmlDeviceGetPowerUsage(nvml::Device device,
                                     unsigned int* milliwatts) {
  return traza::Get("nvmlDeviceGetPowerUsage", device, &FakeGpu::milliwatts,
                    milliwatts);
}

nvml::Return nvmlDeviceGetTotalEnergyConsumption(nvml::Device device,
                                                 uint64_t* millijoules) {
  return traza::Get("nvmlDeviceGetTotalEnergyConsumption", device,
                    &FakeGpu::millijoules, millijoules);
}

nvml::Return nvmlDeviceGetTemperature(nvml::Device device, int /*sensor*/,
                                      unsigned int* celsius) {
  return traza::Get("nvmlDeviceGetTemperature", device, &FakeGpu::celsius,
                    celsius);
}

nvml::Return nvmlDeviceGetTemperatureV(nvml::Device device,
                                       nvml::Temperature* temperature) {
  if (temperature->version != nvml::kTemperatureVersion) {
    return nvml::kArgumentVersionMismatch;
  }
  return traza::Get("nvmlDeviceGetTemperatureV", device, &FakeGpu::celsius,
                    &temperature->celsius);
}

nvml::Return nvmlDeviceGetMemoryInfo_v2(nvml::Device device,
                                        nvml::Memory* memory) {
  if (memory->version != nvml::kMemoryVersion) {
    return nvml::kArgumentVersionMismatch;
  }
  return traza::Answer("nvmlDeviceGetMemoryInfo_v2", device,
                       [&](const FakeGpu& gpu) {
                         memory->used = gpu.memory_used;
                         memory->total = gpu.memory_total;
                         return nvml::kSuccess;
                       });
}

nvml::Return nvmlDeviceGetCurrentClocksEventReasons(nvml::Device device,
                                                    uint64_t* reasons) {
  return traza::Get("nvmlDeviceGetCurrentClocksEventReasons", device,
                    &FakeGpu::reasons, reasons);
}

nvml::Return nvmlDeviceGetUtilizationRates(nvml::Device device,
                                           nvml::Utilization* utilization) {
  return traza::Get("nvmlDeviceGetUtilizationRates", device,
                    &FakeGpu::busy_percent, &utilization->gpu);
}

nvml::Return nvmlDeviceGetComputeRunningProcesses_v3(nvml::Device device,
                                                     unsigned int* count,
                                                     nvml::Process* processes) {
  return traza::Answer("nvmlDeviceGetComputeRunningProcesses_v3", device,
                       [&](const FakeGpu& gpu) {
                         const unsigned int room = *count;
                         *count =
                             static_cast<unsigned int>(gpu.processes.size());
                         if (room < *count) return nvml::kInsufficientSize;
                         std::ranges::copy(gpu.processes, processes);
                         return nvml::kSuccess;
                       });
}

nvml::Return nvmlDeviceGetFieldValues(nvml::Device device, int count,
                                      nvml::FieldValue* values) {
  return traza::Answer(
      "nvmlDeviceGetFieldValues", device, [&](const FakeGpu& gpu) {
        for (int i = 0; i < count; ++i) {
          const auto found = gpu.fields.find(values[i].field);
          const bool known = found != gpu.fields.end();
          values[i].result = known ? nvml::kSuccess : nvml::kInvalidArgument;
          values[i].value.u64 = known ? found->second : 0;
        }
        return nvml::kSuccess;
      });
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
