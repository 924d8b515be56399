// SPDX-License-Identifier: Apache-2.0
#include "base/suggest.h"

#include "gtest/gtest.h"

namespace traza {
namespace {

const std::vector<std::string>& Commands() {
  static const auto& commands = *new std::vector<std::string>{
      "run", "jobs", "job", "download", "explain", "devices"};
  return commands;
}

TEST(Suggest, FindsSwappedLetters) {
  EXPECT_EQ(Suggest("rnu", Commands()), "run");
}

TEST(Suggest, FindsTheWholeOfABeginning) {
  EXPECT_EQ(Suggest("down", Commands()), "download");
}

TEST(Suggest, FindsWhatHasOneLetterMore) {
  EXPECT_EQ(Suggest("explains", Commands()), "explain");
}

TEST(Suggest, IgnoresCase) { EXPECT_EQ(Suggest("JOBS", Commands()), "jobs"); }

TEST(Suggest, StaysSilentWhenNothingIsNear) {
  EXPECT_EQ(Suggest("frobnicate", Commands()), "");
  EXPECT_EQ(Suggest("", Commands()), "");
  EXPECT_EQ(Suggest(std::string(10'000'000, 'x'), Commands()), "");
}

}  // namespace
}  // namespace traza
