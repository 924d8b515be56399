// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/breakdown.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/record_builder.h"

namespace traza {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

std::vector<DeviceBreakdown> Analyze(const Trace& trace) {
  const StepIndex index(trace);
  return AnalyzeBreakdown(trace, index, DeviceLanesOf(trace, index));
}

// The classes, in the order of IdleClasses; absent ones are 0.
int64_t SumOfClasses(const IdleClasses& idle) {
  return idle.profiler_ns.value_or(0) + idle.sync_ns.value_or(0) +
         idle.host_ns.value_or(0) + idle.launch_ns.value_or(0) +
         idle.dependency_ns.value_or(0) + idle.kernel_gap_ns.value_or(0) +
         idle.other_ns.value_or(0) + idle.unknown_ns.value_or(0);
}

// A step with two launches.
RecordBuilder TwoLaunches() {
  RecordBuilder builder;
  builder.Step(Phase::kTraced, 0, 100, 200)
      .Call("cudaLaunchKernel", 110, 115, 1)
      .Call("cudaLaunchKernel", 120, 125, 2);
  return builder;
}

TEST(Breakdown, ACpuTraceHasNone) {
  EXPECT_THAT(Analyze(MakeCpuTrace(3)), IsEmpty());
  EXPECT_THAT(Analyze(Trace()), IsEmpty());
}

TEST(Breakdown, BusyIsTheUnionOfOverlappingWork) {
  const Trace trace = TwoLaunches()
                          .OnDevice(0, 7)
                          .Kernel("a", 130, 160, 1)
                          .OnDevice(0, 8)
                          .Kernel("b", 140, 180, 2)
                          .Build();

  const auto breakdown = Analyze(trace);

  ASSERT_THAT(breakdown, SizeIs(1));
  EXPECT_EQ(breakdown[0].window_ns, 100);
  EXPECT_EQ(breakdown[0].busy_ns, 50);
  EXPECT_EQ(breakdown[0].idle_ns, 50);
  EXPECT_EQ(breakdown[0].records, 2);
}

TEST(Breakdown, TheWindowEndsWithTheLastWorkThatAStepLaunched) {
  const Trace trace = TwoLaunches()
                          .Kernel("a", 130, 160, 1)
                          .Kernel("late", 250, 300, 2)
                          .Build();

  const auto breakdown = Analyze(trace);

  EXPECT_EQ(breakdown[0].window_ns, 200);
  EXPECT_EQ(breakdown[0].busy_ns, 80);
}

TEST(Breakdown, WorkOutsideTheWindowIsClipped) {
  RecordBuilder builder = TwoLaunches();
  builder.Step(Phase::kWarmup, 0, 0, 90)
      .Call("cudaLaunchKernel", 10, 15, 3)
      .Kernel("of the warm-up", 20, 50, 3)
      .Kernel("reaches in", 90, 140, 1);

  const auto breakdown = Analyze(builder.Build());

  EXPECT_EQ(breakdown[0].window_ns, 100);
  EXPECT_EQ(breakdown[0].busy_ns, 40);
  EXPECT_EQ(breakdown[0].records, 1);
}

TEST(Breakdown, WorkFromBeforeTheRecordingMovesTheWindow) {
  const Trace trace = TwoLaunches()
                          .Kernel("launched before", 120, 130, 99)
                          .Kernel("a", 130, 160, 1)
                          .Build();

  const auto breakdown = Analyze(trace);

  EXPECT_EQ(breakdown[0].window_ns, 80) << "the head is unknown, not idle";
  EXPECT_EQ(breakdown[0].busy_ns, 40);
}

TEST(Breakdown, WithoutCallsTheWindowIsThatOfTheSteps) {
  const Trace trace = RecordBuilder()
                          .Step(Phase::kTraced, 0, 100, 200)
                          .Kernel("kernel", 120, 130, 1)
                          .Build();

  EXPECT_EQ(Analyze(trace)[0].window_ns, 100);
}

TEST(Breakdown, DevicesAreKeptApart) {
  const Trace trace = TwoLaunches()
                          .OnDevice(1)
                          .Kernel("a", 130, 160, 1)
                          .OnDevice(0)
                          .Kernel("b", 140, 150, 2)
                          .Build();

  const auto breakdown = Analyze(trace);

  ASSERT_THAT(breakdown, SizeIs(2));
  EXPECT_EQ(breakdown[0].device, 0);
  EXPECT_EQ(breakdown[0].busy_ns, 10);
  EXPECT_EQ(breakdown[1].device, 1);
  EXPECT_EQ(breakdown[1].busy_ns, 30);
}

TEST(Breakdown, WithoutStepsTheWindowIsTheFile) {
  const Trace trace = RecordBuilder()
                          .Call("cudaLaunchKernel", 50, 60, 1)
                          .Kernel("kernel", 100, 150, 1)
                          .Build();

  const auto breakdown = Analyze(trace);

  EXPECT_EQ(breakdown[0].window_ns, 100);
  EXPECT_EQ(breakdown[0].busy_ns, 50);
}

TEST(Breakdown, WithoutCallsWorkOfTheTracedPhaseIsThatOfTheSteps) {
  const Trace trace = RecordBuilder()
                          .InPhase(Phase::kTraced, 50, 300)
                          .Kernel("of the priming steps", 60, 70, 1)
                          .Step(Phase::kTraced, 0, 100, 200)
                          .Kernel("kernel", 120, 130, 2)
                          .Kernel("after the last step", 210, 230, 3)
                          .Kernel("after the phase", 400, 410, 4)
                          .Build();

  const DeviceBreakdown device = Analyze(trace)[0];

  EXPECT_EQ(device.window_ns, 130);
  EXPECT_EQ(device.busy_ns, 30);
  EXPECT_EQ(device.records, 2);
  EXPECT_EQ(device.idle_classes.unknown_ns, 100);
  EXPECT_FALSE(device.idle_classes.host_ns.has_value());
  EXPECT_FALSE(device.idle_classes.launch_ns.has_value());
  EXPECT_FALSE(device.busy_per_step_p50_ns.has_value());
}

TEST(Breakdown, BusyTimeIsComputeCommunicationAndCopies) {
  const Trace trace =
      TwoLaunches()
          .Kernel("gemm", 110, 130, 1)
          .OnDevice(0, 8)
          .Kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 120, 150, 1)
          .OnDevice(0, 9)
          .Copy("Memcpy HtoD (Pinned -> Device)", 140, 170, 2)
          .Build();

