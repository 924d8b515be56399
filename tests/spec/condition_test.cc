// SPDX-License-Identifier: Apache-2.0
#include "spec/condition.h"

#include "gtest/gtest.h"

#include "spec/job_spec.h"
#include "tests/support/sample_description.h"
#include "tests/support/status_matchers.h"

namespace traza {
namespace {

ParamValues Inputs() {
  return CostInputs(
      {.variant = "eager", .params = {{"size", "64"}, {"dtype", "bf16"}}});
}

TEST(Hold, WantsEveryValue) {
  EXPECT_TRUE(Hold({}, Inputs()));
  EXPECT_TRUE(Hold({{"dtype", "bf16"}}, Inputs()));
  EXPECT_TRUE(Hold({{"dtype", "bf16"}, {"size", "64"}}, Inputs()));
  EXPECT_FALSE(Hold({{"dtype", "bf16"}, {"size", "65"}}, Inputs()));
}

TEST(Hold, TakesWhatAValueMustNotBe) {
  EXPECT_TRUE(Hold({{"size", "!1"}}, Inputs()));
  EXPECT_FALSE(Hold({{"size", "!64"}}, Inputs()));
}

TEST(Hold, TakesSeveralValues) {
  EXPECT_TRUE(Hold({{"size", "64|4096"}}, Inputs()));
  EXPECT_TRUE(Hold({{"size", "4096|64"}}, Inputs()));
  EXPECT_FALSE(Hold({{"size", "4096|640"}}, Inputs()));
  EXPECT_FALSE(Hold({{"size", "!4096|64"}}, Inputs()));
  EXPECT_TRUE(Hold({{"dtype", "!fp16|fp32"}}, Inputs()));
}

TEST(Hold, KnowsTheVariantOfTheJob) {
  EXPECT_TRUE(Hold({{"variant", "eager"}}, Inputs()));
  EXPECT_FALSE(Hold({{"variant", "compiled"}}, Inputs()));
  EXPECT_TRUE(Hold({{"variant", "!compiled"}}, Inputs()));
}

TEST(Hold, KnowsTheKindOfTheDevice) {
  const ParamValues on_cpu = CostInputs({.device = "cpu"});
  const ParamValues on_gpu = CostInputs({.device = "gpu3"});

  EXPECT_TRUE(Hold({{"device", "cpu"}}, on_cpu));
  EXPECT_FALSE(Hold({{"device", "cpu"}}, on_gpu));
  EXPECT_TRUE(Hold({{"device", "gpu"}}, on_gpu));
}

absl::Status Check(const Conditions& conditions) {
  return CheckConditions("only_if", conditions,
                         SampleDescription().workloads[0].params,
                         {"eager", "compiled"});
}

TEST(CheckConditions, TakesParametersAndVariantsWithTheirValues) {
  EXPECT_THAT(Check({{"size", "64"}, {"dtype", "!fp16"}}), IsOk());
  EXPECT_THAT(Check({{"size", "64|4096"}, {"dtype", "!fp16|bf16"}}), IsOk());
  EXPECT_THAT(Check({{"variant", "compiled"}}), IsOk());
  EXPECT_THAT(Check({{"device", "!gpu"}}), IsOk());
}

TEST(CheckConditions, RefusesWhatCanNeverHold) {
  EXPECT_THAT(Check({{"batch", "1"}}), HasViolation("only_if"));
  EXPECT_THAT(Check({{"size", "0"}}), HasViolation("only_if"));
  EXPECT_THAT(Check({{"size", "064"}}), HasViolation("only_if"));
  EXPECT_THAT(Check({{"dtype", "!fp8"}}), HasViolation("only_if"));
  EXPECT_THAT(Check({{"variant", "fused"}}), HasViolation("only_if"));
  EXPECT_THAT(Check({{"device", "gpu0"}}), HasViolation("only_if"));
  EXPECT_THAT(Check({{"size", "64|0"}}), HasViolation("only_if"));
  EXPECT_THAT(Check({{"size", "64|"}}), HasViolation("only_if"));
}

}  // namespace
}  // namespace traza
