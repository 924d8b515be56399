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

using testing::AllOf;
using testing::Each;
using testing::Ge;
using testing::IsEmpty;
using testing::SizeIs;

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

TEST_F(SessionDeviceTest, FlushesTheL2CacheBeforeEachTimedAndTracedStep) {
  device_ = DeviceKind::kGpu;
  spec_.l2 = L2Policy::kFlush;
  spec_.timed_steps = 40;
  std::vector<int> waits_before, waits_after;
  std::vector<Phase> phases;
  on_flush_ = [&] {
    waits_before.push_back(std::exchange(waits_, 0));
    phases.push_back(progress_.phase());
  };
  on_step_ = [&](int64_t) {
    if (phases.size() > waits_after.size()) waits_after.push_back(waits_);
  };

  ASSERT_THAT(Run(), IsOk());

  EXPECT_EQ(std::ranges::count(phases, Phase::kTimed), 40);
  // And each priming step: those have to be like the first traced one.
  EXPECT_EQ(std::ranges::count(phases, Phase::kTraced), 12 + 6);
  EXPECT_EQ(phases.size(), 40 + 12 + 6);
  // The device was waited for on both sides.
  EXPECT_THAT(waits_before, Each(Ge(1)));
  EXPECT_THAT(waits_after, AllOf(SizeIs(phases.size()), Each(Ge(1))));
}

TEST_F(SessionDeviceTest, FlushedStepsAreTimedAlone) {
  device_ = DeviceKind::kGpu;
  spec_.l2 = L2Policy::kFlush;
  spec_.timed_steps = 40;

  ASSERT_THAT(Run(), IsOk());

  EXPECT_EQ(trace_.header.timed.steps_per_batch, 1);
  EXPECT_THAT(trace_.header.timed.batch_ns, SizeIs(40));
  EXPECT_EQ(trace_.header.job.l2, L2Policy::kFlush);
}

TEST_F(SessionDeviceTest, AFlushIsOverheadBetweenTracedSteps) {
  device_ = DeviceKind::kGpu;
  spec_.l2 = L2Policy::kFlush;

  ASSERT_THAT(Run(), IsOk());

  EXPECT_EQ(Count(EventKind::kOverhead),
            (std::map<Phase, int>{{Phase::kTraced, 6}}));
  int64_t step_end_ns = 0;
  for (size_t row = 0; row < trace_.rows(); ++row) {
    if (trace_.kind[row] == EventKind::kStep) step_end_ns = trace_.end_ns(row);
    if (trace_.kind[row] != EventKind::kOverhead) continue;
    EXPECT_EQ(trace_.name_of(row), kL2FlushName);
    EXPECT_TRUE(trace_.step.is_null(row));
    EXPECT_GE(trace_.start_ns[row], step_end_ns);
  }
}

TEST_F(SessionDeviceTest, AWarmCacheIsLeftAlone) {
  device_ = DeviceKind::kGpu;
  int flushes = 0;
  on_flush_ = [&] { ++flushes; };

  ASSERT_THAT(Run(), IsOk());

  EXPECT_EQ(flushes, 0);
  EXPECT_THAT(Count(EventKind::kOverhead), IsEmpty());
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
