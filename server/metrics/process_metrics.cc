// SPDX-License-Identifier: Apache-2.0
#include "server/metrics/process_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

#include "base/file.h"

namespace traza {
namespace {

constexpr int64_t kMaxProcFileBytes = 1 << 20;

// Fields of /proc/self/stat after the name, by their numbers in proc(5).
constexpr size_t kUserTime = 14;
constexpr size_t kSystemTime = 15;
constexpr size_t kThreads = 20;
constexpr size_t kStartTime = 22;
constexpr size_t kVirtualBytes = 23;
constexpr size_t kResidentPages = 24;

// The fields of /proc/self/stat from number 3 on; empty when unreadable.
std::vector<std::string> ReadStat() {
  const auto text = ReadFile("/proc/self/stat", kMaxProcFileBytes);
  if (!text.ok()) return {};
  // The name is in parentheses and may hold anything.
  const size_t end = text->rfind(')');
  if (end == std::string::npos) return {};
  return absl::StrSplit(text->substr(end + 1), ' ', absl::SkipWhitespace());
}

std::optional<double> Field(const std::vector<std::string>& stat,
                            size_t number) {
  double value = 0;
  if (number - 3 >= stat.size() ||
      !absl::SimpleAtod(stat[number - 3], &value)) {
    return std::nullopt;
  }
  return value;
}

// When the machine started, in seconds since the epoch.
std::optional<double> BootTime() {
  const auto text = ReadFile("/proc/stat", kMaxProcFileBytes);
  if (!text.ok()) return std::nullopt;
  for (absl::string_view line : absl::StrSplit(*text, '\n')) {
    double seconds = 0;
    if (absl::ConsumePrefix(&line, "btime ") &&
        absl::SimpleAtod(line, &seconds)) {
      return seconds;
    }
  }
  return std::nullopt;
}

std::optional<double> OpenDescriptors() {
  std::error_code error;
  std::filesystem::directory_iterator it("/proc/self/fd", error);
  double count = 0;
  for (; !error && it != std::filesystem::directory_iterator();
       it.increment(error)) {
    ++count;
  }
  if (error) return std::nullopt;
  return count - 1;  // the one that lists
}

std::optional<double> MaxDescriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::nullopt;
  return static_cast<double>(limit.rlim_cur);
}

class Families {
 public:
  void Add(const char* name, const char* help, prometheus::MetricType type,
           std::optional<double> value) {
    if (!value.has_value()) return;
    prometheus::MetricFamily family;
    family.name = name;
    family.help = help;
    family.type = type;
    family.metric.resize(1);
    family.metric[0].counter.value = *value;
    family.metric[0].gauge.value = *value;
    families_.push_back(std::move(family));
  }
  std::vector<prometheus::MetricFamily> Take() { return std::move(families_); }

 private:
  std::vector<prometheus::MetricFamily> families_;
};

}  // namespace

std::vector<prometheus::MetricFamily> CollectProcessMetrics() {
  using prometheus::MetricType;
  const std::vector<std::string> stat = ReadStat();
  const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  const auto page = static_cast<double>(::sysconf(_SC_PAGESIZE));
  std::optional<double> cpu, start, resident;
  const auto user = Field(stat, kUserTime), system = Field(stat, kSystemTime);
  if (user && system) cpu = (*user + *system) / ticks;
  const auto started = Field(stat, kStartTime), boot = BootTime();
  if (started && boot) start = *boot + *started / ticks;
  if (const auto pages = Field(stat, kResidentPages)) resident = *pages * page;
  Families all;
  all.Add("process_cpu_seconds_total", "User and system CPU time.",
          MetricType::Counter, cpu);
  all.Add("process_open_fds", "Open file descriptors.", MetricType::Gauge,
          OpenDescriptors());
  all.Add("process_max_fds", "Limit of open file descriptors.",
          MetricType::Gauge, MaxDescriptors());
  all.Add("process_virtual_memory_bytes", "Virtual memory.", MetricType::Gauge,
          Field(stat, kVirtualBytes));
  all.Add("process_resident_memory_bytes", "Resident memory.",
          MetricType::Gauge, resident);
  all.Add("process_threads", "Threads.", MetricType::Gauge,
          Field(stat, kThreads));
  all.Add("process_start_time_seconds", "Start, in seconds since the epoch.",
          MetricType::Gauge, start);
  return all.Take();
}

}  // namespace traza
