// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/op_cost.h"

#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace traza {
namespace {

std::optional<OpCost> Cost(absl::string_view op, absl::string_view shapes,
                           absl::string_view dtypes) {
  const auto inputs = ParseShapes(shapes, dtypes);
  return inputs.has_value() ? CostOf(op, *inputs) : std::nullopt;
}

TEST(OpCost, AProductReadsBothAndWritesOne) {
  const auto cost = Cost("aten::mm", "[[4096,4096],[4096,4096]]",
                         "c10::BFloat16,c10::BFloat16");

  ASSERT_TRUE(cost.has_value());
  EXPECT_EQ(cost->flops, 2. * 4096 * 4096 * 4096);
  EXPECT_EQ(cost->bytes, 3. * 4096 * 4096 * 2);
  EXPECT_EQ(cost->type, KernelType::kBf16);
}

TEST(OpCost, WhatIsAddedIsReadToo) {
  const auto cost = Cost("aten::addmm", "[[64],[1024,32],[32,64],[],[]]",
                         "float,float,float,Scalar,Scalar");

  ASSERT_TRUE(cost.has_value());
  EXPECT_EQ(cost->flops, 2. * 1024 * 32 * 64 + 1024 * 64);
  EXPECT_EQ(cost->bytes, 4. * (64 + 1024 * 32 + 32 * 64 + 1024 * 64));
}

TEST(OpCost, BatchesMultiply) {
  const auto cost =
      Cost("aten::bmm", "[[128,1024,64],[128,64,1024]]", "Half,Half");

  ASSERT_TRUE(cost.has_value());
  EXPECT_EQ(cost->flops, 2. * 128 * 1024 * 64 * 1024);
  EXPECT_EQ(cost->bytes, 2. * (2 * 128 * 1024 * 64 + 128. * 1024 * 1024));
}

TEST(OpCost, ElementwiseWorkIsOneOperationAnElement) {
  const auto cost =
      Cost("aten::mul", "[[8192,3072],[8192,3072]]", "BFloat16,BFloat16");

  ASSERT_TRUE(cost.has_value());
  EXPECT_EQ(cost->flops, 8192. * 3072);
  EXPECT_EQ(cost->bytes, 3 * 50'331'648.);
}

TEST(OpCost, AttentionHasTwoProductsOfEachPair) {
  const auto cost =
      Cost("aten::_flash_attention_forward",
           "[[8,16,1024,64],[8,16,1024,64],[8,16,1024,64]]", "Half,Half,Half");

  ASSERT_TRUE(cost.has_value());
  EXPECT_EQ(cost->flops, 4. * 8 * 16 * 1024 * 1024 * 64);
}

TEST(OpCost, UnknownTypesAndOperatorsHaveNone) {
  EXPECT_FALSE(Cost("aten::mm", "[[2,2],[2,2]]", "").has_value());
  EXPECT_FALSE(Cost("aten::mm", "[[2],[2]]", "float,float").has_value());
  EXPECT_FALSE(Cost("aten::topk", "[[2,2]]", "float").has_value());
  EXPECT_FALSE(Cost("my::mm", "[[2,2],[2,2]]", "float,float").has_value());
}

TEST(ParseShapes, HostileTextIsNone) {
  for (const std::string& text :
       {std::string(), std::string("["), std::string("]"), std::string("[["),
        std::string("[[1,2]"), std::string("[[1,2],"), std::string("[[a]]"),
        std::string("[[-1]]"), std::string("[[[1],[2]]]"),
        std::string("[[99999999999999999999]]"), std::string("[[1]][2]"),
        std::string(1 << 20, '['), "[[" + std::string(100'000, '1') + "]]"}) {
    EXPECT_FALSE(ParseShapes(text, "").has_value()) << text.substr(0, 20);
  }
  std::string many = "[[1]";
  for (int i = 0; i < 100'000; ++i) many += ",[1]";
  EXPECT_FALSE(ParseShapes(many + "]", "").has_value());
}

TEST(ParseShapes, SizesThatOverflowAnIntegerDoNot) {
  const auto inputs = ParseShapes(
      "[[9223372036854775807,9223372036854775807],[0,5]]", "float,float");

  ASSERT_TRUE(inputs.has_value());
  EXPECT_GT(ElementsOf((*inputs)[0]), 8e37);
  EXPECT_EQ(ElementsOf((*inputs)[1]), 0);
}

}  // namespace
}  // namespace traza
