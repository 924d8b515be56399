// SPDX-License-Identifier: Apache-2.0
#include "client/term/console.h"

#include <sstream>

#include "gtest/gtest.h"

namespace traza {
namespace {

class ConsoleTest : public testing::Test {
 protected:
  // Answers every question with `line`.
  void Answer(std::optional<std::string> line) {
    console_.in_is_terminal = true;
    console_.err_is_terminal = true;
    console_.read_line = [line] { return line; };
  }

  std::ostringstream out_;
  std::ostringstream err_;
  Console console_{.out = out_, .err = err_};
};

TEST_F(ConsoleTest, ConfirmsWithoutATerminalWithoutAsking) {
  EXPECT_TRUE(console_.Confirm("Delete?"));
  EXPECT_EQ(err_.str(), "");
}

TEST_F(ConsoleTest, ConfirmsOnYesWithoutAsking) {
  Answer("n");
  console_.yes = true;

  EXPECT_TRUE(console_.Confirm("Delete?"));
  EXPECT_EQ(err_.str(), "");
}

TEST_F(ConsoleTest, AsksOnATerminal) {
  Answer(" Yes ");

  EXPECT_TRUE(console_.Confirm("Delete?"));
  EXPECT_EQ(err_.str(), "Delete? [y/N] ");
}

TEST_F(ConsoleTest, TakesAnythingElseForNo) {
  Answer("");
  EXPECT_FALSE(console_.Confirm("Delete?"));
  Answer("yep");
  EXPECT_FALSE(console_.Confirm("Delete?"));
  Answer(std::nullopt);
  EXPECT_FALSE(console_.Confirm("Delete?"));
}

TEST_F(ConsoleTest, SaysNothingWhenQuiet) {
  console_.verbosity = -1;
  console_.Note("note");
  console_.Detail("detail");
  EXPECT_EQ(err_.str(), "");
}

TEST_F(ConsoleTest, SaysDetailsOnlyWhenVerbose) {
  console_.Detail("one");
  console_.verbosity = 1;
  console_.Detail("two");
  EXPECT_EQ(err_.str(), "two\n");
}

}  // namespace
}  // namespace traza
