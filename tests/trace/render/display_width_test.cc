// SPDX-License-Identifier: Apache-2.0
#include "trace/render/display_width.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "trace/render/render.h"

namespace traza {
namespace {

using testing::ElementsAre;

TEST(DisplayWidth, CountsColumnsAndNotBytes) {
  EXPECT_EQ(DisplayWidth(""), 0);
  EXPECT_EQ(DisplayWidth("aten::mm"), 8);
  EXPECT_EQ(DisplayWidth("naïve"), 5);
  EXPECT_EQ(DisplayWidth("矩阵"), 4);
  EXPECT_EQ(DisplayWidth("e\xCC\x81"), 1) << "e with a combining accent";
  EXPECT_EQ(DisplayWidth("\xF0\x9F\x94\xA5"), 2) << "an emoji";
}

TEST(DisplayWidth, AMalformedByteTakesAColumn) {
  EXPECT_EQ(DisplayWidth("\xff\xfe"), 2);
  EXPECT_EQ(DisplayWidth("\xE7\x9F"), 2) << "a cut character";
}

TEST(CutMiddle, KeepsBothEnds) {
  EXPECT_EQ(CutMiddle("short", 10), "short");
  EXPECT_EQ(CutMiddle("0123456789", 10), "0123456789");
  EXPECT_EQ(CutMiddle("0123456789", 9), "012...789");
  EXPECT_EQ(CutMiddle("0123456789", 8), "012...89");
  EXPECT_EQ(CutMiddle("0123456789", 2), "01");
  EXPECT_EQ(CutMiddle("0123456789", 0), "");
}

TEST(CutMiddle, NeverCutsACharacterInTwo) {
  const std::string text = "矩阵乘法矩阵乘法";  // 16 columns
  for (int width = 0; width < 16; ++width) {
    const std::string cut = CutMiddle(text, width);
    EXPECT_LE(DisplayWidth(cut), width);
    EXPECT_EQ(cut.find('\xff'), std::string::npos);
  }
  EXPECT_EQ(CutMiddle(text, 11), "矩阵...乘法");
}

TEST(Pad, FillsUpToTheWidth) {
  EXPECT_EQ(PadLeft("矩", 4), "  矩");
  EXPECT_EQ(PadRight("ab", 4), "ab  ");
  EXPECT_EQ(PadLeft("too long", 3), "too long");
}

TEST(WrapWords, BreaksAtSpaces) {
  EXPECT_THAT(WrapWords("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(WrapWords("one two three", 0), ElementsAre("one two three"));
  EXPECT_THAT(WrapWords("incomprehensible a b", 5),
              ElementsAre("incomprehensible", "a b"));
  EXPECT_THAT(WrapWords("", 5), ElementsAre(""));
}

}  // namespace
}  // namespace traza
