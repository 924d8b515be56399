// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/breakdown.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/record_builder.h"

namespace traza {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

// A step with two launches.
RecordBuilder TwoLaunches() {
  RecordBuilder builder;
  builder.Step(Phase::kTraced, 0, 100, 200)
      .Call("cudaLaunchKernel", 110, 115, 1)
      .Call("cudaLaunchKernel", 120, 125, 2);
  return builder;
}

TEST(Breakdown, ACpuTraceHasNone) {
  EXPECT_THAT(AnalyzeBreakdown(MakeCpuTrace(3)), IsEmpty());
  EXPECT_THAT(AnalyzeBreakdown(Trace()), IsEmpty());
}

TEST(Breakdown, BusyIsTheUnionOfOverlappingWork) {
  const Trace trace = TwoLaunches()
                          .OnDevice(0, 7)
                          .Kernel("a", 130, 160, 1)
                          .OnDevice(0, 8)
                          .Kernel("b", 140, 180, 2)
                          .Build();

  const auto breakdown = AnalyzeBreakdown(trace);

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

  const auto breakdown = AnalyzeBreakdown(trace);

  EXPECT_EQ(breakdown[0].window_ns, 200);
  EXPECT_EQ(breakdown[0].busy_ns, 80);
}

TEST(Breakdown, WorkOutsideTheWindowIsClipped) {
  RecordBuilder builder = TwoLaunches();
  builder.Step(Phase::kWarmup, 0, 0, 90)
      .Call("cudaLaunchKernel", 10, 15, 3)
      .Kernel("of the warm-up", 20, 50, 3)
      .Kernel("reaches in", 90, 140, 1);

  const auto breakdown = AnalyzeBreakdown(builder.Build());

  EXPECT_EQ(breakdown[0].window_ns, 100);
  EXPECT_EQ(breakdown[0].busy_ns, 40);
  EXPECT_EQ(breakdown[0].records, 1);
}

TEST(Breakdown, WorkFromBeforeTheRecordingMovesTheWindow) {
  const Trace trace = TwoLaunches()
                          .Kernel("launched before", 120, 130, 99)
                          .Kernel("a", 130, 160, 1)
                          .Build();

  const auto breakdown = AnalyzeBreakdown(trace);

  EXPECT_EQ(breakdown[0].window_ns, 80) << "the head is unknown, not idle";
  EXPECT_EQ(breakdown[0].busy_ns, 40);
}

TEST(Breakdown, WithoutCallsTheWindowIsThatOfTheSteps) {
  const Trace trace = RecordBuilder()
                          .Step(Phase::kTraced, 0, 100, 200)
                          .Kernel("kernel", 120, 130, 1)
                          .Build();

  EXPECT_EQ(AnalyzeBreakdown(trace)[0].window_ns, 100);
}

TEST(Breakdown, DevicesAreKeptApart) {
  const Trace trace = TwoLaunches()
                          .OnDevice(1)
                          .Kernel("a", 130, 160, 1)
                          .OnDevice(0)
                          .Kernel("b", 140, 150, 2)
                          .Build();

  const auto breakdown = AnalyzeBreakdown(trace);

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

  const auto breakdown = AnalyzeBreakdown(trace);

  EXPECT_EQ(breakdown[0].window_ns, 100);
  EXPECT_EQ(breakdown[0].busy_ns, 50);
}

}  // namespace
}  // namespace traza
