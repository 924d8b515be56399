// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/statistics.h"

#include <limits>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"

namespace traza {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

int64_t MedianOf(std::vector<int64_t> values) { return Median(&values); }
int64_t RankOf(std::vector<int64_t> values, int percent) {
  return NearestRank(&values, percent);
}

TEST(Statistics, MedianIsTheMiddle) {
  EXPECT_EQ(MedianOf({7}), 7);
  EXPECT_EQ(MedianOf({3, 1, 2}), 2);
  EXPECT_EQ(MedianOf({4, 1, 3, 2}), 2) << "the mean of 2 and 3, rounded down";
  EXPECT_EQ(MedianOf({kMax, kMax}), kMax);
}

TEST(Statistics, MedianDeviationIgnoresOutliers) {
  EXPECT_EQ(MedianDeviation({10, 11, 9, 10, 1000}, 10), 1);
  EXPECT_EQ(MedianDeviation({5, 5, 5}, 5), 0);
}

TEST(Statistics, NearestRankIsOneOfTheValues) {
  std::vector<int64_t> values(100);
  std::iota(values.begin(), values.end(), 1);

  EXPECT_EQ(RankOf(values, 50), 50);
  EXPECT_EQ(RankOf(values, 99), 99);
  EXPECT_EQ(RankOf(values, 100), 100);
  EXPECT_EQ(RankOf({5}, 50), 5);
  EXPECT_EQ(RankOf({1, 2}, 50), 1);
  EXPECT_EQ(RankOf({1, 2, 3}, 99), 3);
}

TEST(Statistics, MeanRoundsToTheNearest) {
  EXPECT_EQ(Mean({1, 2}), 2);
  EXPECT_EQ(Mean({1, 1, 2}), 1);
  EXPECT_EQ(Mean({kMax, kMax}), kMax);
}

TEST(Statistics, SumsStopAtTheEndOfTheRange) {
  EXPECT_EQ(AddSaturating(2, 3), 5);
  EXPECT_EQ(AddSaturating(kMax, 1), kMax);
  EXPECT_EQ(AddSaturating(-kMax, -kMax), std::numeric_limits<int64_t>::min());
}

}  // namespace
}  // namespace traza
