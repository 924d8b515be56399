// SPDX-License-Identifier: Apache-2.0
#include "base/escape_lines.h"

#include "gtest/gtest.h"

namespace traza {
namespace {

TEST(EscapeLines, ALineStaysAsItIs) {
  EXPECT_EQ(EscapeLines("no memory", 4), "no memory");
  EXPECT_EQ(EscapeLines("", 4), "");
}

TEST(EscapeLines, LaterLinesAreIndented) {
  EXPECT_EQ(EscapeLines("The model threw: boom\n  at line 9\n\nboom\n", 4),
            "The model threw: boom\n      at line 9\n    boom");
}

TEST(EscapeLines, NothingReachesTheTerminalAsACommand) {
  EXPECT_EQ(EscapeLines("a\033[2J\r\nb\tc", 2), "a\\x1b[2J\\x0d\n  b\\tc");
}

}  // namespace
}  // namespace traza
