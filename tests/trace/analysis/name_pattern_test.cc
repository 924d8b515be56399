// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/name_pattern.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace traza {
namespace {

using testing::ElementsAre;

TEST(NamePattern, ARegexMatchesAnywhere) {
  const auto pattern = NamePattern::Regex("nvjet|gemm$");

  ASSERT_TRUE(pattern.ok());
  EXPECT_TRUE(pattern->Matches("void nvjet_sm90(int)"));
  EXPECT_TRUE(pattern->Matches("my_gemm"));
  EXPECT_FALSE(pattern->Matches("gemm_bias"));
}

TEST(NamePattern, APartAndAWholeAreNoRegex) {
  EXPECT_TRUE(NamePattern::Part("a.b(").Matches("xa.b(int)"));
  EXPECT_FALSE(NamePattern::Part("a.b(").Matches("xaxb(int)"));
  EXPECT_TRUE(NamePattern::Whole("aten::mm").Matches("aten::mm"));
  EXPECT_FALSE(NamePattern::Whole("aten::mm").Matches("aten::mm_out"));
}

TEST(NamePattern, WhatIsNoRegexIsRefused) {
  EXPECT_FALSE(NamePattern::Regex("(").ok());
  EXPECT_FALSE(NamePattern::Regex("*").ok());
  EXPECT_FALSE(NamePattern::Regex(R"((a)\1)").ok());
  // Would compile to more than is allowed.
  EXPECT_FALSE(NamePattern::Regex("((x{100}){100}){100}").ok());
}

// An engine that goes back would take 2^40 steps.
TEST(NamePattern, ANastyRegexTakesLinearTime) {
  const auto pattern = NamePattern::Regex("(a*)*(a|aa)+b$");

  ASSERT_TRUE(pattern.ok());
  EXPECT_FALSE(pattern->Matches(std::string(1'000'000, 'a')));
}

TEST(NamePattern, NamesThatAreNoUtf8Match) {
  const auto pattern = NamePattern::Regex("k.rnel");

  ASSERT_TRUE(pattern.ok());
  EXPECT_TRUE(pattern->Matches("k\xffrnel"));
}

TEST(NamePattern, AllNamesAreMatchedAtOnce) {
  NameTable names;
  names.Intern("gemm");
  names.Intern("add");
  names.Intern("gemm2");

  EXPECT_THAT(NamePattern::Part("gemm").MatchAll(names), ElementsAre(1, 0, 1));
}

}  // namespace
}  // namespace traza
