// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/diff_bootstrap.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace traza {
namespace {

using testing::AllOf;
using testing::Ge;
using testing::Le;

// Numbers as skewed as step times are: 1000 + 100 * exponential.
class Steps {
 public:
  explicit Steps(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15 + 1) {}

  double Next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    const double uniform =
        (static_cast<double>(state_ >> 11) + 0.5) / 9007199254740992.0;
    return 1000 - 100 * std::log(uniform);
  }
  StepValues Take(size_t count, double more = 0) {
    std::vector<double> values;
    for (size_t i = 0; i < count; ++i) values.push_back(Next() + more);
    return {values, count};
  }

 private:
  uint64_t state_;
};

// Of `rounds` pairs of samples whose medians differ by 50, the share whose
// interval holds 50.
double Coverage(size_t before, size_t after, double confidence) {
  constexpr int kRounds = 1000;
  const MedianBootstrap bootstrap(before, after, confidence);
  Steps steps(before);
  int covered = 0;
  for (int round = 0; round < kRounds; ++round) {
    const StepValues a = steps.Take(before);
    const StepValues b = steps.Take(after, 50);
    const auto interval = bootstrap.Of(a, b);
    covered += interval.low <= 50 && 50 <= interval.high;
  }
  return static_cast<double>(covered) / kRounds;
}

TEST(MedianBootstrap, IntervalsHoldTheTruthAsOftenAsTheySay) {
  // The bootstrap of medians errs on the safe side; 3 standard errors of 1000
  // rounds are 0.02.
  EXPECT_THAT(Coverage(30, 30, 0.95), AllOf(Ge(0.93), Le(0.985)));
  EXPECT_THAT(Coverage(31, 45, 0.95), AllOf(Ge(0.93), Le(0.985)));
  EXPECT_THAT(Coverage(200, 200, 0.95), AllOf(Ge(0.93), Le(0.98)));
  EXPECT_THAT(Coverage(200, 200, 0.5), AllOf(Ge(0.46), Le(0.58)));
}

TEST(MedianBootstrap, TenBatchesAreEnoughForAnInterval) {
  EXPECT_THAT(Coverage(10, 10, 0.95), AllOf(Ge(0.92), Le(0.995)));
}

TEST(MedianBootstrap, NoDifferenceIsClaimedAsOftenAsTheConfidenceLeaves) {
  const MedianBootstrap bootstrap(40, 40, 0.9);
  Steps steps(3);
  int claimed = 0;
  for (int round = 0; round < 1000; ++round) {
    const Delta delta =
        MakeDelta(steps.Take(40), steps.Take(40), "ns", &bootstrap);
    claimed += *delta.significant;
  }
  EXPECT_THAT(claimed, AllOf(Ge(40), Le(120)));
}

// Places drawn from the law of order statistics against resampling by hand.
TEST(MedianBootstrap, AgreesWithResamplingByHand) {
  for (const size_t size : {30u, 31u}) {
    Steps steps(size);
    std::vector<double> values;
    for (size_t i = 0; i < size; ++i) values.push_back(steps.Next());
    std::vector<double> medians;
    uint64_t state = 12345;
    for (int i = 0; i < 20'000; ++i) {
      std::vector<double> resample;
      for (size_t k = 0; k < size; ++k) {
        state = state * 6364136223846793005 + 1442695040888963407;
        resample.push_back(values[(state >> 33) % size]);
      }
      medians.push_back(StepValues(resample, size).Median());
    }
    std::ranges::sort(medians);
    const auto interval =
        MedianBootstrap(size, size, 0.9)
            .Of(StepValues(std::vector<double>(size, 1), size),
                StepValues(values, size));

    EXPECT_NEAR(interval.low + 1, medians[1000], 12) << size;
    EXPECT_NEAR(interval.high + 1, medians[19'000], 12) << size;
  }
}

TEST(MedianBootstrap, EqualInputsGiveEqualIntervals) {
  Steps steps(9);
  const StepValues a = steps.Take(50);
  const StepValues b = steps.Take(50);
  const auto one = MedianBootstrap(50, 50, 0.95).Of(a, b);
  const auto other = MedianBootstrap(50, 50, 0.95).Of(a, b);

  EXPECT_EQ(one.low, other.low);
  EXPECT_EQ(one.high, other.high);
}

TEST(MedianBootstrap, AMillionStepsCostNoMoreThanThirty) {
  Steps steps(4);
  const StepValues a = steps.Take(1'000'000);
  const StepValues b = steps.Take(1'000'000, 5);
  const auto interval = MedianBootstrap(1'000'000, 1'000'000, 0.95).Of(a, b);

  EXPECT_THAT(interval.low, AllOf(Ge(4), Le(5)));
  EXPECT_THAT(interval.high, AllOf(Ge(5), Le(6)));
}

TEST(StepValues, CountZerosThatAreLeftOut) {
  const StepValues values({7, 0, 5}, 6);  // 0 0 0 0 5 7

  EXPECT_EQ(values.size(), 6u);
  EXPECT_EQ(values.at(3), 0);
  EXPECT_EQ(values.at(4), 5);
  EXPECT_EQ(values.at(5), 7);
  EXPECT_EQ(values.Median(), 0);
  EXPECT_EQ(StepValues({2, 3, 10, 11}, 4).Median(), 6.5);
  EXPECT_EQ(StepValues({9}, 1).Median(), 9);
}

TEST(MakeDelta, HasAnIntervalOnlyWithABootstrap) {
  const StepValues before(std::vector<double>(30, 100), 30);
  const StepValues after(std::vector<double>(30, 80), 30);
  const MedianBootstrap bootstrap(30, 30, 0.95);

  EXPECT_EQ(
      MakeDelta(before, after, "ns", nullptr),
      (Delta{100, 80, -20, std::nullopt, std::nullopt, "ns", std::nullopt}));
  EXPECT_EQ(MakeDelta(before, after, "ns", &bootstrap),
            (Delta{100, 80, -20, -20, -20, "ns", true}));
  EXPECT_EQ(MakeDelta(before, before, "ns", &bootstrap),
            (Delta{100, 100, 0, 0, 0, "ns", false}));
}

TEST(MakeDelta, OfAnUnknownSideHasNoDifference) {
  const Delta delta =
      MakeDelta(std::nullopt, StepValues({5}, 1), "ns", nullptr);

  EXPECT_FALSE(delta.before.has_value());
  EXPECT_EQ(delta.after, 5);
  EXPECT_FALSE(delta.difference.has_value());
}

}  // namespace
}  // namespace traza
