// SPDX-License-Identifier: Apache-2.0
#include "worker/warmup.h"

#include <vector>

#include "gtest/gtest.h"

namespace traza {
namespace {

constexpr Warmup kAutomatic = {.automatic = true};

WarmupResult RunAll(WarmupSteps& warmup, const std::vector<int64_t>& step_ns) {
  for (size_t i = 0; warmup.wants_more(); ++i) {
    warmup.Add(step_ns[i % step_ns.size()]);
  }
  return warmup.result();
}

TEST(WarmupSteps, FixedRunsItsStepsAndChecksNothing) {
  WarmupSteps warmup({.automatic = false, .steps = 5}, true);

  const WarmupResult result = RunAll(warmup, {1000});

  EXPECT_EQ(result.steps, 5);
  EXPECT_FALSE(result.checked);
  EXPECT_FALSE(result.spread);
  EXPECT_EQ(warmup.total(), 5);
}

TEST(WarmupSteps, FixedCanBeNone) {
  const WarmupSteps warmup({.automatic = false, .steps = 0}, true);

  EXPECT_FALSE(warmup.wants_more());
}

TEST(WarmupSteps, AutomaticEndsWhenEightStepsAgree) {
  WarmupSteps warmup(kAutomatic, true);

  const WarmupResult result = RunAll(warmup, {10'000});

  EXPECT_EQ(result.steps, 8);
  EXPECT_TRUE(result.checked);
  EXPECT_TRUE(result.steady);
  EXPECT_FALSE(result.cap_hit);
  EXPECT_EQ(result.spread, 0);
}

TEST(WarmupSteps, ASlowFirstStepIsForgotten) {
  WarmupSteps warmup(kAutomatic, true);
  warmup.Add(5'000'000);

  const WarmupResult result = RunAll(warmup, {10'000});

  EXPECT_EQ(result.steps, 8);
  EXPECT_TRUE(result.steady);
}

TEST(WarmupSteps, TwoDisturbedStepsOfEightDoNotMatterThreeDo) {
  WarmupSteps two(kAutomatic, false);
  WarmupSteps three(kAutomatic, false);

  const std::vector<int64_t> calm = {100, 100, 100, 100, 100, 100, 900, 900};
  const std::vector<int64_t> rough = {100, 100, 100, 100, 100, 900, 900, 900};

  EXPECT_EQ(RunAll(two, calm).steps, 8);
  EXPECT_TRUE(two.result().steady);
  EXPECT_FALSE(RunAll(three, rough).steady);
}

TEST(WarmupSteps, AStepThatAllocatedIsNotWarm) {
  WarmupSteps warmup(kAutomatic, false);
  for (int i = 0; i < 7; ++i) warmup.Add(100);

  warmup.Add(100, /*allocated=*/true);

  EXPECT_FALSE(warmup.result().spread.has_value());
  EXPECT_EQ(RunAll(warmup, {100}).steps, 15);
  EXPECT_TRUE(warmup.result().steady);
}

TEST(WarmupSteps, ACpuMayMoveMoreThanAGpu) {
  WarmupSteps cpu(kAutomatic, true);
  WarmupSteps gpu(kAutomatic, false);

  EXPECT_TRUE(RunAll(cpu, {100'000, 107'000}).steady);
  EXPECT_FALSE(RunAll(gpu, {100'000, 107'000}).steady);
}

TEST(WarmupSteps, ShortStepsEndAtTheShortCap) {
  WarmupSteps warmup(kAutomatic, true);

  const WarmupResult result = RunAll(warmup, {100'000, 200'000});

  EXPECT_TRUE(result.cap_hit);
  EXPECT_FALSE(result.steady);
  EXPECT_NEAR(static_cast<double>(result.steps), 133, 2);  // 20 ms of 150 us
}

TEST(WarmupSteps, LongStepsEndAtTheLongCap) {
  WarmupSteps warmup(kAutomatic, true);

  const WarmupResult result = RunAll(warmup, {10'000'000, 20'000'000});

  EXPECT_TRUE(result.cap_hit);
  EXPECT_NEAR(static_cast<double>(result.steps), 34, 2);  // 500 ms of 15 ms
}

TEST(WarmupSteps, AFirstStepThatTakesLongerThanAllMayTakesNoneOfTheirTime) {
  WarmupSteps warmup(kAutomatic, false);
  warmup.Add(33'900'000);

  const WarmupResult result = RunAll(warmup, {250'000});

  EXPECT_EQ(result.steps, 8);
  EXPECT_TRUE(result.steady);
}

TEST(WarmupSteps, AtLeastThreeStepsRunPastTheCap) {
  WarmupSteps warmup(kAutomatic, true);

  const WarmupResult result = RunAll(warmup, {1'000'000'000});

  EXPECT_EQ(result.steps, 3);
  EXPECT_TRUE(result.cap_hit);
  EXPECT_FALSE(result.spread);
}

}  // namespace
}  // namespace traza
