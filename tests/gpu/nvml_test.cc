// SPDX-License-Identifier: Apache-2.0
// What the driver says of a real GPU: values that can be, found by the UUID
// that CUDA tells, for each GPU. Prints them, so that a person can compare them
// with nvidia-smi.
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "cuda_runtime_api.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/clock.h"
#include "base/nvml_monitor.h"
#include "tests/support/status_matchers.h"
#include "trace/correlate/raw_records.h"
#include "worker/cuda_driver.h"
#include "worker/device_sampler.h"

namespace traza {
namespace {

using testing::AllOf;
using testing::Ge;
using testing::IsEmpty;
using testing::Le;
using testing::Optional;

template <typename T>
std::string Text(const std::optional<T>& value) {
  return value.has_value() ? absl::StrCat(*value) : "unknown";
}

std::string Text(const GpuReading& reading) {
  std::string text = absl::StrCat(
      "  SM ", Text(reading.sm_clock_hz), " Hz, memory ",
      Text(reading.memory_clock_hz), " Hz, ", Text(reading.power_watts),
      " W, now ", Text(reading.instant_power_watts), " W, ",
      Text(reading.energy_joules), " J, ", Text(reading.temperature_celsius),
      " C, memory ", Text(reading.memory_used_bytes), " of ",
      Text(reading.memory_total_bytes), " B, busy ", Text(reading.busy_ratio),
      "\n  reasons: ",
      reading.throttle_reasons ? absl::StrJoin(*reading.throttle_reasons, " ")
                               : "unknown",
      "\n  throttled s:");
  for (const auto& [reason, seconds] : reading.throttled_seconds) {
    absl::StrAppend(&text, " ", reason, "=", seconds);
  }
  absl::StrAppend(&text, "\n  processes (we are ", ::getpid(), "):");
  if (!reading.processes) absl::StrAppend(&text, " unknown");
  for (const GpuProcess& process :
       reading.processes.value_or(std::vector<GpuProcess>())) {
    absl::StrAppend(&text, " ", process.pid);
  }
  for (const auto& [field, why] : reading.errors) {
    absl::StrAppend(&text, "\n  ", field, ": ", why);
  }
  return text;
}

class NvmlGpu : public testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<CudaDriver> driver = CudaDriver::Open();
    if (!driver.ok()) GTEST_SKIP() << driver.status().message();
    devices_ = driver->devices;
    absl::StatusOr<std::unique_ptr<NvmlMonitor>> monitor = NvmlMonitor::Open();
    ASSERT_THAT(monitor, IsOk());
    monitor_ = *std::move(monitor);
  }
  GpuReading Read(const DeviceDescription& device) {
    const absl::StatusOr<GpuReading> reading =
        monitor_->Read(*device.uuid, GpuFields::kAll);
    EXPECT_THAT(reading, IsOk()) << *device.uuid;
    return reading.ok() ? *reading : GpuReading();
  }

  std::vector<DeviceDescription> devices_;
  std::unique_ptr<NvmlMonitor> monitor_;
};

