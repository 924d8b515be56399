// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.h"

#include <string>

#include "gtest/gtest.h"

namespace traza {
namespace {

class Malformed : public testing::TestWithParam<const char*> {};

TEST_P(Malformed, IsNotUtf8AndCanBeMendedAndEscaped) {
  const std::string bytes = GetParam();

  EXPECT_FALSE(IsValidUtf8(bytes));
  EXPECT_TRUE(IsValidUtf8(ToValidUtf8(bytes)));
  EXPECT_TRUE(IsValidUtf8(EscapeControlCharacters(bytes)));
}

INSTANTIATE_TEST_SUITE_P(
    All, Malformed,
    testing::Values("\xff", "\x80", "a\xC3", "\xC0\xAF" /* overlong */,
                    "\xE0\x80\xAF", "\xED\xA0\x80" /* surrogate */,
                    "\xF4\x90\x80\x80" /* above U+10FFFF */, "\xF8\x88\x80\x80",
                    "\xE2\x82", "\xF0\x9F\x98"));

TEST(IsValidUtf8, AcceptsOneToFourBytes) {
  EXPECT_TRUE(IsValidUtf8(""));
  EXPECT_TRUE(IsValidUtf8("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"));
}

TEST(ToValidUtf8, ReplacesEachBadByte) {
  EXPECT_EQ(ToValidUtf8("a\xff\xC3\xA9\x80"),
            "a\xEF\xBF\xBD\xC3\xA9\xEF\xBF\xBD");
}

TEST(HasControlCharacters, FindsC0C1AndDel) {
  EXPECT_TRUE(HasControlCharacters("a\nb"));
  EXPECT_TRUE(HasControlCharacters("a\x7f"));
  EXPECT_TRUE(HasControlCharacters("a\xC2\x9B"));
  EXPECT_FALSE(HasControlCharacters("a \xC3\xA9"));
}

TEST(EscapeControlCharacters, LeavesNoTerminalSequence) {
  EXPECT_EQ(EscapeControlCharacters("a\n\t\x1b[31m\xC2\x9B\xff"),
            "a\\n\\t\\x1b[31m\\xc2\\x9b\\xff");
}

TEST(Quoted, CutsAndMarksTheCut) {
  EXPECT_EQ(Quoted("abc"), "\"abc\"");
  EXPECT_EQ(Quoted("abcdef", 3), "\"abc\"...");
  EXPECT_EQ(Quoted("a\nb"), "\"a\\nb\"");
}

TEST(CutUtf8, NeverCutsACharacterInTwo) {
  const std::string text = "a\xF0\x9F\x98\x80";

  EXPECT_EQ(CutUtf8(text, 5), text);
  EXPECT_EQ(CutUtf8(text, 4), "a");
  EXPECT_EQ(CutUtf8(text, 2), "a");
  EXPECT_EQ(CutUtf8(text, 1), "a");
  EXPECT_EQ(CutUtf8(text, 0), "");
}

TEST(CutUtf8, CutsBytesThatAreNoText) {
  const std::string bytes(100, '\x80');

  EXPECT_EQ(CutUtf8(bytes, 50).size(), 50);
}

}  // namespace
}  // namespace traza
