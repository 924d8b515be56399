// SPDX-License-Identifier: Apache-2.0
#include "worker/device_sampler.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#include "base/clock.h"

namespace traza {
namespace {

// A pause is at least so many times as long as the reading before it: the
// driver is busy with us for 2 % of the time at most.
constexpr int64_t kPauseOverRead = 50;

// Processes, which take longer to list, are looked at in the first sample and
// then in one of so many.
constexpr size_t kSamplesPerList = 50;

// A reason that held the clocks down for less of the time is none.
constexpr double kMinThrottledShare = 0.01;

// A CUDA context takes hundreds of megabytes: where less is in use, no process
// has one, whether the driver shows processes or not.
constexpr int64_t kLessThanAContextBytes = 64 << 20;

bool Contains(const std::vector<std::string>& reasons,
              absl::string_view reason) {
  return std::ranges::find(reasons, reason) != reasons.end();
}

// The reasons of one reading, {"none"} where there are none. Those that come
// and go while a GPU idles, whose clocks are low anyway, are left out then.
std::vector<std::string> ReasonsOf(const GpuReading& reading) {
  if (!reading.throttle_reasons.has_value()) return {};
  std::vector<std::string> reasons = *reading.throttle_reasons;
  if (Contains(reasons, "gpu_idle")) {
    std::erase_if(reasons, [](const std::string& reason) {
      return reason == "sw_power_cap" || reason == "hw_slowdown" ||
             reason == "sync_boost";
    });
  }
  if (reasons.empty()) return {"none"};
  return reasons;
}

// A mean of a second says little of a job of milliseconds.
std::optional<double> PowerOf(const GpuReading& reading) {
  return reading.instant_power_watts.has_value() ? reading.instant_power_watts
                                                 : reading.power_watts;
}

void Merge(const std::vector<std::string>& from,
           std::vector<std::string>* reasons) {
  for (const std::string& reason : from) {
    if (!Contains(*reasons, reason)) reasons->push_back(reason);
  }
}

}  // namespace

DeviceSampler::DeviceSampler(const DeviceSamplerOptions& options,
                             GpuMonitor& monitor)
    : options_(options), monitor_(monitor), interval_(options.interval) {}

DeviceSampler::~DeviceSampler() { Stop(); }

void DeviceSampler::ReadBefore() { before_ = Read(GpuFields::kAll); }

void DeviceSampler::ReadAfter() { after_ = Read(GpuFields::kAll); }

void DeviceSampler::Start() {
  thread_ = std::jthread([this] { RunLoop(); });
}

void DeviceSampler::Stop() {
  {
    const MutexLock lock(mu_);
    stop_ = true;
  }
  stopped_.SignalAll();
  if (thread_.joinable()) thread_.join();
}

std::optional<DeviceSampler::Sample> DeviceSampler::Read(
    GpuFields fields) const {
  const int64_t start_ns = RealtimeNs();
  absl::StatusOr<GpuReading> reading = monitor_.Read(options_.uuid, fields);
  if (!reading.ok()) return std::nullopt;
  Sample sample;
  sample.time_ns = start_ns + (RealtimeNs() - start_ns) / 2;
  if (reading->processes.has_value()) {
    const pid_t self = ::getpid();
    // Now: a process that has ended has no parent any more.
    sample.others =
        CountForeignProcesses(*reading->processes, self, options_.daemon);
    sample.sees_us =
        std::ranges::find(*reading->processes, self, &GpuProcess::pid) !=
        reading->processes->end();
  }
  sample.reading = *std::move(reading);
  return sample;
}

// Ends by itself when the GPU does not answer any more.
void DeviceSampler::RunLoop() {
  absl::Duration pause = interval_;
  for (size_t i = 0; Wait(pause); ++i) {
    const absl::Duration start = Clock::Real().Monotonic();
    std::optional<Sample> sample =
        Read(i % kSamplesPerList == 0 ? GpuFields::kAll : GpuFields::kSensors);
    if (!sample.has_value()) return;
    Keep(*std::move(sample));
    const absl::Duration took = Clock::Real().Monotonic() - start;
    pause = std::max(interval_, kPauseOverRead * took);
  }
}

bool DeviceSampler::Wait(absl::Duration time) {
  const absl::Duration end = Clock::Real().Monotonic() + time;
  const MutexLock lock(mu_);
  while (!stop_) {
    const absl::Duration left = end - Clock::Real().Monotonic();
    if (left <= absl::ZeroDuration()) return true;
    stopped_.WaitFor(mu_, left);
  }
  return false;
}

void DeviceSampler::Keep(Sample sample) {
  most_others_ = std::max(most_others_, sample.others.value_or(0));
  if (samples_.size() >= options_.max_samples) {
    for (size_t i = 0; i < samples_.size() / 2; ++i) {
      samples_[i] = std::move(samples_[2 * i]);
    }
    samples_.resize(samples_.size() / 2);
    interval_ *= 2;
  }
  samples_.push_back(std::move(sample));
}

// ---- What becomes of it

void DeviceSampler::Drain(RawRecords* records, Header* header) {
  DeviceState before = StateOf(before_);
  DeviceState after = StateOf(after_);
  if (after_.has_value()) {
    Merge(ReasonsSinceBefore(*after_), &after.throttle_reasons);
  }
  for (DeviceState* const state : {&before, &after}) {
    std::vector<std::string>& reasons = state->throttle_reasons;
    if (reasons.size() > 1) std::erase(reasons, "none");
  }
  CountOthers(&before, &after);
  header->state_before = std::move(before);
  header->state_after = std::move(after);
  AddCounters(records);
}

DeviceState DeviceSampler::StateOf(const std::optional<Sample>& sample) const {
  DeviceState state;
  if (!sample.has_value()) return state;
  const GpuReading& reading = sample->reading;
  state.clock_hz = reading.sm_clock_hz;
  state.power_watts = PowerOf(reading);
  state.temperature_celsius = reading.temperature_celsius;
  state.memory_used_bytes = reading.memory_used_bytes;
  state.throttle_reasons = ReasonsOf(reading);
  return state;
}

std::vector<std::string> DeviceSampler::ReasonsSinceBefore(
    const Sample& after) const {
  std::vector<std::string> reasons;
  for (const Sample& sample : samples_) {
    Merge(ReasonsOf(sample.reading), &reasons);
  }
  if (!before_.has_value()) return reasons;
  const double seconds =
      static_cast<double>(after.time_ns - before_->time_ns) * 1e-9;
  for (const auto& [reason, total] : after.reading.throttled_seconds) {
    const auto start = before_->reading.throttled_seconds.find(reason);
    if (start != before_->reading.throttled_seconds.end() &&
        total - start->second > kMinThrottledShare * seconds) {
      Merge({reason}, &reasons);
    }
  }
  return reasons;
}

// In a container the driver may show no processes, or numbers of another
// namespace. Our own context is the proof that it shows them.
void DeviceSampler::CountOthers(DeviceState* before, DeviceState* after) const {
  bool shown = false;
  if (after_.has_value() && after_->sees_us) {
    shown = true;
    after->other_processes = std::max(after_->others.value_or(0), most_others_);
  }
  if (before_.has_value() && (shown || before_->sees_us)) {
    before->other_processes = before_->others;
  } else if (before->memory_used_bytes.has_value() &&
             *before->memory_used_bytes < kLessThanAContextBytes) {
    before->other_processes = 0;
  }
}

void DeviceSampler::AddCounters(RawRecords* records) const {
  std::vector<const Sample*> all;
  if (before_.has_value()) all.push_back(&*before_);
  for (const Sample& sample : samples_) all.push_back(&sample);
  if (after_.has_value()) all.push_back(&*after_);
  std::vector<std::string> reasons;
  for (const Sample* const sample : all) {
    Merge(sample->reading.throttle_reasons.value_or(std::vector<std::string>()),
          &reasons);
  }
  for (const Sample* const sample : all) {
    const auto add = [&](absl::string_view name, auto value) {
      if (!value.has_value()) return;
      records->counters.push_back({.name = records->names.Intern(name),
                                   .time_ns = sample->time_ns,
                                   .device = options_.device,
                                   .value = static_cast<double>(*value)});
    };
    const GpuReading& reading = sample->reading;
    add("sm_clock_hz", reading.sm_clock_hz);
    add("memory_clock_hz", reading.memory_clock_hz);
    add("power_watts", PowerOf(reading));
    add("temperature_celsius", reading.temperature_celsius);
    add("memory_used_bytes", reading.memory_used_bytes);
    if (!reading.throttle_reasons.has_value()) continue;
    for (const std::string& reason : reasons) {
      add(absl::StrCat("throttle_", reason),
          std::optional<bool>(Contains(*reading.throttle_reasons, reason)));
    }
  }
}

}  // namespace traza
