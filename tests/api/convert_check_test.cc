// SPDX-License-Identifier: Apache-2.0
#include "api/convert_check.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace traza {
namespace {

using testing::ElementsAre;

TEST(ConvertCheck, EveryFieldSurvivesTheRoundTrip) {
  const CheckResult number = {.expression = "device_busy > 80%",
                              .outcome = CheckOutcome::kFailed,
                              .quantity = "device_busy",
                              .number = Number{0.5, "ratio", "busy", "window"},
                              .message = "It is 50 %.",
                              .event_ids = {7, 9}};
  const CheckResult word = {.expression = "stable",
                            .outcome = CheckOutcome::kPassed,
                            .quantity = "stable",
                            .word = "true",
                            .message = "It is."};

  const v1::CheckTraceResponse proto = ToProto({number, word});

  EXPECT_FALSE(proto.passed());
  EXPECT_THAT(FromProto(proto), ElementsAre(number, word));
  EXPECT_TRUE(ToProto({word}).passed());
}

TEST(ConvertCheck, WhatWasNotObservedIsAbsent) {
  const v1::CheckTraceResponse proto = ToProto({CheckResult{}});

  EXPECT_EQ(proto.results(0).observed_case(),
            v1::CheckResult::OBSERVED_NOT_SET);
  EXPECT_EQ(proto.results(0).outcome(), v1::CHECK_OUTCOME_UNKNOWN);
}

TEST(ConvertCheck, AnOutcomeOfANewerServerIsUnknown) {
  v1::CheckTraceResponse proto;
  proto.add_results()->set_outcome(static_cast<v1::CheckOutcome>(99));

  EXPECT_EQ(FromProto(proto)[0].outcome, CheckOutcome::kUnknown);
}

TEST(ConvertCheck, BytesThatAreNoUtf8AreReplaced) {
  const v1::CheckTraceResponse proto =
      ToProto({CheckResult{.message = "a\xff"}});

  EXPECT_EQ(proto.results(0).message(), "a\xef\xbf\xbd");
}

}  // namespace
}  // namespace traza
