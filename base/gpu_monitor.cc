// SPDX-License-Identifier: Apache-2.0
#include "base/gpu_monitor.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include "base/file.h"

namespace traza {
namespace {

constexpr int64_t kMaxStatBytes = 4096;

// Nothing when the process is gone, or in a namespace that we do not see.
std::optional<pid_t> ParentOf(pid_t pid) {
  const auto text =
      ReadFile(absl::StrCat("/proc/", pid, "/stat"), kMaxStatBytes);
  if (!text.ok()) return std::nullopt;
  // "pid (name) state parent": the name may hold anything.
  const size_t end = text->rfind(')');
  if (end == std::string::npos) return std::nullopt;
  const std::vector<std::string> fields =
      absl::StrSplit(text->substr(end + 1), ' ', absl::SkipWhitespace());
  pid_t parent = 0;
  if (fields.size() < 2 || !absl::SimpleAtoi(fields[1], &parent)) {
    return std::nullopt;
  }
  return parent;
}

}  // namespace

const std::vector<std::string>& KnownThrottleReasons() {
  // In the order of the driver's bits.
  static const auto* const reasons =
      new std::vector<std::string>{"gpu_idle",
                                   "applications_clocks_setting",
                                   "sw_power_cap",
                                   "hw_slowdown",
                                   "sync_boost",
                                   "sw_thermal_slowdown",
                                   "hw_thermal_slowdown",
                                   "hw_power_brake_slowdown",
                                   "display_clock_setting"};
  return *reasons;
}

int64_t CountForeignProcesses(const std::vector<GpuProcess>& processes,
                              pid_t self, std::optional<pid_t> daemon) {
  return std::ranges::count_if(processes, [&](const GpuProcess& process) {
    if (process.pid == self) return false;
    return !daemon.has_value() || ParentOf(process.pid) != daemon;
  });
}

}  // namespace traza
