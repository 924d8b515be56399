// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/intervals.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace traza {
namespace {

// [10, 30) and [40, 50).
Intervals Two() {
  Intervals two;
  two.Add(10, 20);
  two.Add(15, 30);
  two.Add(35, 35);
  two.Add(40, 50);
  return two;
}

std::string Parts(const Intervals& intervals, int64_t begin, int64_t end) {
  std::string text;
  intervals.Split(begin, end, [&](int64_t from, int64_t to, bool inside) {
    absl::StrAppend(&text, inside ? "+" : "-", from, "..", to, " ");
  });
  return text;
}

TEST(Intervals, OverlapIsThatOfTheUnion) {
  EXPECT_EQ(Two().Overlap(0, 100), 30);
  EXPECT_EQ(Two().Overlap(25, 45), 10);
  EXPECT_EQ(Two().Overlap(30, 40), 0);
  EXPECT_EQ(Two().Overlap(12, 13), 1);
  EXPECT_EQ(Intervals().Overlap(0, 100), 0);
}

TEST(Intervals, SplitCoversEveryMomentOnce) {
  EXPECT_EQ(Parts(Two(), 0, 60), "-0..10 +10..30 -30..40 +40..50 -50..60 ");
  EXPECT_EQ(Parts(Two(), 20, 40), "+20..30 -30..40 ");
  EXPECT_EQ(Parts(Two(), 31, 39), "-31..39 ");
  EXPECT_EQ(Parts(Two(), 12, 12), "");
  EXPECT_EQ(Parts(Intervals(), 1, 2), "-1..2 ");
}

}  // namespace
}  // namespace traza