  const DeviceBreakdown device = Analyze(trace)[0];

  EXPECT_EQ(device.compute_ns, 20);
  EXPECT_EQ(device.communication_ns, 20) << "beside compute it is hidden";
  EXPECT_EQ(device.copy_ns, 20);
  EXPECT_EQ(device.busy_ns, 60);
  EXPECT_DOUBLE_EQ(device.communication_overlap.value_or(0), 1. / 3);
  EXPECT_EQ(device.span_ns, 60);
}

TEST(Breakdown, IdleTimeIsHeadInnerAndTail) {
  const Trace trace =
      TwoLaunches().Kernel("a", 130, 140, 1).Kernel("b", 145, 150, 2).Build();

  const DeviceBreakdown device = Analyze(trace)[0];

  EXPECT_EQ(device.head_ns, 30);
  EXPECT_EQ(device.inner_ns, 5);
  EXPECT_EQ(device.tail_ns, 50);
  EXPECT_EQ(device.idle_ns, 85);
}

TEST(Breakdown, UntilTheCallTheHostIsWaitedForAndThenTheLaunch) {
  const Trace trace =
      TwoLaunches().Kernel("a", 112, 116, 1).Kernel("b", 127, 200, 2).Build();

  const IdleClasses idle = Analyze(trace)[0].idle_classes;

  EXPECT_EQ(idle.host_ns, 10 + 4);
  EXPECT_EQ(idle.launch_ns, 2 + 7);
  EXPECT_EQ(idle.sync_ns, 0);
  EXPECT_FALSE(idle.dependency_ns.has_value()) << "no row tells";
}

