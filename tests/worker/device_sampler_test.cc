// SPDX-License-Identifier: Apache-2.0
#include "worker/device_sampler.h"

#include <unistd.h>

#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/clock.h"
#include "tests/support/fake_gpu_monitor.h"
#include "tests/support/wait_until.h"

namespace traza {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr char kUuid[] = "GPU-0000";

GpuReading Reading() {
  GpuReading reading;
  reading.sm_clock_hz = 1'980'000'000;
  reading.memory_clock_hz = 3'201'000'000;
  reading.power_watts = 500;
  reading.instant_power_watts = 612.5;
  reading.temperature_celsius = 61;
  reading.memory_used_bytes = int64_t{2} << 30;
  reading.throttle_reasons.emplace();
  reading.throttled_seconds = {{"sw_power_cap", 7.0}};
  reading.processes = {{::getpid(), std::nullopt}};
  return reading;
}

class DeviceSamplerTest : public ::testing::Test {
 protected:
  DeviceSamplerTest() { gpu_.Set(kUuid, Reading()); }

  void Drain(DeviceSampler& sampler) { sampler.Drain(&records_, &header_); }
  // Before, nothing between, after.
  void Watch(const GpuReading& before, const GpuReading& after) {
    DeviceSampler sampler({.uuid = kUuid}, gpu_);
    gpu_.Set(kUuid, before);
    sampler.ReadBefore();
    gpu_.Set(kUuid, after);
    sampler.ReadAfter();
    Drain(sampler);
  }
  std::map<std::string, std::vector<double>> Counters() const {
    std::map<std::string, std::vector<double>> values;
    for (const RawCounter& counter : records_.counters) {
      values[records_.names.at(counter.name)].push_back(counter.value);
    }
    return values;
  }

