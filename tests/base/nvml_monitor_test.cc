// SPDX-License-Identifier: Apache-2.0
#include "base/nvml_monitor.h"

#include <unistd.h>

#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/fake_nvml.h"
#include "tests/support/status_matchers.h"

namespace traza {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::Pair;

class NvmlMonitorTest : public ::testing::Test {
 protected:
  void Open() {
    auto opened = NvmlMonitor::Open(FakeNvmlPath());
    ASSERT_THAT(opened, IsOk());
    monitor_ = *std::move(opened);
  }
  GpuReading Read(const std::string& uuid = "GPU-0000",
                  GpuFields fields = GpuFields::kAll) {
    auto reading = monitor_->Read(uuid, fields);
    EXPECT_THAT(reading, IsOk());
    return reading.ok() ? *reading : GpuReading();
  }
  FakeGpu& gpu() { return fake_.gpus[0]; }

  FakeNvml& fake_ = FreshFakeNvml();
  std::unique_ptr<NvmlMonitor> monitor_;
};

TEST_F(NvmlMonitorTest, ReadsEverythingInBaseUnits) {
  gpu().processes = {{.pid = 7, .used_bytes = 1 << 20}};
  Open();

  const GpuReading reading = Read();

  EXPECT_EQ(reading.sm_clock_hz, 1'980'000'000);
  EXPECT_EQ(reading.memory_clock_hz, 3'201'000'000);
  EXPECT_DOUBLE_EQ(*reading.power_watts, 612.5);
  EXPECT_DOUBLE_EQ(*reading.instant_power_watts, 650);
  EXPECT_EQ(reading.temperature_celsius, 61);
  EXPECT_EQ(reading.memory_used_bytes, int64_t{3} << 30);
  EXPECT_EQ(reading.memory_total_bytes, int64_t{140} << 30);
  EXPECT_THAT(*reading.throttle_reasons, ElementsAre("sw_power_cap"));
  EXPECT_DOUBLE_EQ(reading.throttled_seconds.at("sw_power_cap"), 2.5);
  EXPECT_EQ(reading.throttled_seconds.size(), 5u);
  EXPECT_DOUBLE_EQ(*reading.energy_joules, 5000.25);
  EXPECT_DOUBLE_EQ(*reading.busy_ratio, 0.75);
  EXPECT_THAT(*reading.processes, ElementsAre(GpuProcess{7, 1 << 20}));
  EXPECT_THAT(reading.errors, IsEmpty());
}

TEST_F(NvmlMonitorTest, TheSensorsAloneLeaveOutWhatIsSlow) {
  Open();

  const GpuReading reading = Read("GPU-0000", GpuFields::kSensors);

  EXPECT_TRUE(reading.power_watts.has_value());
  EXPECT_FALSE(reading.energy_joules.has_value());
  EXPECT_FALSE(reading.busy_ratio.has_value());
  EXPECT_FALSE(reading.processes.has_value());
}

TEST_F(NvmlMonitorTest, WhatAGpuDoesNotHaveIsUnknownAndNoError) {
  gpu().answers["nvmlDeviceGetPowerUsage"] = nvml::kNotSupported;
  gpu().answers["nvmlDeviceGetComputeRunningProcesses_v3"] =
      nvml::kNotSupported;
  gpu().fields.erase(nvml::kFieldPowerInstant);
  gpu().fields.erase(nvml::kFieldHwThermalNs);
  Open();

  const GpuReading reading = Read();

  EXPECT_FALSE(reading.power_watts.has_value());
  EXPECT_FALSE(reading.instant_power_watts.has_value());
  EXPECT_FALSE(reading.processes.has_value());
  EXPECT_EQ(reading.throttled_seconds.count("hw_thermal_slowdown"), 0u);
  EXPECT_TRUE(reading.sm_clock_hz.has_value());
  EXPECT_THAT(reading.errors, IsEmpty());
}

TEST_F(NvmlMonitorTest, WhatCannotBeReadIsUnknownAndAnError) {
  gpu().answers["nvmlDeviceGetTotalEnergyConsumption"] = nvml::kNoPermission;
  gpu().answers["nvmlDeviceGetMemoryInfo_v2"] = nvml::kUnknown;
  Open();

  const GpuReading reading = Read();

  EXPECT_FALSE(reading.energy_joules.has_value());
  EXPECT_FALSE(reading.memory_used_bytes.has_value());
  EXPECT_THAT(reading.errors,
              ElementsAre(Pair("energy", HasSubstr("Permissions")),
                          Pair("memory", HasSubstr("999"))));
}

TEST_F(NvmlMonitorTest, EveryErrorNamesAKnownField) {
  for (const char* function :
       {"nvmlDeviceGetClockInfo", "nvmlDeviceGetPowerUsage",
        "nvmlDeviceGetTemperature", "nvmlDeviceGetTemperatureV",
        "nvmlDeviceGetMemoryInfo_v2", "nvmlDeviceGetCurrentClocksEventReasons",
        "nvmlDeviceGetFieldValues", "nvmlDeviceGetTotalEnergyConsumption",
        "nvmlDeviceGetUtilizationRates",
        "nvmlDeviceGetComputeRunningProcesses_v3"}) {
    gpu().answers[function] = nvml::kUnknown;
  }
  Open();

  const GpuReading reading = Read();

  std::vector<std::string> fields(std::begin(kGpuFields), std::end(kGpuFields));
  EXPECT_EQ(reading.errors.size(), fields.size());
  for (const auto& [field, why] : reading.errors) {
    EXPECT_THAT(fields, testing::Contains(field)) << why;
  }
}

TEST_F(NvmlMonitorTest, TheNewerTemperatureReplacesTheOldOne) {
  gpu().answers["nvmlDeviceGetTemperature"] = nvml::kDeprecated;
  Open();

  EXPECT_EQ(Read().temperature_celsius, 61);
}

TEST_F(NvmlMonitorTest, ReasonsHaveNamesAndUnknownOnesTheirBit) {
  gpu().reasons = nvml::kReasonGpuIdle | nvml::kReasonApplicationsClocks |
                  nvml::kReasonHwSlowdown | nvml::kReasonSyncBoost |
                  nvml::kReasonSwThermal | nvml::kReasonHwThermal |
                  nvml::kReasonHwPowerBrake | nvml::kReasonDisplayClock | 0x200;
  Open();

  EXPECT_THAT(*Read().throttle_reasons,
              ElementsAre("gpu_idle", "applications_clocks_setting",
                          "hw_slowdown", "sync_boost", "sw_thermal_slowdown",
                          "hw_thermal_slowdown", "hw_power_brake_slowdown",
                          "display_clock_setting", "reason_0x200"));
}

TEST_F(NvmlMonitorTest, NoReasonIsKnownToBeNone) {
  gpu().reasons = 0;
  Open();

  EXPECT_THAT(Read().throttle_reasons, testing::Optional(IsEmpty()));
}

TEST_F(NvmlMonitorTest, ManyProcessesAreAllThere) {
  gpu().processes.resize(300, {.used_bytes = nvml::kNotAvailable});
  gpu().processes[299].pid = 12;
  Open();

  const GpuReading reading = Read();

  ASSERT_EQ(reading.processes->size(), 300u);
  EXPECT_EQ(reading.processes->back(), (GpuProcess{12, std::nullopt}));
}

TEST_F(NvmlMonitorTest, MoreProcessesThanThereIsRoomForAreUnknown) {
  gpu().processes.resize(2000);
  Open();

  const GpuReading reading = Read();

  EXPECT_FALSE(reading.processes.has_value());
  EXPECT_THAT(reading.errors, ElementsAre(Key("processes")));
}

TEST_F(NvmlMonitorTest, FindsGpusByUuidWhateverTheirNumber) {
  fake_.gpus = {FakeGpu{.uuid = "GPU-b", .celsius = 40},
                FakeGpu{.uuid = "GPU-a", .celsius = 50}};
  Open();

  EXPECT_EQ(Read("GPU-a").temperature_celsius, 50);
  EXPECT_EQ(Read("GPU-b").temperature_celsius, 40);
  EXPECT_THAT(monitor_->Read("GPU-c", GpuFields::kAll),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(NvmlMonitorTest, LooksAGpuUpOnce) {
  Open();

  Read();
  Read();

  EXPECT_EQ(fake_.calls["nvmlDeviceGetHandleByUUID"], 1);
}

TEST_F(NvmlMonitorTest, APartOfAGpuHasItsOwnMemoryAndTheSensorsOfTheWhole) {
  fake_.gpus = {
      FakeGpu{.uuid = "GPU-a", .celsius = 50},
      FakeGpu{.uuid = "MIG-b",
              .whole = 0,
              .answers = {{"nvmlDeviceGetTemperature", nvml::kInvalidArgument},
                          {"nvmlDeviceGetClockInfo", nvml::kInvalidArgument}},
              .memory_used = 5,
              .processes = {{.pid = 9}}}};
  Open();

  const GpuReading reading = Read("MIG-b");

  EXPECT_EQ(reading.temperature_celsius, 50);
  EXPECT_EQ(reading.sm_clock_hz, 1'980'000'000);
  EXPECT_EQ(reading.memory_used_bytes, 5);
  EXPECT_EQ(reading.processes->size(), 1u);
  EXPECT_THAT(reading.errors, IsEmpty());
}

TEST_F(NvmlMonitorTest, ALostGpuIsUnavailableAndLookedUpAgain) {
  Open();
  Read();
  gpu().state = nvml::kGpuIsLost;

  EXPECT_THAT(monitor_->Read("GPU-0000", GpuFields::kAll),
              StatusIs(absl::StatusCode::kUnavailable));

  gpu().state = nvml::kSuccess;
  EXPECT_EQ(Read().temperature_celsius, 61);
  EXPECT_EQ(fake_.calls["nvmlDeviceGetHandleByUUID"], 2);
}

TEST_F(NvmlMonitorTest, AGpuThatWasLostBeforeIsUnavailable) {
  gpu().state = nvml::kGpuIsLost;
  Open();

  EXPECT_THAT(monitor_->Read("GPU-0000", GpuFields::kAll),
              StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(NvmlMonitorTest, ALostGpuDoesNotHideItsNeighbour) {
  fake_.gpus = {FakeGpu{.uuid = "GPU-a", .state = nvml::kGpuIsLost},
                FakeGpu{.uuid = "GPU-b"}};
  Open();

  EXPECT_EQ(Read("GPU-b").temperature_celsius, 61);
}

TEST_F(NvmlMonitorTest, ShutsDownWhatItStarted) {
  Open();
  EXPECT_EQ(fake_.inits, 1);

  monitor_ = nullptr;

  EXPECT_EQ(fake_.inits, 0);
}

TEST_F(NvmlMonitorTest, ADriverThatIsNotLoadedIsNotFound) {
  fake_.init = nvml::kDriverNotLoaded;

  EXPECT_THAT(NvmlMonitor::Open(FakeNvmlPath()),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(NvmlMonitorTest, ADriverThatRefusesIsUnavailable) {
  fake_.init = nvml::kNoPermission;

  const auto opened = NvmlMonitor::Open(FakeNvmlPath());

  EXPECT_THAT(opened, StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(std::string(opened.status().message()), HasSubstr("Permissions"));
}

TEST(NvmlMonitor, NoLibraryIsNotFound) {
  EXPECT_THAT(NvmlMonitor::Open("libtraza-no-such-library.so"),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST(NvmlMonitor, WhatAnOldDriverDoesNotKnowIsUnknown) {
  auto monitor = NvmlMonitor::Open(OldFakeNvmlPath());
  ASSERT_THAT(monitor, IsOk());

  const auto reading = (*monitor)->Read("GPU-0000", GpuFields::kAll);

  ASSERT_THAT(reading, IsOk());
  EXPECT_EQ(reading->sm_clock_hz, 1'410'000'000);
  EXPECT_THAT(*reading->throttle_reasons, ElementsAre("gpu_idle"));
  EXPECT_FALSE(reading->power_watts.has_value());
  EXPECT_FALSE(reading->temperature_celsius.has_value());
  EXPECT_FALSE(reading->memory_used_bytes.has_value());
  EXPECT_FALSE(reading->processes.has_value());
  EXPECT_THAT(reading->errors, IsEmpty());
}

TEST(CountForeignProcesses, LeavesOutOurselvesAndTheWorkersOfOurDaemon) {
  const pid_t self = ::getpid();
  const pid_t parent = ::getppid();

  EXPECT_EQ(CountForeignProcesses({{self}, {1}}, self, std::nullopt), 1);
  EXPECT_EQ(CountForeignProcesses({{self}, {1}}, /*self=*/0, parent), 1);
  EXPECT_EQ(CountForeignProcesses({{self}}, /*self=*/0, parent), 0);
  // A process that nobody here can see.
  EXPECT_EQ(CountForeignProcesses({{1 << 30}}, self, parent), 1);
}

}  // namespace
}  // namespace traza
