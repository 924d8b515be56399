// SPDX-License-Identifier: Apache-2.0
#include "spec/model_manifest.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "tests/support/status_matchers.h"

namespace traza {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Json = nlohmann::json;

Json Whole() {
  return Json::parse(R"({
    "name": "my_lm",
    "title": "A small language model.",
    "file": "my_lm.pt",
    "format": "torchscript",
    "range": "lm_fwd",
    "dims": {"batch": {"max": 64, "default": 8, "default_cpu": 2,
                       "unit": "sequences", "help": "Sequences."},
             "seq": {"min": 16, "max": 4096, "default": 512}},
    "inputs": [
      {"name": "ids", "shape": ["batch", "seq"], "dtype": "int64",
       "min": 0, "max": 31999},
      {"name": "scale", "shape": ["seq", 1], "dtype": "bf16"},
      {"name": "flag", "shape": [], "dtype": "bool"}],
    "tolerance": 0.02})");
}

// What is wrong with the manifest after `change`.
template <typename Change>
std::string FaultOf(Change change) {
  Json json = Whole();
  change(json);
  const auto manifest = ModelManifestFromJson(json.dump());
  EXPECT_THAT(manifest, StatusIs(absl::StatusCode::kInvalidArgument));
  return std::string(manifest.status().message());
}

TEST(ModelManifest, ReadsEveryField) {
  const auto manifest = ModelManifestFromJson(Whole().dump());

  ASSERT_THAT(manifest, IsOk());
  EXPECT_EQ(manifest->name, "my_lm");
  EXPECT_EQ(manifest->file, "my_lm.pt");
  EXPECT_EQ(manifest->format, ModelFormat::kTorchScript);
  EXPECT_EQ(manifest->range, "lm_fwd");
  ASSERT_EQ(manifest->inputs.size(), 3);
  EXPECT_EQ(manifest->inputs[0].tensor.max, 31999);
  EXPECT_EQ(manifest->tolerance, 0.02);
}

TEST(ModelManifest, AToleranceIsAShare) {
  EXPECT_THAT(FaultOf([](Json& json) { json["tolerance"] = 2; }),
              HasSubstr("from 0 to 1"));
  EXPECT_THAT(FaultOf([](Json& json) { json["tolerance"] = -0.1; }),
              HasSubstr("from 0 to 1"));
  EXPECT_THAT(FaultOf([](Json& json) { json["tolerance"] = "small"; }),
              HasSubstr("tolerance"));
}

TEST(ModelManifest, NeedsOnlyNameFileFormatAndInputs) {
  const auto manifest = ModelManifestFromJson(
      R"({"name": "m", "file": "m.pt2", "format": "aoti",
          "inputs": [{"name": "x", "shape": [4, 8], "dtype": "fp32"}]})");

  ASSERT_THAT(manifest, IsOk());
  EXPECT_EQ(manifest->range, "model_fwd");
  EXPECT_THAT(SchemaOf(*manifest).title, HasSubstr("m.pt2"));
}

TEST(ModelManifest, ShowsItsFileItsInputsAndItsTolerance) {
  EXPECT_EQ(SchemaOf(*ModelManifestFromJson(Whole().dump())).shows,
            "What one call of my_lm.pt does. Outputs within 0.02 of their norm "
            "count as the same. Its inputs, random by the seed: ids "
            "int64[batch,seq] of 0 to 31999, scale bf16[seq,1], flag bool[] of "
            "0 to 1.");
}

TEST(ModelManifest, BecomesAWorkloadWhoseDimensionsAreParameters) {
  const WorkloadSchema schema =
      SchemaOf(*ModelManifestFromJson(Whole().dump()));

  EXPECT_EQ(schema.name, "my_lm");
  EXPECT_EQ(schema.range, "lm_fwd");
  ASSERT_EQ(schema.variants.size(), 1);
  EXPECT_EQ(schema.variants[0].name, "torchscript");
  ASSERT_EQ(schema.params.size(), 2);
  EXPECT_EQ(schema.params[0].name, "batch");
  EXPECT_EQ(schema.params[0].min, 1);
  EXPECT_EQ(schema.params[0].max, 64);
  EXPECT_EQ(schema.params[0].default_gpu, "8");
  EXPECT_EQ(schema.params[0].default_cpu, "2");
  EXPECT_EQ(schema.params[1].default_cpu, "512");
}

TEST(ModelManifest, NeedsTheMemoryOfItsInputsAtLeast) {
  const Cost cost = SchemaOf(*ModelManifestFromJson(Whole().dump())).cost;

  EXPECT_EQ(
      Evaluate(cost.memory_bytes, ParamValues({{"batch", "3"}, {"seq", "20"}})),
      3 * 20 * 8 + 20 * 2 + 1);
}

TEST(ModelManifest, ADimensionThatIsThereTwiceCountsTwice) {
  Json json = Whole();
  json["inputs"][0]["shape"] = {"seq", "batch", "seq"};
  const Cost cost = SchemaOf(*ModelManifestFromJson(json.dump())).cost;

  EXPECT_EQ(Evaluate({cost.memory_bytes[0]},
                     ParamValues({{"batch", "3"}, {"seq", "20"}})),
            20 * 3 * 20 * 8);
}