  FakeGpuMonitor gpu_;
  RawRecords records_;
  Header header_;
};

TEST_F(DeviceSamplerTest, TheStateBeforeAndAfterGoesIntoTheHeader) {
  GpuReading after = Reading();
  after.temperature_celsius = 70;

  Watch(Reading(), after);

  ASSERT_TRUE(header_.state_before && header_.state_after);
  EXPECT_EQ(*header_.state_before,
            (DeviceState{.clock_hz = 1'980'000'000,
                         .power_watts = 612.5,
                         .temperature_celsius = 61,
                         .throttle_reasons = {"none"},
                         .memory_used_bytes = int64_t{2} << 30,
                         .other_processes = 0}));
  EXPECT_EQ(header_.state_after->temperature_celsius, 70);
}

TEST_F(DeviceSamplerTest, CountersBearTheirUnitTimeAndDevice) {
  const int64_t start_ns = RealtimeNs();
  DeviceSampler sampler({.uuid = kUuid, .device = 3}, gpu_);
  sampler.ReadBefore();
  sampler.ReadAfter();
  Drain(sampler);

  EXPECT_THAT(Counters(),
              UnorderedElementsAre(
                  testing::Pair("sm_clock_hz", ElementsAre(198e7, 198e7)),
                  testing::Pair("memory_clock_hz", ElementsAre(3201e6, 3201e6)),
                  testing::Pair("power_watts", ElementsAre(612.5, 612.5)),
                  testing::Pair("temperature_celsius", ElementsAre(61, 61)),
                  testing::Pair("memory_used_bytes",
                                ElementsAre(2147483648., 2147483648.))));
  for (const RawCounter& counter : records_.counters) {
    EXPECT_EQ(counter.device, 3);
    EXPECT_GE(counter.time_ns, start_ns);
    EXPECT_LE(counter.time_ns, RealtimeNs());
  }
}

TEST_F(DeviceSamplerTest, SamplesWhileTheJobRuns) {
  DeviceSampler sampler({.uuid = kUuid, .interval = absl::Milliseconds(1)},
                        gpu_);
  sampler.Start();
  ASSERT_TRUE(gpu_.AwaitReads(3));
  sampler.Stop();
  const int reads = gpu_.reads();
  Drain(sampler);

  EXPECT_EQ(Counters()["power_watts"].size(), static_cast<size_t>(reads));
}

TEST_F(DeviceSamplerTest, AJobShorterThanTheIntervalIsLeftAlone) {
  EXPECT_GE(DeviceSamplerOptions().interval, absl::Milliseconds(20));
  DeviceSampler sampler({.uuid = kUuid, .interval = absl::Hours(1)}, gpu_);

  sampler.Start();
  sampler.Stop();

  EXPECT_EQ(gpu_.reads(), 0);
}

TEST_F(DeviceSamplerTest, ASlowDriverIsAskedLessOften) {
  DeviceSampler sampler({.uuid = kUuid, .interval = absl::Milliseconds(1)},
                        gpu_);
  gpu_.Hang(true);
  sampler.Start();
  ASSERT_TRUE(gpu_.AwaitReads(1));
  const absl::Duration start = Clock::Real().Monotonic();
  while (Clock::Real().Monotonic() - start < absl::Milliseconds(20)) {
  }
  gpu_.Hang(false);

  // The next one is a second away.
  EXPECT_FALSE(
      WaitUntil([&] { return gpu_.reads() > 1; }, absl::Milliseconds(50)));
}

TEST_F(DeviceSamplerTest, AGpuThatIsLostEndsTheSamples) {
  DeviceSampler sampler({.uuid = kUuid, .interval = absl::Milliseconds(1)},
                        gpu_);
  sampler.ReadBefore();
  gpu_.Set(kUuid, absl::UnavailableError("lost"));
  sampler.Start();
  ASSERT_TRUE(gpu_.AwaitReads(2));
  sampler.Stop();
  sampler.ReadAfter();
  Drain(sampler);

  EXPECT_EQ(gpu_.reads(), 3);
  EXPECT_TRUE(header_.state_before->power_watts.has_value());
  EXPECT_EQ(header_.state_after, DeviceState());
}

TEST_F(DeviceSamplerTest, WithoutADriverEverythingIsUnknown) {
  gpu_.Set(kUuid, absl::NotFoundError("no such GPU"));
  DeviceSampler sampler({.uuid = kUuid}, gpu_);
  sampler.ReadBefore();
  sampler.ReadAfter();
  Drain(sampler);

  EXPECT_EQ(header_.state_before, DeviceState());
  EXPECT_EQ(header_.state_after, DeviceState());
  EXPECT_THAT(records_.counters, IsEmpty());
}

TEST_F(DeviceSamplerTest, MayBeDestroyedWhileItSamples) {
  DeviceSampler sampler({.uuid = kUuid, .interval = absl::Milliseconds(1)},
                        gpu_);
  sampler.Start();
  ASSERT_TRUE(gpu_.AwaitReads(1));
}

// ---- Throttling

TEST_F(DeviceSamplerTest, ReasonsThatAreUnknownAreNotNone) {
  GpuReading reading = Reading();
  reading.throttle_reasons.reset();
  reading.throttled_seconds.clear();

  Watch(reading, reading);

  EXPECT_THAT(header_.state_before->throttle_reasons, IsEmpty());
  EXPECT_THAT(header_.state_after->throttle_reasons, IsEmpty());
}

TEST_F(DeviceSamplerTest, AReasonSeenOnceWhileItRanIsInTheStateAfter) {
  DeviceSampler sampler({.uuid = kUuid, .interval = absl::Milliseconds(1)},
                        gpu_);
  sampler.ReadBefore();
  GpuReading hot = Reading();
  hot.throttle_reasons = {"hw_thermal_slowdown"};
  gpu_.Set(kUuid, hot);
  sampler.Start();
  ASSERT_TRUE(gpu_.AwaitReads(3));
  sampler.Stop();
  gpu_.Set(kUuid, Reading());
  sampler.ReadAfter();
  Drain(sampler);

  EXPECT_THAT(header_.state_before->throttle_reasons, ElementsAre("none"));
  EXPECT_THAT(header_.state_after->throttle_reasons,
              ElementsAre("hw_thermal_slowdown"));
  const std::vector<double> values = Counters()["throttle_hw_thermal_slowdown"];
  EXPECT_EQ(values.front(), 0);
  EXPECT_EQ(values[1], 1);
  EXPECT_EQ(values.back(), 0);
}

TEST_F(DeviceSamplerTest, AnIdleGpuIsHeldDownByNothingElse) {
  DeviceSampler sampler({.uuid = kUuid, .interval = absl::Milliseconds(1)},
                        gpu_);
  GpuReading idle = Reading();
  idle.throttle_reasons = {"gpu_idle", "sw_power_cap", "hw_slowdown"};
  gpu_.Set(kUuid, idle);
  sampler.Start();
  ASSERT_TRUE(gpu_.AwaitReads(2));
  sampler.Stop();
  gpu_.Set(kUuid, Reading());
  sampler.ReadAfter();
  Drain(sampler);

  EXPECT_THAT(header_.state_after->throttle_reasons, ElementsAre("gpu_idle"));
}

TEST_F(DeviceSamplerTest, AnIdleGpuMayBeHot) {
  GpuReading hot = Reading();
  hot.throttle_reasons = {"gpu_idle", "hw_thermal_slowdown"};

  Watch(hot, Reading());

  EXPECT_THAT(header_.state_before->throttle_reasons,
              ElementsAre("gpu_idle", "hw_thermal_slowdown"));
}

TEST_F(DeviceSamplerTest, AReasonWhoseTimeGrewIsInTheStateAfter) {
  GpuReading after = Reading();
  after.throttle_reasons = {"gpu_idle"};
  after.throttled_seconds["sw_power_cap"] += 1;

  Watch(Reading(), after);

  EXPECT_THAT(header_.state_after->throttle_reasons,
              ElementsAre("gpu_idle", "sw_power_cap"));
}

TEST_F(DeviceSamplerTest, ATimeThatIsNotKnownBeforeSaysNothing) {
  GpuReading before = Reading();
  before.throttled_seconds.clear();

  Watch(before, Reading());

  EXPECT_THAT(header_.state_after->throttle_reasons, ElementsAre("none"));
}

// ---- Processes

TEST_F(DeviceSamplerTest, OtherProcessesAreCountedWithoutUs) {
  GpuReading before = Reading();
  before.processes = {{1, std::nullopt}};
  GpuReading after = Reading();
  after.processes = {{::getpid(), std::nullopt}, {1, std::nullopt}};

  Watch(before, after);

  EXPECT_EQ(header_.state_before->other_processes, 1);
  EXPECT_EQ(header_.state_after->other_processes, 1);
}

TEST_F(DeviceSamplerTest, TheOtherWorkersOfOurDaemonAreNoOtherProcesses) {
  // For the test, a process is a worker of its own parent.
  GpuReading reading = Reading();
  DeviceSampler sampler({.uuid = kUuid, .daemon = ::getppid()}, gpu_);
  sampler.ReadBefore();
  reading.processes->push_back({1, std::nullopt});
  gpu_.Set(kUuid, reading);
  sampler.ReadAfter();
  Drain(sampler);

  EXPECT_EQ(header_.state_before->other_processes, 0);
  EXPECT_EQ(header_.state_after->other_processes, 1);
}

TEST_F(DeviceSamplerTest, AProcessThatCameAndWentIsInTheStateAfter) {
  DeviceSampler sampler({.uuid = kUuid, .interval = absl::Milliseconds(1)},
                        gpu_);
  sampler.ReadBefore();
  GpuReading shared = Reading();
  shared.processes->push_back({1, std::nullopt});
  gpu_.Set(kUuid, shared);
  sampler.Start();
  ASSERT_TRUE(gpu_.AwaitReads(3));
  sampler.Stop();
  gpu_.Set(kUuid, Reading());
  sampler.ReadAfter();
  Drain(sampler);

  EXPECT_EQ(header_.state_before->other_processes, 0);
  EXPECT_EQ(header_.state_after->other_processes, 1);
}

TEST_F(DeviceSamplerTest, AListWithoutUsHidesProcesses) {
  GpuReading hidden = Reading();
  hidden.processes.emplace();

  Watch(hidden, hidden);

  EXPECT_EQ(header_.state_before->other_processes, std::nullopt);
  EXPECT_EQ(header_.state_after->other_processes, std::nullopt);
}

TEST_F(DeviceSamplerTest, WhereNoMemoryIsInUseThereIsNoProcess) {
  GpuReading hidden = Reading();
  hidden.processes.emplace();
  hidden.memory_used_bytes = 4 << 20;

  Watch(hidden, hidden);

  EXPECT_EQ(header_.state_before->other_processes, 0);
  EXPECT_EQ(header_.state_after->other_processes, std::nullopt);
}

TEST_F(DeviceSamplerTest, ALongJobKeepsABoundedNumberOfSamples) {
  DeviceSampler sampler(
      {.uuid = kUuid, .interval = absl::Microseconds(10), .max_samples = 16},
      gpu_);
  sampler.Start();
  ASSERT_TRUE(gpu_.AwaitReads(60));
  sampler.Stop();
  Drain(sampler);

  EXPECT_LE(Counters()["power_watts"].size(), 16u);
  EXPECT_GE(Counters()["power_watts"].size(), 8u);
}

}  // namespace
}  // namespace traza
