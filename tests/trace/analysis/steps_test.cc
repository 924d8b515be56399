// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/steps.h"

#include <algorithm>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/record_builder.h"

namespace traza {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::Optional;

// Steps of the given lengths, one after the other.
void AddSteps(Phase phase, const std::vector<int64_t>& lengths, int64_t at,
              RecordBuilder* builder) {
  for (size_t i = 0; i < lengths.size(); ++i) {
    builder->Step(phase, static_cast<int32_t>(i), at, at + lengths[i]);
    at += lengths[i] + 1;
  }
}

StepsAnswer Analyze(RecordBuilder& builder, TimedPass timed = {}) {
  Header header;
  header.timed = std::move(timed);
  const Trace trace = builder.Build(std::move(header));
  return AnalyzeSteps(trace, StepIndex(trace));
}

TEST(Steps, PhasesAreKeptApart) {
  RecordBuilder builder;
  AddSteps(Phase::kCold, {5'000}, 0, &builder);
  AddSteps(Phase::kWarmup, {120, 110}, 10'000, &builder);
  AddSteps(Phase::kTraced, {100, 104, 98, 102, 400}, 20'000, &builder);

  const StepsAnswer steps = Analyze(builder);

  EXPECT_EQ(steps.cold->count, 1);
  EXPECT_EQ(steps.cold->median_ns, 5'000);
  EXPECT_EQ(steps.warmup->count, 2);
  EXPECT_EQ(steps.traced->count, 5);
  EXPECT_EQ(steps.traced->median_ns, 102);
  EXPECT_EQ(steps.traced->mad_ns, 2);
  EXPECT_EQ(steps.traced->min_ns, 98);
  EXPECT_EQ(steps.traced->max_ns, 400);
  EXPECT_EQ(steps.traced->p99_ns, 400);
  EXPECT_THAT(steps.traced->first_ns, ElementsAre(100, 104, 98, 102, 400));
  EXPECT_FALSE(steps.timed.has_value());
  EXPECT_EQ(steps.own_overhead_ns, std::nullopt);
}

TEST(Steps, OnlyTheFirstEightAreListed) {
  RecordBuilder builder;
  AddSteps(Phase::kTraced, std::vector<int64_t>(20, 50), 0, &builder);
  EXPECT_EQ(Analyze(builder).traced->first_ns.size(), 8u);
}

TEST(Steps, OwnOverheadIsTheDifferenceOfTheMedians) {
  RecordBuilder builder;
  AddSteps(Phase::kTraced, {130, 133, 127}, 0, &builder);

  const StepsAnswer steps =
      Analyze(builder, {.steps = 3, .batch_ns = {100, 104, 96}});

  EXPECT_EQ(steps.own_overhead_ns, 30);
  EXPECT_EQ(steps.own_overhead_spread_ns, 5) << "3 and 4 in quadrature";
  EXPECT_THAT(steps.own_overhead_share, Optional(DoubleNear(0.3, 1e-9)));
  EXPECT_THAT(steps.first_traced_over_median, Optional(DoubleNear(1, 1e-9)));
}

TEST(Steps, BatchesGiveTheMeanOfTheirSteps) {
  const TimedPass timed{
      .steps = 25, .steps_per_batch = 10, .batch_ns = {1'000, 1'100, 600}};

  EXPECT_THAT(TimedStepTimes(timed), ElementsAre(100, 110, 120))
      << "the last batch has five steps";
}

TEST(Steps, TimesThatNoClockGivesAreNone) {
  EXPECT_THAT(TimedStepTimes({.steps = 2, .batch_ns = {-5, 10}}),
              ElementsAre());
  EXPECT_THAT(TimedStepTimes({.steps = 1, .batch_ns = {5, 10, 15}}),
              ElementsAre(5));
  EXPECT_THAT(
      TimedStepTimes({.steps = 5, .steps_per_batch = 0, .batch_ns = {5, 10}}),
      ElementsAre());
}

// Steps of 100 ns on the CPU, whose kernels take 1,000.
Trace CpuRunsAhead(int steps, bool calls) {
  RecordBuilder builder;
  int64_t free = 0;
  for (int i = 0; i < steps; ++i) {
    const int64_t at = i * 100;
    builder.Step(Phase::kTraced, i, at, at + 100);
    if (calls) builder.Call("cuLaunchKernel", at + 10, at + 20, i + 1);
    free = std::max(free, at + 50);
    builder.Kernel("k", free, free + 1'000, i + 1);
    free += 1'000;
  }
  builder.InPhase(Phase::kTraced, 0, free + 10);
  Header header;
  header.collector = "replay";
  header.timed = {.steps = 1, .batch_ns = {1'000}};
  return builder.Build(std::move(header));
}

TEST(Steps, WithDeviceWorkAStepEndsWhenItsWorkIsDone) {
  const Trace trace = CpuRunsAhead(5, /*calls=*/true);

  const StepsAnswer steps = AnalyzeSteps(trace, StepIndex(trace));

  EXPECT_THAT(steps.traced->first_ns,
              ElementsAre(1'050, 1'000, 1'000, 1'000, 1'000));
  EXPECT_EQ(steps.traced_host->median_ns, 100);
  EXPECT_EQ(steps.own_overhead_ns, 0) << "as the timed pass measures";
  EXPECT_THAT(steps.first_traced_over_median, Optional(DoubleNear(1, 1e-9)))
      << "on the CPU; until the queue is full is no slow start";
}

TEST(Steps, AFlushedStepBeginsWhereItStarts) {
  Header header;
  header.job.l2 = L2Policy::kFlush;
  const Trace trace = RecordBuilder()
                          .Step(Phase::kTraced, 0, 100, 150)
                          .Call("cudaLaunchKernel", 110, 120, 1)
                          .Overhead(kL2FlushName, 150, 400)
                          .Step(Phase::kTraced, 1, 400, 450)
                          .Call("cudaLaunchKernel", 410, 420, 2)
                          .Kernel("a", 130, 180, 1)
                          .Kernel("a", 430, 490, 2)
                          .Build(header);

  const StepsAnswer steps = AnalyzeSteps(trace, StepIndex(trace));

  ASSERT_TRUE(steps.traced.has_value());
  EXPECT_THAT(steps.traced->first_ns, ElementsAre(80, 90));
}

TEST(Steps, TimesOfACpuThatRanAheadDoNotCompare) {
  const Trace trace = CpuRunsAhead(5, /*calls=*/false);

  const StepsAnswer steps = AnalyzeSteps(trace, StepIndex(trace));

  EXPECT_EQ(steps.traced->median_ns, 100);
  EXPECT_FALSE(steps.traced_host.has_value());
  EXPECT_EQ(steps.own_overhead_ns, std::nullopt);
}

// Twenty steps of 100 ns; `overhead` lies in the third and fourth.
Trace WithOverhead(const char* overhead) {
  RecordBuilder builder;
  for (int i = 0; i < 20; ++i) {
    const int64_t length = i == 2 ? 900 : 100;
    builder.Step(Phase::kTraced, i, i * 1'000, i * 1'000 + length);
  }
  builder.OnThread(7).Overhead(overhead, 2'500, 3'040);
  Header header;
  header.collector = "cupti";
  return builder.Build(std::move(header));
}

TEST(Steps, StepsThatTheTracerPerturbedAreLeftOut) {
  const Trace trace = WithOverhead("Buffer Flush");

  const StepsAnswer steps = AnalyzeSteps(trace, StepIndex(trace));

  EXPECT_EQ(steps.traced->count, 18);
  EXPECT_EQ(steps.traced->max_ns, 100);
  ASSERT_TRUE(steps.perturbed.has_value());
  EXPECT_EQ(*steps.perturbed, (PerturbedSteps{2, 20, 440, {2, 3}}));
}

TEST(Steps, LoadingOfCodeIsNotTheTracers) {
  const Trace trace = WithOverhead("Lazy Function Loading");

  const StepsAnswer steps = AnalyzeSteps(trace, StepIndex(trace));

  EXPECT_EQ(steps.traced->count, 20);
  EXPECT_EQ(steps.perturbed->count, 0);
}

TEST(Steps, WhereAllArePerturbedAllCount) {
  RecordBuilder builder;
  AddSteps(Phase::kTraced, {100, 100}, 0, &builder);
  builder.Overhead("Instrumentation", 0, 250);
  Header header;
  header.collector = "cupti";
  const Trace trace = builder.Build(std::move(header));

  const StepsAnswer steps = AnalyzeSteps(trace, StepIndex(trace));

  EXPECT_EQ(steps.traced->count, 2);
  EXPECT_EQ(steps.perturbed->count, 2);
}

TEST(Steps, WhereNobodyLookedNothingIsPerturbed) {
  const Trace trace = MakeCpuTrace(3);
  EXPECT_FALSE(AnalyzeSteps(trace, StepIndex(trace)).perturbed.has_value());
}

TEST(Steps, WithoutStepsThereAreNone) {
  RecordBuilder builder;
  builder.Op("mm", 0, 10);

  const StepsAnswer steps = Analyze(builder);

  EXPECT_FALSE(steps.traced.has_value());
  EXPECT_EQ(steps.first_traced_over_median, std::nullopt);
}

TEST(Steps, StepsOfNoLengthHaveNoRatios) {
  RecordBuilder builder;
  builder.Step(Phase::kTraced, 0, 5, 5);

  const StepsAnswer steps = Analyze(builder, {.steps = 1, .batch_ns = {0}});

  EXPECT_EQ(steps.traced->median_ns, 0);
  EXPECT_EQ(steps.first_traced_over_median, std::nullopt);
  EXPECT_EQ(steps.own_overhead_share, std::nullopt);
}

}  // namespace
}  // namespace traza