TEST(Breakdown, ATimeInSynchroniseCallsIsThatOfTheThreadThatLaunches) {
  RecordBuilder builder;
  builder.Step(Phase::kTraced, 0, 0, 1'000)
      .Sync("cudaDeviceSynchronize", 100, 300)
      .Sync("cuCtxSynchronize", 110, 290)
      .Call("cudaLaunchKernel", 400, 410, 1)
      .Kernel("a", 450, 900, 1)
      .Sync("cudaStreamSynchronize", 920, 960);
  builder.OnThread(7).Sync("cudaStreamSynchronize", 0, 1'000);

  const DeviceBreakdown device = Analyze(builder.Build())[0];

  EXPECT_EQ(device.idle_classes.sync_ns, 200 + 40);
  EXPECT_EQ(device.idle_classes.host_ns, 200 + 60);
  EXPECT_EQ(device.idle_classes.launch_ns, 50);
}

TEST(Breakdown, AGapOfQueuedWorkIsAKernelGapOrAnother) {
  RecordBuilder builder;
  builder.Step(Phase::kTraced, 0, 0, 9'000);
  for (int i = 1; i <= 3; ++i) {
    builder.Call("cudaLaunchKernel", i * 10, i * 10 + 5, i);
  }
  builder.Kernel("a", 100, 1'000, 1)
      .Kernel("b", 2'999, 4'000, 2)
      .Kernel("c", 6'000, 9'000, 3);

  const IdleClasses idle = Analyze(builder.Build())[0].idle_classes;

  EXPECT_EQ(idle.kernel_gap_ns, 1'999);
  EXPECT_EQ(idle.other_ns, 2'000) << "the limit itself is no kernel gap";
}

// On an idle stream a launch takes 50 ns, so one that was called 20 ns before
// the device ran dry has it wait for 30 ns.
TEST(Breakdown, AGapIsTheLaunchsUntilALaunchLatencyAfterTheCall) {
  const Trace trace = RecordBuilder()
                          .Step(Phase::kTraced, 0, 0, 300)
                          .Call("cudaLaunchKernel", 0, 10, 1)
                          .Call("cudaLaunchKernel", 80, 90, 2)
                          .Call("cudaLaunchKernel", 95, 100, 3)
                          .Kernel("a", 50, 100, 1)
                          .Kernel("b", 140, 200, 2)
                          .Kernel("c", 210, 300, 3)
                          .Build();

  const IdleClasses idle = Analyze(trace)[0].idle_classes;

  EXPECT_EQ(idle.launch_ns, 50 + 30);
  EXPECT_EQ(idle.kernel_gap_ns, 10 + 10);
  EXPECT_EQ(idle.other_ns, 0);
}

TEST(Breakdown, WithoutAKernelOnAnIdleStreamNoLaunchLatencyIsKnown) {
  const Trace trace =
      RecordBuilder()
          .Step(Phase::kTraced, 0, 0, 300)
          .Call("cudaMemsetAsync", 10, 20, 1)
          .Call("cudaLaunchKernel", 80, 90, 2)
          .Device(EventKind::kFill, "Memset (Device)", 50, 100, 1)
          .Kernel("b", 140, 300, 2)
          .Build();

  const IdleClasses idle = Analyze(trace)[0].idle_classes;

  EXPECT_EQ(idle.launch_ns, 40);
  EXPECT_EQ(idle.kernel_gap_ns, 40);
}

TEST(Breakdown, TheTracersTimeComesFirst) {
  const Trace trace = TwoLaunches()
                          .Overhead("Activity Buffer Request", 105, 122)
                          .Overhead("Lazy Function Loading", 122, 126)
                          .Kernel("a", 112, 116, 1)
                          .Kernel("b", 127, 200, 2)
                          .Build();

  const IdleClasses idle = Analyze(trace)[0].idle_classes;

  EXPECT_EQ(idle.profiler_ns, 7 + 6);
  EXPECT_EQ(idle.host_ns, 5);
  EXPECT_EQ(idle.launch_ns, 5) << "loading code is the driver's doing";
}

TEST(Breakdown, FlushesOfTheL2CacheAreNoTimeOfTheWindow) {
  // The first step is done at 180, the flush lasts until 400.
  const Trace trace = RecordBuilder()
                          .Step(Phase::kTraced, 0, 100, 150)
                          .Call("cudaLaunchKernel", 110, 120, 1)
                          .Overhead(kL2FlushName, 150, 400)
                          .Step(Phase::kTraced, 1, 400, 450)
                          .Call("cudaLaunchKernel", 410, 420, 2)
                          .Kernel("a", 130, 180, 1)
                          .Kernel("a", 430, 480, 2)
                          .Build();

  const auto breakdown = Analyze(trace);

  ASSERT_THAT(breakdown, SizeIs(1));
  EXPECT_EQ(breakdown[0].window_ns, 380 - 220);
  EXPECT_EQ(breakdown[0].busy_ns, 100);
  EXPECT_EQ(breakdown[0].idle_ns, 60);
  EXPECT_EQ(breakdown[0].head_ns, 30);
  EXPECT_EQ(breakdown[0].inner_ns, 30);
  EXPECT_EQ(breakdown[0].idle_classes.host_ns, 10 + 10);
  EXPECT_EQ(breakdown[0].idle_classes.launch_ns, 20 + 20);
  EXPECT_EQ(SumOfClasses(breakdown[0].idle_classes), breakdown[0].idle_ns);
}

TEST(Breakdown, AGapThatWorkWithoutACallEndsIsUnknown) {
  const Trace trace = TwoLaunches()
                          .Kernel("a", 112, 116, 1)
                          .Kernel("no call", 127, 200, 99)
                          .Build();

  EXPECT_EQ(Analyze(trace)[0].idle_classes.unknown_ns, 11);
}

TEST(Breakdown, ClassesAddUpToTheIdleTime) {
  for (const int64_t steps : {1, 30, 500}) {
    const DeviceBreakdown device = Analyze(MakeGpuTrace(steps))[0];
    EXPECT_EQ(SumOfClasses(device.idle_classes), device.idle_ns);
    EXPECT_EQ(device.head_ns.value_or(-1) + device.inner_ns.value_or(-1) +
                  device.tail_ns.value_or(-1),
              device.idle_ns);
  }
}

TEST(Breakdown, WorkAStepIsAMedianOverAllSteps) {
  RecordBuilder builder;
  const int64_t lengths[] = {40, 10, 20};
  for (int i = 0; i < 3; ++i) {
    const int64_t at = i * 100;
    builder.Step(Phase::kTraced, i, at, at + 90)
        .Call("cudaLaunchKernel", at, at + 5, i + 1)
        .Kernel("k", at + 10, at + 10 + lengths[i], i + 1);
  }
  EXPECT_EQ(Analyze(builder.Build())[0].busy_per_step_p50_ns, 20);
}

TEST(Breakdown, WorkBeforeTheRecordingHasAnUnknownHead) {
  const Trace trace = TwoLaunches()
                          .Kernel("launched before", 120, 130, 99)
                          .Kernel("a", 130, 160, 1)
                          .Build();

  const DeviceBreakdown device = Analyze(trace)[0];

  EXPECT_FALSE(device.head_ns.has_value());
  EXPECT_EQ(device.idle_ns, 40);
}

// Two streams; the second waits for an event of the first.
RecordBuilder TwoStreams(const char* wait) {
  RecordBuilder builder;
  builder.Step(Phase::kTraced, 0, 0, 1'000)
      .Call("cudaLaunchKernel", 10, 15, 1)
      .Call("cudaMemcpyAsync", 20, 25, 2);
  if (wait != nullptr) builder.Call(wait, 30, 32, 90);
  builder.Call("cudaLaunchKernel", 40, 45, 3)
      .OnDevice(0, 7)
      .Kernel("a", 100, 300, 1)
      .OnDevice(0, 8)
      .Copy("Memcpy HtoD", 200, 400, 2)
      .OnDevice(0, 9)
      .Kernel("b", 600, 1'000, 3);
  return builder;
}

TEST(Breakdown, AGapBeforeWorkWhoseStreamWaitsIsADependency) {
  const auto breakdown = Analyze(TwoStreams("cudaStreamWaitEvent").Build());

  EXPECT_EQ(breakdown[0].idle_classes.dependency_ns, 200);
  EXPECT_EQ(breakdown[0].idle_classes.kernel_gap_ns, 0);
  EXPECT_EQ(SumOfClasses(breakdown[0].idle_classes), breakdown[0].idle_ns);
}

TEST(Breakdown, WithoutWaitsInTheTraceDependenciesAreUnknown) {
  const auto breakdown = Analyze(TwoStreams(nullptr).Build());

  EXPECT_FALSE(breakdown[0].idle_classes.dependency_ns.has_value());
  EXPECT_EQ(breakdown[0].idle_classes.kernel_gap_ns, 200);
}

TEST(Breakdown, AWaitBeforeEarlierWorkOfTheStreamIsNone) {
  RecordBuilder builder;
  builder.Step(Phase::kTraced, 0, 0, 1'000)
      .Call("cudaStreamWaitEvent", 5, 6, 90)
      .Call("cudaLaunchKernel", 10, 15, 1)
      .Call("cudaLaunchKernel", 40, 45, 2)
      .Kernel("a", 100, 300, 1)
      .Kernel("b", 600, 1'000, 2);
  const auto breakdown = Analyze(builder.Build());

  EXPECT_EQ(breakdown[0].idle_classes.dependency_ns, 0);
  EXPECT_EQ(breakdown[0].idle_classes.kernel_gap_ns, 300);
}

TEST(Breakdown, StreamsAndTheOverlapOfCopiesAreCounted) {
  const auto breakdown = Analyze(TwoStreams(nullptr).Build());

  EXPECT_EQ(breakdown[0].busy_ns, 700);
  EXPECT_EQ(breakdown[0].stream_count, 3);
  EXPECT_THAT(breakdown[0].streams,
              testing::ElementsAre(
                  StreamBusy{.stream = 9, .busy_ns = 400, .records = 1},
                  StreamBusy{.stream = 7, .busy_ns = 200, .records = 1},
                  StreamBusy{.stream = 8, .busy_ns = 200, .records = 1}));
  EXPECT_EQ(breakdown[0].copy_overlap, 0.5) << "100 of 200 beside kernel a";
}

TEST(Breakdown, WithoutCopiesTheirOverlapIsUnknown) {
  const auto breakdown =
      Analyze(TwoLaunches().Kernel("a", 130, 160, 1).Build());
  EXPECT_FALSE(breakdown[0].copy_overlap.has_value());
}

// The call of a pageable copy ends after its copy, and waits for it.
TEST(Breakdown, ACallThatCopiesPageableMemoryWaits) {
  RecordBuilder builder;
  builder.Step(Phase::kTraced, 0, 0, 1'000)
      .Call("cudaMemcpyAsync", 100, 500, 1)
      .Call("cudaLaunchKernel", 600, 610, 2)
      .Copy("Memcpy DtoH (Device -> Pageable)", 150, 300, 1)
      .Kernel("a", 650, 1'000, 2);
  const auto breakdown = Analyze(builder.Build());

  EXPECT_EQ(breakdown[0].idle_classes.sync_ns, 200) << "300 to 500";
  EXPECT_EQ(breakdown[0].idle_classes.host_ns, 100 + 100)
      << "before the first call, and 500 to 600";
  EXPECT_EQ(breakdown[0].idle_classes.launch_ns, 50 + 50);
}

}  // namespace
}  // namespace traza
