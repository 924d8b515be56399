// SPDX-License-Identifier: Apache-2.0
// What a session does with a device: its collector and its sampler, played.
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/fake_gpu_monitor.h"
#include "tests/support/status_matchers.h"
#include "tests/worker/session_fixture.h"
#include "worker/replay_collector.h"
#include "worker/session.h"

namespace traza {
namespace {

using SessionDeviceTest = SessionTest;

ReplayScript KernelScript() {
  ReplayScript script;
  RawHostEvent call;
  call.kind = EventKind::kCall;
  call.name = script.records.names.Intern("cuLaunchKernel");
  call.start_ns = 0;
  call.end_ns = 10;
  call.correlation = 1;
  script.records.host = {call};
  RawDeviceEvent kernel;
  kernel.name = script.records.names.Intern("gemm");
  kernel.start_ns = 20;
  kernel.end_ns = 30;
  kernel.correlation = 1;
  script.records.device = {kernel};
  return script;
}

TEST_F(SessionDeviceTest, DeviceRecordsReachTheTrace) {
  device_ = DeviceKind::kGpu;
  ReplayScript script = KernelScript();
  script.losses.dropped = 3;
  collector_ = std::make_unique<ReplayCollector>(std::move(script));

  ASSERT_THAT(Run(), IsOk());

  EXPECT_EQ(std::ranges::count(trace_.kind, EventKind::kKernel), 1);
  EXPECT_EQ(trace_.header.completeness.dropped, 3);
  EXPECT_EQ(trace_.header.collector, "replay");
}

class SessionFaultTest : public SessionDeviceTest,
                         public testing::WithParamInterface<const char*> {};

TEST_P(SessionFaultTest, AFaultOfTheCollectorIsTheJobs) {
  ReplayScript script;
  script.failure = {GetParam(), absl::InternalError("played")};
  collector_ = std::make_unique<ReplayCollector>(std::move(script));

  EXPECT_THAT(Run(), StatusIs(absl::StatusCode::kInternal));
  EXPECT_FALSE(recorder_.running());
}

INSTANTIATE_TEST_SUITE_P(Methods, SessionFaultTest,
                         testing::Values("Prepare", "Arm", "OpenWindow",
                                         "CloseWindow", "Disarm", "Drain"));

TEST_F(SessionDeviceTest, WarmUpGoesOnWhileTheDeviceAllocates) {
  device_ = DeviceKind::kGpu;
  spec_.warmup = {.automatic = true};
  // The last of some allocations is in the 30th step.
  on_step_ = [this](int64_t step) {
    allocations_ = std::min<int64_t>(step, 30);
  };

  ASSERT_THAT(Run(), IsOk());

  EXPECT_GE(trace_.header.warmup.steps, 30 + 7);
}

// ---- The sampler

constexpr char kUuid[] = "GPU-1";

TEST_F(SessionDeviceTest, TheStateOfTheDeviceBeforeAndAfterIsInTheHeader) {
  FakeGpuMonitor monitor;
  monitor.Set(kUuid, GpuReading{.sm_clock_hz = 1'980'000'000,
                                .power_watts = 120,
                                .processes = std::vector<GpuProcess>{
                                    {.pid = 1}, {.pid = getpid()}}});
  DeviceSampler sampler({.uuid = kUuid}, monitor);
  sampler_ = &sampler;

  ASSERT_THAT(Run(), IsOk());

  ASSERT_TRUE(trace_.header.state_before.has_value());
  ASSERT_TRUE(trace_.header.state_after.has_value());
  EXPECT_EQ(trace_.header.state_before->clock_hz, 1'980'000'000);
  EXPECT_EQ(trace_.header.state_after->power_watts, 120);
  EXPECT_EQ(trace_.header.state_after->other_processes, 1);
}

TEST_F(SessionDeviceTest, ADeviceThatIsLostLeavesItsStateUnknown) {
  FakeGpuMonitor monitor;
  monitor.Set(kUuid, absl::UnavailableError("GPU is lost"));
  DeviceSampler sampler({.uuid = kUuid}, monitor);
  sampler_ = &sampler;

  ASSERT_THAT(Run(), IsOk());

  const auto& before = trace_.header.state_before;
  EXPECT_TRUE(!before.has_value() || !before->clock_hz.has_value());
}

TEST_F(SessionDeviceTest, WithoutASamplerTheStateIsUnknown) {
  ASSERT_THAT(Run(), IsOk());

  EXPECT_FALSE(trace_.header.state_before.has_value());
  EXPECT_FALSE(trace_.header.state_after.has_value());
}

}  // namespace
}  // namespace traza
