// SPDX-License-Identifier: Apache-2.0
#ifndef BASE_NVML_ABI_H_
#define BASE_NVML_ABI_H_

#include <cstdint>

// The few types and numbers of NVIDIA's management library (nvml.h) that are
// needed, by its stable ABI: a build needs no header of NVIDIA's.
// tests/base/nvml_abi_test.cc compares them with the header where it is there.
namespace traza::nvml {

inline constexpr char kLibrary[] = "libnvidia-ml.so.1";

using Return = int;
inline constexpr Return kSuccess = 0;
inline constexpr Return kUninitialized = 1;
inline constexpr Return kInvalidArgument = 2;
inline constexpr Return kNotSupported = 3;
inline constexpr Return kNoPermission = 4;
inline constexpr Return kNotFound = 6;
inline constexpr Return kInsufficientSize = 7;
inline constexpr Return kDriverNotLoaded = 9;
inline constexpr Return kFunctionNotFound = 13;
inline constexpr Return kGpuIsLost = 15;
inline constexpr Return kResetRequired = 16;
inline constexpr Return kVersionMismatch = 18;
inline constexpr Return kNoData = 21;
inline constexpr Return kArgumentVersionMismatch = 25;
inline constexpr Return kDeprecated = 26;
inline constexpr Return kUnknown = 999;

// A GPU, or a part of one (MIG). Opaque.
struct DeviceHandle;
using Device = DeviceHandle*;

inline constexpr int kClockSm = 1;
inline constexpr int kClockMemory = 2;

inline constexpr int kTemperatureGpu = 0;
struct Temperature {
  unsigned int version;
  int sensor;
  int celsius;
};
inline constexpr unsigned int kTemperatureVersion =
    sizeof(Temperature) | (1U << 24);

struct Memory {
  unsigned int version;
  uint64_t total;
  uint64_t reserved;  // by driver and firmware; not part of `used`
  uint64_t free;
  uint64_t used;
};
inline constexpr unsigned int kMemoryVersion = sizeof(Memory) | (2U << 24);

struct Utilization {
  unsigned int gpu;  // percent of the last sample period
  unsigned int memory;
};

struct Process {
  unsigned int pid;
  uint64_t used_bytes;  // kNotAvailable where it is not known
  unsigned int gpu_instance;
  unsigned int compute_instance;
};
inline constexpr uint64_t kNotAvailable = UINT64_MAX;

union Value {
  double real;
  unsigned int u32;
  uint64_t u64;
};
struct FieldValue {
  unsigned int field;
  unsigned int scope;
  int64_t timestamp_us;
  int64_t latency_us;
  int type;
  Return result;
  Value value;
};
// Nanoseconds for which each reason has held the clocks down.
inline constexpr unsigned int kFieldSwPowerCapNs = 74;
inline constexpr unsigned int kFieldSyncBoostNs = 76;
inline constexpr unsigned int kFieldSwThermalNs = 269;
inline constexpr unsigned int kFieldHwThermalNs = 270;
inline constexpr unsigned int kFieldHwPowerBrakeNs = 271;
// Power now, in mW. nvmlDeviceGetPowerUsage is the mean of a second on most
// GPUs.
inline constexpr unsigned int kFieldPowerInstant = 186;

// Why the clocks are not at their highest: bits.
inline constexpr uint64_t kReasonGpuIdle = 0x1;
inline constexpr uint64_t kReasonApplicationsClocks = 0x2;
inline constexpr uint64_t kReasonSwPowerCap = 0x4;
inline constexpr uint64_t kReasonHwSlowdown = 0x8;
inline constexpr uint64_t kReasonSyncBoost = 0x10;
inline constexpr uint64_t kReasonSwThermal = 0x20;
inline constexpr uint64_t kReasonHwThermal = 0x40;
inline constexpr uint64_t kReasonHwPowerBrake = 0x80;
inline constexpr uint64_t kReasonDisplayClock = 0x100;

}  // namespace traza::nvml

#endif  // BASE_NVML_ABI_H_
