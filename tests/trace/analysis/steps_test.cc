// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/steps.h"

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
  return AnalyzeSteps(builder.Build(std::move(header)));
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
