// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/launches.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/record_builder.h"

namespace traza {
namespace {

using testing::SizeIs;

std::optional<LaunchStats> Analyze(const Trace& trace) {
  const StepIndex index(trace);
  const auto stats = AnalyzeLaunches(trace, DeviceLanesOf(trace, index));
  return stats.empty() ? std::nullopt : stats[0];
}

// One step of 1,000 ns.
RecordBuilder OneStep() {
  RecordBuilder builder;
  builder.Step(Phase::kTraced, 0, 0, 1'000);
  return builder;
}

TEST(Launches, OnAnIdleStreamTheLatencyIsFromCallToKernel) {
  RecordBuilder builder = OneStep();
  for (int i = 0; i < 10; ++i) {
    const int64_t at = i * 100;
    builder.Call("cuLaunchKernel", at, at + 20, i + 1)
        .Kernel("k", at + 10 + i, at + 50, i + 1);
  }

  const auto stats = Analyze(builder.Build());

  ASSERT_TRUE(stats.has_value());
  EXPECT_EQ(stats->launches, 10);
  EXPECT_EQ(stats->idle, 10);
  EXPECT_EQ(stats->queued, 0);
  EXPECT_EQ(stats->latency_samples, 10);
  EXPECT_EQ(stats->latency_min_ns, 10);
  EXPECT_EQ(stats->latency_p50_ns, 14);
  EXPECT_EQ(stats->latency_p90_ns, 18);
  EXPECT_EQ(stats->latency_p99_ns, 19);
  EXPECT_EQ(stats->queueing_p50_ns, std::nullopt);
}

TEST(Launches, BehindEarlierWorkTheyQueue) {
  const auto stats = Analyze(OneStep()
                                 .Call("cuLaunchKernel", 0, 10, 1)
                                 .Call("cuLaunchKernel", 20, 30, 2)
                                 .Call("cuLaunchKernel", 40, 50, 3)
                                 .Kernel("a", 100, 300, 1)
                                 .Kernel("b", 310, 500, 2)
                                 .Kernel("c", 510, 520, 3)
                                 .Build());

  EXPECT_EQ(stats->idle, 1);
  EXPECT_EQ(stats->queued, 2);
  EXPECT_EQ(stats->queueing_p50_ns, 280);
  EXPECT_EQ(stats->queueing_p99_ns, 460);
  EXPECT_EQ(stats->latency_p50_ns, 100);
  EXPECT_EQ(stats->waiting_max, 3);
  EXPECT_EQ(stats->outstanding_max, 3);
  EXPECT_DOUBLE_EQ(*stats->waiting_mean, (100. + 290 + 470) / 1'000);
  EXPECT_DOUBLE_EQ(*stats->outstanding_mean, (300. + 480 + 480) / 1'000);
}

TEST(Launches, OneThatQueuesForLessThanALaunchTakesIsLate) {
  const auto stats = Analyze(OneStep()
                                 .Call("cuLaunchKernel", 0, 10, 1)
                                 .Call("cuLaunchKernel", 160, 170, 2)
                                 .Call("cuLaunchKernel", 200, 210, 3)
                                 .Kernel("a", 50, 200, 1)
                                 .Kernel("b", 210, 300, 2)
                                 .Kernel("c", 310, 400, 3)
                                 .Build());

  EXPECT_EQ(stats->latency_p50_ns, 50);
  EXPECT_EQ(stats->idle, 1);
  EXPECT_EQ(stats->queued, 2);
  EXPECT_EQ(stats->late, 2) << "called 40 ns and 100 ns before the stream ran "
                               "dry, and a launch takes 50 ns";
}

// Its stream had to wait for an event, which is no time that a launch takes.
TEST(Launches, OneWhoseStreamWaitedGivesNoLatencyAndIsNotLate) {
  const auto stats = Analyze(OneStep()
                                 .Call("cuLaunchKernel", 0, 10, 1)
                                 .Kernel("a", 50, 100, 1)
                                 .Call("cudaStreamWaitEvent", 110, 115, 9)
                                 .Call("cuLaunchKernel", 120, 130, 2)
                                 .Kernel("b", 800, 900, 2)
                                 .Build());

  EXPECT_EQ(stats->idle, 2);
  EXPECT_EQ(stats->late, 1);
  EXPECT_EQ(stats->latency_samples, 1);
  EXPECT_EQ(stats->latency_p50_ns, 50);
}

TEST(Launches, StreamsQueueApart) {
  RecordBuilder builder = OneStep();
  builder.Call("cuLaunchKernel", 0, 10, 1)
      .OnDevice(0, 7)
      .Kernel("a", 20, 900, 1)
      .Call("cuLaunchKernel", 30, 40, 2)
      .OnDevice(0, 8)
      .Kernel("b", 50, 900, 2);

  const auto stats = Analyze(builder.Build());

  EXPECT_EQ(stats->idle, 2);
  EXPECT_EQ(stats->outstanding_max, 1) << "of one stream";
}

TEST(Launches, WorkOfBeforeTheWindowKeepsAStreamBusy) {
  const auto stats = Analyze(RecordBuilder()
                                 .Call("cuLaunchKernel", 0, 10, 1)
                                 .Kernel("before", 20, 140, 1)
                                 .Step(Phase::kTraced, 0, 100, 200)
                                 .Call("cuLaunchKernel", 110, 120, 2)
                                 .Kernel("a", 150, 160, 2)
                                 .Build());

  EXPECT_EQ(stats->launches, 1);
  EXPECT_EQ(stats->queued, 1);
}

TEST(Launches, CopiesCountButHaveNoLatency) {
  const auto stats =
      Analyze(OneStep()
                  .Call("cudaMemcpyAsync", 0, 10, 1)
                  .Copy("Memcpy HtoD (Pinned -> Device)", 20, 30, 1)
                  .Build());

  EXPECT_EQ(stats->idle, 1);
  EXPECT_EQ(stats->latency_samples, 0);
  EXPECT_EQ(stats->latency_p50_ns, std::nullopt);
}

TEST(Launches, AGraphIsOneLaunchToItsFirstNode) {
  RecordBuilder builder = OneStep();
  builder.Call("cudaGraphLaunch", 0, 10, 1);
  for (int node = 0; node < 3; ++node) {
    builder.Kernel("k", 20 + node * 10, 25 + node * 10, 1);
    builder.records().device.back().graph = 4;
  }

  const auto stats = Analyze(builder.Build());

  EXPECT_EQ(stats->launches, 1);
  EXPECT_EQ(stats->latency_p50_ns, 20);
}

TEST(Launches, OutliersAndShortKernelsAreCounted) {
  const auto stats = Analyze(RecordBuilder()
                                 .Step(Phase::kTraced, 0, 0, 1'000'000)
                                 .Call("cuLaunchKernel", 0, 50'001, 1)
                                 .Kernel("k", 100'001, 100'010, 1)
                                 .Call("cuLaunchKernel", 200'000, 200'001, 2)
                                 .Kernel("k", 200'010, 200'020, 2)
                                 .Build());

  EXPECT_EQ(stats->slow_calls, 1);
  EXPECT_EQ(stats->slow_launches, 1);
  EXPECT_EQ(stats->short_kernels, 1);
}

TEST(Launches, WithoutCallsNothingIsKnown) {
  EXPECT_FALSE(Analyze(OneStep().Kernel("k", 10, 20, 1).Build()).has_value());
}

TEST(Launches, EachDeviceHasItsOwn) {
  RecordBuilder builder = OneStep();
  builder.Call("cuLaunchKernel", 0, 10, 1)
      .Call("cuLaunchKernel", 20, 30, 2)
      .OnDevice(1)
      .Kernel("a", 40, 50, 1)
      .OnDevice(0)
      .Kernel("b", 40, 50, 2);
  const Trace trace = builder.Build();
  const StepIndex index(trace);

  const auto stats = AnalyzeLaunches(trace, DeviceLanesOf(trace, index));

  ASSERT_THAT(stats, SizeIs(2));
  EXPECT_EQ(stats[0]->latency_p50_ns, 20);
  EXPECT_EQ(stats[1]->latency_p50_ns, 40);
}

}  // namespace
}  // namespace traza
