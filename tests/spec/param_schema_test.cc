// SPDX-License-Identifier: Apache-2.0
#include "spec/param_schema.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "tests/support/sample_description.h"
#include "tests/support/status_matchers.h"

namespace traza {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

std::vector<ParamSchema> Schema() {
  return SampleDescription().workloads[0].params;
}

TEST(ParamSchema, ComesBackFromJson) {
  for (const ParamSchema& schema : Schema()) {
    EXPECT_THAT(ParamSchemaFromJson(ToJson(schema)), IsOkAndHolds(schema));
  }
}

TEST(ParamSchema, KeepsWhatNeedsAGpu) {
  ParamSchema schema = Schema()[1];
  schema.gpu_only = {{"bf16", "Slow."}};

  EXPECT_THAT(ParamSchemaFromJson(ToJson(schema)), IsOkAndHolds(schema));
}

TEST(ParamSchema, WhatNeedsAGpuIsAChoiceAndNotTheDefaultOfTheCpu) {
  json document = ToJson(Schema()[1]);

  document["gpu_only"] = {{"fp8", "?"}};
  EXPECT_THAT(ParamSchemaFromJson(document), HasViolation("gpu_only"));
  document["gpu_only"] = {{"fp32", "?"}};
  EXPECT_THAT(ParamSchemaFromJson(document), HasViolation("default_cpu"));
}

TEST(FillParams, RefusesOnTheCpuWhatNeedsAGpu) {
  std::vector<ParamSchema> schema = Schema();
  schema[1].gpu_only = {{"fp16", "The CPU has no such product."}};
  std::vector<FieldViolation> violations;

  FillParams(schema, /*on_cpu=*/false, {{"dtype", "fp16"}}, &violations);
  EXPECT_THAT(violations, IsEmpty());
  FillParams(schema, /*on_cpu=*/true, {{"dtype", "fp16"}}, &violations);
  EXPECT_THAT(violations,
              ElementsAre(Field(
                  &FieldViolation::description,
                  "\"fp16\" needs a GPU: The CPU has no such product. On the "
                  "CPU it is one of: fp32, bf16")));
}

struct BadField {
  std::string name;
  json value;
};

class BadParamSchema : public testing::TestWithParam<BadField> {};

TEST_P(BadParamSchema, NamesTheField) {
  json document = ToJson(Schema()[0]);
  document[GetParam().name] = GetParam().value;

  EXPECT_THAT(ParamSchemaFromJson(document),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasViolation(GetParam().name)));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadParamSchema,
    testing::Values(BadField{"name", ""}, BadField{"name", "variant"},
                    BadField{"name", "device"}, BadField{"name", "Size"},
                    BadField{"name", "1size"}, BadField{"name", "a]"},
                    BadField{"type", "float"}, BadField{"min", 1.5},
                    BadField{"min", 65537}, BadField{"default_gpu", "0"},
                    BadField{"default_cpu", "x"}, BadField{"default_cpu", 16}));

TEST(ParamSchema, AChoiceNeedsChoicesThatHoldItsDefaults) {
  json document = ToJson(Schema()[1]);
  document["choices"] = json::array();
  EXPECT_THAT(ParamSchemaFromJson(document), HasViolation("choices"));

  document["choices"] = {"bf16"};
  EXPECT_THAT(ParamSchemaFromJson(document), HasViolation("default_cpu"));
}

TEST(FillParams, OfAWrongChoiceOnTheCpuItNamesThoseThatRunThere) {
  std::vector<ParamSchema> schema = Schema();
  schema[1].gpu_only = {{"fp16", "The CPU has no such product."}};
  std::vector<FieldViolation> violations;

  FillParams(schema, /*on_cpu=*/true, {{"dtype", "fp8"}}, &violations);

  ASSERT_EQ(violations.size(), 1u);
  EXPECT_EQ(violations[0].description.find("fp16"), std::string::npos)
      << violations[0].description;
}

TEST(FillParams, DefaultsDependOnTheDevice) {
  std::vector<FieldViolation> violations;

  EXPECT_THAT(FillParams(Schema(), false, {}, &violations),
              ElementsAre(Pair("dtype", "bf16"), Pair("size", "64")));
  EXPECT_THAT(FillParams(Schema(), true, {}, &violations),
              ElementsAre(Pair("dtype", "fp32"), Pair("size", "16")));
  EXPECT_THAT(violations, IsEmpty());
}

TEST(FillParams, GivenValuesAreKeptInOneSpelling) {
  std::vector<FieldViolation> violations;

  EXPECT_THAT(FillParams(Schema(), true, {{"size", "0128"}}, &violations),
              ElementsAre(Pair("dtype", "fp32"), Pair("size", "128")));
  EXPECT_THAT(violations, IsEmpty());
}

class BadSize : public testing::TestWithParam<std::string> {};

TEST_P(BadSize, IsAViolationWithTheRange) {
  std::vector<FieldViolation> violations;

  FillParams(Schema(), true, {{"size", GetParam()}}, &violations);

  EXPECT_THAT(
      violations,
      ElementsAre(testing::AllOf(
          Field(&FieldViolation::field, "params[size]"),
          Field(&FieldViolation::description, HasSubstr("from 1 to 65536")))));
}

INSTANTIATE_TEST_SUITE_P(All, BadSize,
                         testing::Values("", "0", "-1", "65537", "1.0", "1e3",
                                         "0x10", " 5", "5 ", "+5", "--5", "-",
                                         "99999999999999999999", "five",
                                         std::string("5\0", 2), "\xff"));

TEST(FillParams, AnUnknownNameListsTheKnownOnes) {
  std::vector<FieldViolation> violations;

  FillParams(Schema(), true, {{"sise", "5"}}, &violations);

  EXPECT_THAT(
      violations,
      ElementsAre(testing::AllOf(
          Field(&FieldViolation::field, "params[sise]"),
          Field(&FieldViolation::description, HasSubstr("size, dtype")))));
}

TEST(FillParams, AWrongChoiceListsTheChoices) {
  std::vector<FieldViolation> violations;

  FillParams(Schema(), true, {{"dtype", "fp8"}}, &violations);

  EXPECT_THAT(violations, ElementsAre(Field(&FieldViolation::description,
                                            HasSubstr("fp32, bf16, fp16"))));
}

TEST(FillParams, AHugeValueIsNotRepeated) {
  std::vector<FieldViolation> violations;

  FillParams(
      Schema(), true,
      {{"size", std::string(10 << 20, '7')}, {std::string(10 << 20, 'n'), "x"}},
      &violations);

  ASSERT_EQ(violations.size(), 2);
  for (const FieldViolation& violation : violations) {
    EXPECT_LT(violation.field.size() + violation.description.size(), 400);
  }
}

TEST(ParamValues, GiveTypedValues) {
  const ParamValues values({{"size", "64"}, {"dtype", "bf16"}});

  EXPECT_EQ(values.Int("size"), 64);
  EXPECT_EQ(values.Choice("dtype"), "bf16");
}

TEST(ParamValuesDeathTest, AMissingParameterIsABrokenInvariant) {
  EXPECT_DEATH(ParamValues().Int("size"), "check failed");
}

}  // namespace
}  // namespace traza