TEST(ModelManifest, NamesOfTheJobItselfAreTaken) {
  for (const char* name : {"variant", "device"}) {
    EXPECT_THAT(FaultOf([name](Json& json) {
                  json["dims"][name] = {{"max", 4}, {"default", 2}};
                  json["inputs"][1]["shape"][1] = name;
                }),
                HasSubstr("is taken"));
  }
}

TEST(ModelManifest, WhatElseItCostsNobodyKnows) {
  const Cost cost = SchemaOf(*ModelManifestFromJson(Whole().dump())).cost;

  EXPECT_THAT(cost.flops, IsEmpty());
  EXPECT_THAT(cost.bytes, IsEmpty());
  EXPECT_THAT(cost.ops, IsEmpty());
}

TEST(ModelManifest, ParametersDecideTheShapes) {
  const auto manifest = ModelManifestFromJson(Whole().dump());

  const std::vector<TensorSpec> inputs =
      InputsOf(*manifest, ParamValues({{"batch", "3"}, {"seq", "20"}}));

  ASSERT_EQ(inputs.size(), 3);
  EXPECT_THAT(inputs[0].shape, ElementsAre(3, 20));
  EXPECT_THAT(inputs[1].shape, ElementsAre(20, 1));
  EXPECT_THAT(inputs[2].shape, IsEmpty());
  EXPECT_EQ(BytesOf(inputs), 3 * 20 * 8 + 20 * 2 + 1);
}

TEST(ModelManifest, NamesTheFieldThatIsMissing) {
  for (const char* field : {"name", "file", "format", "inputs"}) {
    EXPECT_THAT(FaultOf([&](Json& json) { json.erase(field); }),
                HasSubstr(field));
  }
  EXPECT_THAT(FaultOf([](Json& json) { json["inputs"][1].erase("shape"); }),
              HasSubstr("inputs[1].shape"));
  EXPECT_THAT(FaultOf([](Json& json) { json["dims"]["seq"].erase("max"); }),
              HasSubstr("dims.seq.max"));
}

TEST(ModelManifest, NamesTheFieldThatIsUnknown) {
  EXPECT_THAT(FaultOf([](Json& json) { json["formt"] = "aoti"; }),
              HasSubstr("formt"));
  EXPECT_THAT(FaultOf([](Json& json) { json["inputs"][0]["dims"] = 1; }),
              HasSubstr("inputs[0]"));
}

TEST(ModelManifest, NamesWhatAFieldCanBe) {
  EXPECT_THAT(FaultOf([](Json& json) { json["name"] = "My Model"; }),
              HasSubstr("[a-z]"));
  EXPECT_THAT(FaultOf([](Json& json) { json["name"] = "my.json"; }),
              HasSubstr("[a-z]"));
  EXPECT_THAT(FaultOf([](Json& json) { json["format"] = "onnx"; }),
              HasSubstr("onnx"));
  EXPECT_THAT(FaultOf([](Json& json) { json["inputs"][1]["dtype"] = "f32"; }),
              HasSubstr("fp32"));
  EXPECT_THAT(FaultOf([](Json& json) { json["inputs"] = Json::array(); }),
              HasSubstr("at least one"));
}

TEST(ModelManifest, DimensionsAreThereAndUsed) {
  EXPECT_THAT(FaultOf([](Json& json) { json["inputs"][0]["shape"][0] = "b"; }),
              HasSubstr("\"b\" is not in \"dims\""));
  EXPECT_THAT(FaultOf([](Json& json) {
                json["dims"]["heads"] = {{"max", 4}, {"default", 1}};
              }),
              HasSubstr("\"heads\" is in no shape"));
  EXPECT_THAT(FaultOf([](Json& json) { json["inputs"][1]["name"] = "ids"; }),
              HasSubstr("two inputs"));
}

TEST(ModelManifest, NumbersHaveLimits) {
  EXPECT_THAT(FaultOf([](Json& json) { json["inputs"][1]["shape"][1] = -1; }),
              HasSubstr("inputs[1].shape[1]"));
  EXPECT_THAT(FaultOf([](Json& json) { json["inputs"][1]["shape"][1] = 1.5; }),
              HasSubstr("inputs[1].shape[1]"));
  EXPECT_THAT(FaultOf([](Json& json) { json["dims"]["seq"]["default"] = 8; }),
              HasSubstr("from 16 to 4096"));
  EXPECT_THAT(FaultOf([](Json& json) { json["dims"]["seq"]["max"] = 1; }),
              HasSubstr("dims.seq.max"));
  EXPECT_THAT(FaultOf([](Json& json) { json["inputs"][0]["max"] = -1; }),
              HasSubstr("inputs[0].max"));
  EXPECT_THAT(FaultOf([](Json& json) { json["inputs"][1]["max"] = 3; }),
              HasSubstr("is for integers"));
}

TEST(ModelManifest, GarbageIsNone) {
  for (const char* text : {"", "{", "[]", "null", "7", "\"x\"", "{}"}) {
    EXPECT_THAT(ModelManifestFromJson(text),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << text;
  }
  EXPECT_THAT(ModelManifestFromJson(std::string(kMaxManifestBytes + 1, ' ')),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace traza
