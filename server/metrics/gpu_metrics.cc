// SPDX-License-Identifier: Apache-2.0
#include "server/metrics/gpu_metrics.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/match.h"
#include "prometheus/metric_family.h"

namespace traza {
namespace {

using prometheus::MetricType;

// The rows of the table below, in its order.
enum Id : size_t {
  kState,
  kPower,
  kEnergy,
  kTemperature,
  kClock,
  kMemoryUsed,
  kMemorySize,
  kThrottleReason,
  kThrottleSeconds,
  kProcesses,
  kReadingAge,
  kReadErrors,
  kIdCount,
};

constexpr absl::string_view kWholeDevice = "device";

struct Row {
  MetricType type;
  const char* name;
  const char* label;  // beside "device"; null for none
  const char* help;
};

// clang-format off
constexpr std::array<Row, kIdCount> kTable = {{
  {MetricType::Gauge, "traza_gpu_state", "state", "1 for what is so: idle, leased (a daemon measures), external (another process uses it), unhealthy."},
  {MetricType::Gauge, "traza_gpu_power_watts", nullptr, "Power, mean of about a second."},
  {MetricType::Counter, "traza_gpu_energy_joules_total", nullptr, "Energy since the driver was loaded."},
  {MetricType::Gauge, "traza_gpu_temperature_celsius", "sensor", "Temperature."},
  {MetricType::Gauge, "traza_gpu_clock_hertz", "domain", "Clock of multiprocessors (sm) and memory."},
  {MetricType::Gauge, "traza_gpu_memory_used_bytes", nullptr, "Memory in use, without what the driver reserves."},
  {MetricType::Gauge, "traza_gpu_memory_size_bytes", nullptr, "Memory of the GPU."},
  {MetricType::Gauge, "traza_gpu_throttle_reason", "reason", "1 while the clocks are held down for this reason."},
  {MetricType::Counter, "traza_gpu_throttle_seconds_total", "reason", "How long the clocks were held down since the driver was loaded."},
  {MetricType::Gauge, "traza_gpu_processes", nullptr, "Processes with a context that the driver shows, ours included."},
  {MetricType::Gauge, "traza_gpu_reading_age_seconds", nullptr, "Age of the values of this GPU; older than a minute they are left out."},
  {MetricType::Counter, "traza_gpu_read_errors_total", "field", "Readings that failed; device is all of a GPU."},
}};
// clang-format on

class Families {
 public:
  // `label` is the value of the label of that row, if it has one.
  template <typename T>
  void Add(Id id, const std::string& device, const std::string& label,
           const std::optional<T>& value) {
    if (!value.has_value()) return;
    prometheus::ClientMetric metric;
    metric.label = {{"device", device}};
    if (kTable[id].label != nullptr) {
      metric.label.push_back({kTable[id].label, label});
    }
    metric.counter.value = static_cast<double>(*value);
    metric.gauge.value = static_cast<double>(*value);
    metrics_[id].push_back(std::move(metric));
  }

  std::vector<prometheus::MetricFamily> Take() {
    std::vector<prometheus::MetricFamily> families;
    for (size_t id = 0; id < kIdCount; ++id) {
      if (metrics_[id].empty()) continue;
      prometheus::MetricFamily& family = families.emplace_back();
      family.name = kTable[id].name;
      family.help = kTable[id].help;
      family.type = kTable[id].type;
      family.metric = std::move(metrics_[id]);
    }
    return families;
  }

 private:
  std::array<std::vector<prometheus::ClientMetric>, kIdCount> metrics_;
};

// An idle GPU, or one that runs as it was told, is not slowed down.
bool IsHarmless(absl::string_view reason) {
  return reason == "gpu_idle" || absl::EndsWith(reason, "_setting");
}

void AddReading(const std::string& device, const GpuReading& reading,
                Families* all) {
  all->Add(kPower, device, "", reading.power_watts);
  all->Add(kEnergy, device, "", reading.energy_joules);
  all->Add(kTemperature, device, "gpu", reading.temperature_celsius);
  all->Add(kClock, device, "sm", reading.sm_clock_hz);
  all->Add(kClock, device, "memory", reading.memory_clock_hz);
  all->Add(kMemoryUsed, device, "", reading.memory_used_bytes);
  all->Add(kMemorySize, device, "", reading.memory_total_bytes);
  if (reading.throttle_reasons.has_value()) {
    const std::vector<std::string>& active = *reading.throttle_reasons;
    for (const std::string& reason : KnownThrottleReasons()) {
      if (IsHarmless(reason)) continue;
      const bool on = std::ranges::find(active, reason) != active.end();
      all->Add(kThrottleReason, device, reason, std::optional<bool>(on));
    }
  }
  for (const auto& [reason, seconds] : reading.throttled_seconds) {
    all->Add(kThrottleSeconds, device, reason, std::optional<double>(seconds));
  }
  if (reading.processes.has_value()) {
    all->Add(kProcesses, device, "",
             std::optional<size_t>(reading.processes->size()));
  }
}

}  // namespace

std::vector<prometheus::MetricFamily> GpuMetrics(
    const std::vector<GpuFigures>& gpus) {
  Families all;
  for (const GpuFigures& gpu : gpus) {
    for (const absl::string_view state : kGpuStates) {
      all.Add(kState, gpu.device, std::string(state),
              std::optional<bool>(gpu.state == state));
    }
    if (gpu.reading.has_value()) AddReading(gpu.device, *gpu.reading, &all);
    if (gpu.age.has_value()) {
      all.Add(kReadingAge, gpu.device, "",
              std::optional<double>(absl::ToDoubleSeconds(*gpu.age)));
    }
    for (const auto& [field, count] : gpu.read_errors) {
      // The others from their first error on: they would be many.
      if (count == 0 && field != kWholeDevice) continue;
      all.Add(kReadErrors, gpu.device, field, std::optional<int64_t>(count));
    }
  }
  return all.Take();
}

}  // namespace traza
