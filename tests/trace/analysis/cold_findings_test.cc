// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/record_builder.h"
#include "trace/analysis/cold_cost.h"
#include "trace/analysis/cold_step.h"
#include "trace/analysis/findings.h"

namespace traza {
namespace {

using testing::AllOf;
using testing::HasSubstr;

int64_t Of(const ColdCost& cost, ColdClass kind) {
  return cost[static_cast<size_t>(kind)];
}

size_t FirstOf(const Trace& trace, EventKind kind) {
  for (size_t row = 0; row < trace.rows(); ++row) {
    if (trace.kind[row] == kind) return row;
  }
  return trace.rows();
}

// A range of 1,000: an operator of 100 to 900; in it the first call of the
// file, an allocation, an attribute, a launch in which code is loaded, a wait,
// and the tracer's buffer, half of it over the wait.
Trace FirstRange() {
  return RecordBuilder()
      .Range("work", 0, 1'000)
      .Op("aten::mm", 100, 900)
      .Call("cudaFree", 110, 160, 1)
      .Call("cudaMalloc", 200, 270, 2)
      .Call("cudaDeviceGetAttribute", 300, 330, 3)
      .Call("cudaLaunchKernel", 400, 500, 4)
      .Overhead("Lazy Function Loading", 420, 480)
      .Sync("cudaStreamSynchronize", 600, 700)
      .Overhead("Activity Buffer Request", 650, 750)
      .Build();
}

TEST(ColdCost, EachNanosecondIsInTheFirstClassThatFits) {
  const Trace trace = FirstRange();
  const ColdCost cost = ColdCostOf(trace, FirstOf(trace, EventKind::kRange));

  EXPECT_EQ(Of(cost, ColdClass::kContext), 50);
  EXPECT_EQ(Of(cost, ColdClass::kAllocation), 70);
  EXPECT_EQ(Of(cost, ColdClass::kSetUp), 30);
  EXPECT_EQ(Of(cost, ColdClass::kLaunch), 40);
  EXPECT_EQ(Of(cost, ColdClass::kLoading), 60);
  EXPECT_EQ(Of(cost, ColdClass::kSync), 50);
  EXPECT_EQ(Of(cost, ColdClass::kTracer), 100);
  // 800 less 50 + 70 + 30 + 100 + 50 + 100.
  EXPECT_EQ(Of(cost, ColdClass::kLibrary), 400);
  EXPECT_EQ(Of(cost, ColdClass::kRest), 200);
  int64_t sum = 0;
  for (const int64_t ns : cost) sum += ns;
  EXPECT_EQ(sum, 1'000);
}

TEST(ColdCost, CallsOfHipAreOfTheSameClasses) {
  const Trace trace = RecordBuilder()
                          .Range("work", 0, 1'000)
                          .Call("hipFree", 110, 160, 1)
                          .Call("hipMalloc", 200, 270, 2)
                          .Call("hipSetDevice", 300, 330, 3)
                          .Call("hipExtModuleLaunchKernel", 400, 500, 4)
                          .Call("hipModuleLoadData", 520, 580, 5)
                          .Call("hipMemcpyWithStream", 600, 700, 6)
                          .Build();
  const ColdCost cost = ColdCostOf(trace, FirstOf(trace, EventKind::kRange));

  EXPECT_EQ(Of(cost, ColdClass::kContext), 50 + 30);
  EXPECT_EQ(Of(cost, ColdClass::kAllocation), 70);
  EXPECT_EQ(Of(cost, ColdClass::kLaunch), 100);
  EXPECT_EQ(Of(cost, ColdClass::kLoading), 60);
  EXPECT_EQ(Of(cost, ColdClass::kSync), 100);
}

TEST(ColdCost, OnlyTheFirstFreeMakesTheContext) {
  const Trace trace = RecordBuilder()
                          .Range("work", 0, 1'000)
                          .Call("cudaMalloc", 100, 200, 1)
                          .Call("cudaFree", 300, 400, 2)
                          .Build();
  const ColdCost cost = ColdCostOf(trace, FirstOf(trace, EventKind::kRange));

  EXPECT_EQ(Of(cost, ColdClass::kContext), 0);
  EXPECT_EQ(Of(cost, ColdClass::kAllocation), 200);
}

TEST(ColdCost, WorkOfOtherThreadsIsNotItsOwn) {
  const Trace trace = RecordBuilder()
                          .Range("work", 0, 1'000)
                          .OnThread(9)
                          .Call("cudaMalloc", 100, 200, 1)
                          .Build();

  EXPECT_EQ(Of(ColdCostOf(trace, FirstOf(trace, EventKind::kRange)),
               ColdClass::kRest),
            1'000);
}

// Five ranges of one name, as a file without step marks has them.
Trace Ranges(int64_t first_ns) {
  RecordBuilder builder;
  int64_t now = 0;
  for (int i = 0; i < 5; ++i) {
    const int64_t length = i == 0 ? first_ns : 50'000;
    builder.Range("matmul_add", now, now + length)
        .Op("aten::mm", now + 10'000, now + length - 10'000)
        .Call("cudaLaunchKernel", now + 20'000, now + 25'000, i + 1)
        .Kernel("nvjet", now + 30'000, now + 32'000, i + 1);
    now += length + 10'000;
  }
  return builder.Build(MakeGpuTrace(1).header);
}

Header WithoutTimed() {
  Header header = MakeGpuTrace(1).header;
  header.timed = {};
  return header;
}

TEST(ColdStep, TheFirstOfRangesIsComparedWhereNoStepIsMarked) {
  Trace trace = Ranges(107'000'000);
  trace.header = WithoutTimed();
  const Answer answer = Explain(trace);

  const Finding* finding = nullptr;
  for (const Finding& each : answer.findings) {
    if (each.id == "cold-step") finding = &each;
  }
  ASSERT_NE(finding, nullptr);
  EXPECT_THAT(finding->title,
              AllOf(HasSubstr("The first matmul_add took 107 ms, 2,140 times "
                              "the others (50.0 us): 107 ms in operators "
                              "outside of calls")));
  EXPECT_EQ(finding->numbers.at("cold_rest").value, 20'000);
  EXPECT_EQ(finding->numbers.at("cold_launch_calls").value, 5'000);
  EXPECT_GT(finding->numbers.at("window_share").value, 0.99);
  ASSERT_TRUE(answer.verdict.has_value());
  EXPECT_THAT(answer.verdict->reasons,
              testing::Contains(HasSubstr("a cold start: the first matmul_add "
                                          "is 9")));
  EXPECT_THAT(answer.findings[0].title, HasSubstr("while the first step pays"));
}

TEST(ColdStep, LikeTheOthersItIsNone) {
  const Trace trace = Ranges(120'000);
  const StepIndex index(trace);
  StepsAnswer steps;
  EXPECT_FALSE(FindColdStep(trace, index, steps).has_value());
}

TEST(ColdStep, TwoRangesAreTooFew) {
  const Trace trace = RecordBuilder()
                          .Range("work", 0, 100'000)
                          .Range("work", 200'000, 200'100)
                          .Build();
  const StepIndex index(trace);
  EXPECT_FALSE(FindColdStep(trace, index, StepsAnswer()).has_value());
}

}  // namespace
}  // namespace traza
