// SPDX-License-Identifier: Apache-2.0
#ifndef BASE_GPU_MONITOR_H_
#define BASE_GPU_MONITOR_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace traza {

// A process with a CUDA context on a GPU.
struct GpuProcess {
  pid_t pid = 0;
  std::optional<int64_t> memory_bytes;

  friend bool operator==(const GpuProcess&, const GpuProcess&) = default;
};

// The sensors of a GPU at one moment. What is absent is unknown: the GPU or
// its driver does not have it, or it could not be read (`errors`).
struct GpuReading {
  std::optional<int64_t> sm_clock_hz;
  std::optional<int64_t> memory_clock_hz;
  std::optional<double> power_watts;  // mean of about a second on most GPUs
  std::optional<double> instant_power_watts;
  std::optional<double> temperature_celsius;
  std::optional<int64_t> memory_used_bytes;  // without what the driver reserves
  std::optional<int64_t> memory_total_bytes;
  // Why the clocks are not at their highest, in the names of
  // KnownThrottleReasons(). Empty: they are.
  std::optional<std::vector<std::string>> throttle_reasons;
  // Reason -> how long it has held the clocks down since the driver was loaded.
  std::map<std::string, double> throttled_seconds;
  // The rest only by GpuFields::kAll.
  std::optional<double> energy_joules;  // since the driver was loaded
  std::optional<double> busy_ratio;     // time with a kernel, 0 to 1
  std::optional<std::vector<GpuProcess>> processes;

  // A name of kGpuFields -> why it could not be read, although the GPU has it.
  std::map<std::string, std::string> errors;
};

inline constexpr absl::string_view kGpuFields[] = {
    "sm_clock",         "memory_clock",   "power",  "temperature", "memory",
    "throttle_reasons", "throttled_time", "energy", "busy",        "processes"};

enum class GpuFields {
  kSensors,  // what changes while a job runs
  kAll,
};

// Reads the sensors of GPUs. Thread-safe.
class GpuMonitor {
 public:
  virtual ~GpuMonitor() = default;

  // The GPU is named by its UUID as the driver spells it ("GPU-...",
  // "MIG-..."): numbers differ between CUDA and the driver. Of a part of a GPU
  // (MIG) memory and processes are its own, everything else is that of the
  // whole.
  //
  // NOT_FOUND: there is no such GPU. UNAVAILABLE: it does not answer any more.
  // Takes the locks of the driver for some microseconds to milliseconds.
  virtual absl::StatusOr<GpuReading> Read(absl::string_view uuid,
                                          GpuFields fields) = 0;
};

// The reasons for lower clocks that have a name: "gpu_idle", "sw_power_cap",
// "hw_thermal_slowdown", ... A newer driver may know more ("reason_0x200").
const std::vector<std::string>& KnownThrottleReasons();

// How many of the processes are neither `self` nor, where `daemon` is given,
// its children: standby workers keep a context, but wait.
int64_t CountForeignProcesses(const std::vector<GpuProcess>& processes,
                              pid_t self, std::optional<pid_t> daemon);

}  // namespace traza

#endif  // BASE_GPU_MONITOR_H_
