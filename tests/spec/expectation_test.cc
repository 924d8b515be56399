// SPDX-License-Identifier: Apache-2.0
#include "spec/expectation.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "spec/job_spec.h"
#include "spec/worker_description.h"
#include "tests/support/sample_description.h"
#include "tests/support/status_matchers.h"

namespace traza {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;

JobSpec Job(const std::string& variant) {
  return {.workload = "matmul_add",
          .variant = variant,
          .params = {{"size", "64"}, {"dtype", "bf16"}}};
}

TEST(ExpectationsOf, AreThoseOfTheVariantTheDeviceAndTheParameters) {
  WorkloadSchema workload = SampleDescription().workloads[0];
  workload.expectations = {
      {.expr = "stable", .why = "Always."},
      {.variant = "eager", .expr = "kernels_per_step == 2"},
      {.variant = "compiled", .expr = "kernels_per_step == 1"},
      {.device = DeviceKind::kCpu, .expr = "verdict == cpu-only"},
      {.only_if = {{"size", "4096"}}, .expr = "device_busy >= 0.8"},
  };

  EXPECT_THAT(ExpectationsOf(workload, Job("eager"), DeviceKind::kGpu),
              ElementsAre(JobExpectation{"stable", "Always."},
                          JobExpectation{"kernels_per_step == 2", ""}));
  EXPECT_THAT(ExpectationsOf(workload, Job("compiled"), DeviceKind::kCpu),
              ElementsAre(JobExpectation{"stable", "Always."},
                          JobExpectation{"kernels_per_step == 1", ""},
                          JobExpectation{"verdict == cpu-only", ""}));
}

TEST(ExpectationsOf, AWorkloadMayHaveNone) {
  EXPECT_THAT(ExpectationsOf({}, Job("eager"), DeviceKind::kCpu), IsEmpty());
}

TEST(Expectation, ComesBackFromJson) {
  const Expectation whole = {.variant = "eager",
                             .device = DeviceKind::kGpu,
                             .only_if = {{"bias", "!2d"}},
                             .expr = "stable",
                             .why = "It is."};
  const Expectation least = {.expr = "stable"};

  EXPECT_THAT(ExpectationFromJson(ToJson(whole)), IsOkAndHolds(whole));
  EXPECT_THAT(ExpectationFromJson(ToJson(least)), IsOkAndHolds(least));
}

TEST(Expectation, FaultsHaveTheirPath) {
  EXPECT_THAT(ExpectationFromJson(json::object()), HasViolation("expr"));
  EXPECT_THAT(ExpectationFromJson(json{{"expr", ""}}), HasViolation("expr"));
  EXPECT_THAT(ExpectationFromJson(json{{"expr", std::string(1025, 'x')}}),
              HasViolation("expr"));
  EXPECT_THAT(ExpectationFromJson(json{{"expr", "stable"}, {"device", "tpu"}}),
              HasViolation("device"));
  EXPECT_THAT(ExpectationFromJson(json{{"expr", "stable"}, {"only_if", 5}}),
              HasViolation("only_if"));
  EXPECT_THAT(JobExpectationFromJson(json{{"why", "?"}}), HasViolation("expr"));
}

}  // namespace
}  // namespace traza
