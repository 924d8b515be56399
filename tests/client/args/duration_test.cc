// SPDX-License-Identifier: Apache-2.0
#include "client/args/duration.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"

namespace traza {
namespace {

TEST(DurationFromText, ReadsEveryUnit) {
  EXPECT_THAT(DurationFromText("500us"), IsOkAndHolds(absl::Microseconds(500)));
  EXPECT_THAT(DurationFromText("20ms"), IsOkAndHolds(absl::Milliseconds(20)));
  EXPECT_THAT(DurationFromText("5s"), IsOkAndHolds(absl::Seconds(5)));
  EXPECT_THAT(DurationFromText("2m"), IsOkAndHolds(absl::Minutes(2)));
  EXPECT_THAT(DurationFromText("1h"), IsOkAndHolds(absl::Hours(1)));
}

TEST(DurationFromText, ReadsFractionsAndSums) {
  EXPECT_THAT(DurationFromText("1.5s"), IsOkAndHolds(absl::Milliseconds(1500)));
  EXPECT_THAT(DurationFromText("1h30m"), IsOkAndHolds(absl::Minutes(90)));
}

class BadDuration : public testing::TestWithParam<const char*> {};

TEST_P(BadDuration, IsRefused) {
  EXPECT_THAT(DurationFromText(GetParam()),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

INSTANTIATE_TEST_SUITE_P(All, BadDuration,
                         testing::Values("", "5", "0", "-5s", "+5s", "inf",
                                         "infs", "s", "5 s", "5sec", "5S",
                                         "1e3s", "5s ", "99999999999999999999h",
                                         "5\xff"));

TEST(DurationText, ChoosesTheUnit) {
  EXPECT_EQ(DurationText(absl::Microseconds(812)), "812 us");
  EXPECT_EQ(DurationText(absl::Microseconds(12'345)), "12.3 ms");
  EXPECT_EQ(DurationText(absl::Milliseconds(345)), "345 ms");
  EXPECT_EQ(DurationText(absl::Milliseconds(4560)), "4.56 s");
  EXPECT_EQ(DurationText(absl::Seconds(200)), "3 min 20 s");
  EXPECT_EQ(DurationText(absl::Minutes(125)), "2 h 5 min");
  EXPECT_EQ(DurationText(absl::Minutes(5)), "5 min");
  EXPECT_EQ(DurationText(absl::Hours(1)), "1 h");
  EXPECT_EQ(DurationText(-absl::Seconds(1)), "-1 s");
}

}  // namespace
}  // namespace traza