TEST_F(NvmlGpu, TellsWhatCanBe) {
  for (const DeviceDescription& device : devices_) {
    const GpuReading reading = Read(device);
    std::cout << device.id << " " << *device.uuid << " " << device.model << "\n"
              << Text(reading) << "\n";

    EXPECT_THAT(reading.sm_clock_hz,
                Optional(AllOf(Ge(100'000'000), Le(5'000'000'000))));
    EXPECT_THAT(reading.memory_clock_hz,
                Optional(AllOf(Ge(100'000'000), Le(20'000'000'000))));
    EXPECT_THAT(reading.power_watts, Optional(AllOf(Ge(1), Le(3000))));
    EXPECT_THAT(reading.energy_joules, Optional(Ge(0)));
    EXPECT_THAT(reading.temperature_celsius, Optional(AllOf(Ge(1), Le(120))));
    EXPECT_THAT(reading.busy_ratio, Optional(AllOf(Ge(0), Le(1))));
    EXPECT_TRUE(reading.throttle_reasons.has_value());
    ASSERT_TRUE(reading.memory_used_bytes && reading.memory_total_bytes);
    EXPECT_LE(*reading.memory_used_bytes, *reading.memory_total_bytes);
    // CUDA has a little less: what the driver keeps for itself.
    EXPECT_GE(*reading.memory_total_bytes, device.memory_bytes);
    EXPECT_LE(*reading.memory_total_bytes, device.memory_bytes / 10 * 12);
    EXPECT_THAT(reading.errors, IsEmpty());
  }
}

TEST_F(NvmlGpu, EnergyGrowsAtThePowerThatIsTold) {
  const DeviceDescription& device = devices_[0];
  const GpuReading before = Read(device);
  const absl::Duration start = Clock::Real().Monotonic();
  absl::SleepFor(absl::Seconds(1));
  const GpuReading after = Read(device);
  const double seconds =
      absl::ToDoubleSeconds(Clock::Real().Monotonic() - start);

  ASSERT_TRUE(before.energy_joules && after.energy_joules);
  const double watts = (*after.energy_joules - *before.energy_joules) / seconds;
  std::cout << "mean of " << seconds << " s: " << watts << " W\n";
  EXPECT_GT(watts, *after.power_watts / 3);
  EXPECT_LT(watts, *after.power_watts * 3);
  // Seconds cannot grow faster than time does, whatever their unit was.
  for (const auto& [reason, total] : after.throttled_seconds) {
    const auto found = before.throttled_seconds.find(reason);
    ASSERT_NE(found, before.throttled_seconds.end());
    std::cout << reason << ": " << total - found->second << " s of them\n";
    EXPECT_GE(total - found->second, 0);
    EXPECT_LE(total - found->second, seconds * 1.2);
  }
}

// The default interval of the sampler is 20 ms.
TEST_F(NvmlGpu, SensorsAreReadInAFewMilliseconds) {
  std::vector<absl::Duration> times;
  for (int i = 0; i < 50; ++i) {
    const absl::Duration start = Clock::Real().Monotonic();
    ASSERT_THAT(monitor_->Read(*devices_[0].uuid, GpuFields::kSensors), IsOk());
    times.push_back(Clock::Real().Monotonic() - start);
  }
  std::ranges::sort(times);
  std::cout << "sensors: median " << times[25] << ", most " << times.back();
  const absl::Duration start = Clock::Real().Monotonic();
  Read(devices_[0]);
  std::cout << "; everything: " << Clock::Real().Monotonic() - start << "\n";

  EXPECT_LT(times[25], absl::Milliseconds(20));
}

TEST_F(NvmlGpu, AnUnknownGpuIsNotFound) {
  EXPECT_THAT(monitor_->Read("GPU-00000000-0000-0000-0000-000000000000",
                             GpuFields::kAll),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(NvmlGpu, TheSamplerSeesAContextOfOurs) {
  DeviceSampler sampler({.uuid = *devices_[0].uuid}, *monitor_);
  sampler.ReadBefore();
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  ASSERT_EQ(cudaFree(nullptr), cudaSuccess);  // makes the context
  sampler.Start();
  absl::SleepFor(absl::Milliseconds(200));
  sampler.Stop();
  sampler.ReadAfter();
  RawRecords records;
  Header header;
  sampler.Drain(&records, &header);

  for (const auto* state : {&header.state_before, &header.state_after}) {
    const DeviceState& s = **state;
    std::cout << Text(s.clock_hz) << " Hz, " << Text(s.power_watts) << " W, "
              << Text(s.temperature_celsius) << " C, "
              << absl::StrJoin(s.throttle_reasons, " ") << ", "
              << Text(s.memory_used_bytes) << " B, others "
              << Text(s.other_processes) << "\n";
    EXPECT_FALSE(s.throttle_reasons.empty());
  }
  EXPECT_GT(*header.state_after->memory_used_bytes,
            *header.state_before->memory_used_bytes);
  EXPECT_GE(records.counters.size(), 5u * 3);
}

}  // namespace
}  // namespace traza
