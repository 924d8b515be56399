// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_METRICS_GPU_FIGURES_H_
#define SERVER_METRICS_GPU_FIGURES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

#include "base/gpu_monitor.h"

namespace traza {

// What is shown of one GPU.
struct GpuFigures {
  std::string device;  // "gpu0"
  std::string state;   // one of kGpuStates
  std::optional<GpuReading> reading;
  std::optional<absl::Duration> age;           // of the reading
  std::map<std::string, int64_t> read_errors;  // by field
};

inline constexpr absl::string_view kGpuStates[] = {"idle", "leased", "external",
                                                   "unhealthy"};

}  // namespace traza

#endif  // SERVER_METRICS_GPU_FIGURES_H_
