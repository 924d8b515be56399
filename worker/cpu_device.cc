// SPDX-License-Identifier: Apache-2.0
#include "worker/cpu_device.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace traza {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();

// The text after "key :" of the first line that has it; empty without one.
std::string FieldOf(const fs::path& path, absl::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(line, absl::MaxSplits(':', 1));
    if (absl::StripAsciiWhitespace(parts.first) == key) {
      return std::string(absl::StripAsciiWhitespace(parts.second));
    }
  }
  return "";
}

int64_t MachineMemory(const fs::path& root) {
  const std::string text = FieldOf(root / "proc/meminfo", "MemTotal");
  int64_t kibibytes = 0;
  if (!absl::SimpleAtoi(absl::StripSuffix(text, " kB"), &kibibytes)) return 0;
  return kibibytes * 1024;
}

// The number in a file of a control group; unlimited where it says "max", or
// is not there.
int64_t LimitIn(const fs::path& path) {
  std::ifstream file(path);
  std::string text;
  int64_t limit = 0;
  if (!(file >> text) || !absl::SimpleAtoi(text, &limit)) return kUnlimited;
  return limit;
}

// The least limit of the group of this process and of those around it, in
// version 2 (one line "0::/path") or version 1 ("N:memory:/path").
int64_t GroupMemory(const fs::path& root) {
  std::ifstream file(root / "proc/self/cgroup");
  int64_t least = kUnlimited;
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> parts =
        absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() != 3) continue;
    const bool second = parts[1].empty();
    if (!second && !absl::StrContains(parts[1], "memory")) continue;
    const fs::path top =
        root / (second ? "sys/fs/cgroup" : "sys/fs/cgroup/memory");
    const char* const name = second ? "memory.max" : "memory.limit_in_bytes";
    fs::path group = fs::path(parts[2]).relative_path();
    for (;; group = group.parent_path()) {
      least = std::min(least, LimitIn(top / group / name));
      if (group.empty()) break;
    }
  }
  return least;
}

}  // namespace

DeviceDescription DescribeCpu(int threads, const fs::path& root) {
  DeviceDescription device;
  device.id = "cpu";
  device.kind = DeviceKind::kCpu;
  device.model = FieldOf(root / "proc/cpuinfo", "model name");
  if (device.model.empty()) device.model = "CPU";
  device.memory_bytes = std::min(MachineMemory(root), GroupMemory(root));
  device.cores = threads;
  return device;
}

}  // namespace traza
