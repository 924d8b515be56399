// SPDX-License-Identifier: Apache-2.0
#include "spec/cost.h"

#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "spec/job_spec.h"
#include "tests/support/sample_description.h"
#include "tests/support/status_matchers.h"

namespace traza {
namespace {

using nlohmann::json;

ParamValues Params() {
  return ParamValues({{"m", "2"}, {"n", "3"}, {"dtype", "bf16"}});
}

ParamValues One(const std::string& name, const std::string& value) {
  std::map<std::string, std::string> values;
  values[name] = value;
  return ParamValues(std::move(values));
}

TEST(Evaluate, MultipliesPowersAndAddsTerms) {
  const CostSum sum = {{.coefficient = 2, .exponents = {{"m", 3}, {"n", 1}}},
                       {.coefficient = 5}};

  EXPECT_DOUBLE_EQ(Evaluate(sum, Params()), 2 * 8 * 3 + 5);
}

TEST(Evaluate, CountsDtypeAsBytesOfAnElement) {
  const CostSum sum = {{.coefficient = 1, .exponents = {{"dtype", 1}}}};

  EXPECT_DOUBLE_EQ(Evaluate(sum, Params()), 2);
  EXPECT_DOUBLE_EQ(Evaluate(sum, One("dtype", "fp32")), 4);
  EXPECT_DOUBLE_EQ(Evaluate(sum, One("dtype", "tf32")), 4);
}

TEST(Evaluate, LeavesOutTermsOfOtherChoices) {
  const CostSum sum = {
      {.coefficient = 1, .only_if = {{"dtype", "bf16"}}},
      {.coefficient = 10, .only_if = {{"dtype", "fp32"}}},
  };

  EXPECT_DOUBLE_EQ(Evaluate(sum, Params()), 1);
}

TEST(Evaluate, TermsMayBeOfOneVariant) {
  const CostSum sum = {{.coefficient = 1, .only_if = {{"variant", "eager"}}},
                       {.coefficient = 10, .only_if = {{"variant", "fused"}}}};

  EXPECT_DOUBLE_EQ(Evaluate(sum, CostInputs({.variant = "fused"})), 10);
}

TEST(Evaluate, OfNothingIsZero) {
  EXPECT_DOUBLE_EQ(Evaluate(CostSum(), Params()), 0);
}

TEST(Evaluate, HugeProductsStayNumbers) {
  const CostSum sum = {{.coefficient = 1e300, .exponents = {{"n", 8}}}};

  EXPECT_TRUE(std::isfinite(Evaluate(sum, Params())));
  EXPECT_DOUBLE_EQ(Evaluate(sum, One("n", "9223372036854775807")), INFINITY);
}

TEST(Cost, ComesBackFromJson) {
  Cost cost = SampleDescription().workloads[0].cost;
  cost.ops.push_back({.coefficient = 0.5, .only_if = {{"dtype", "bf16"}}});

  EXPECT_THAT(CostFromJson(ToJson(cost)), IsOkAndHolds(cost));
}

TEST(Cost, AnAbsentSumIsEmpty) {
  EXPECT_THAT(CostFromJson(json::object()), IsOkAndHolds(Cost()));
}

TEST(Cost, FaultsHaveTheirPath) {
  EXPECT_THAT(CostFromJson(json{{"flops", {{{"exponents", {{"n", 1}}}}}}}),
              HasViolation("flops[0].coefficient"));
  EXPECT_THAT(
      CostFromJson(
          json{{"ops", {{{"coefficient", 1}, {"exponents", {{"n", 1000}}}}}}}),
      HasViolation("ops[0].exponents[n]"));
  EXPECT_THAT(CostFromJson(json{{"bytes", 5}}), HasViolation("bytes"));
}

}  // namespace
}  // namespace traza
