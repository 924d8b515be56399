// SPDX-License-Identifier: Apache-2.0
#include "client/term/progress_line.h"

#include <sstream>

#include "gtest/gtest.h"

#include "tests/support/fake_clock.h"

namespace traza {
namespace {

class ProgressLineTest : public testing::Test {
 protected:
  std::ostringstream out_;
  std::ostringstream err_;
  Console console_{.out = out_, .err = err_};
  FakeClock clock_;
};

TEST_F(ProgressLineTest, WritesALineForEachPhaseWithoutATerminal) {
  ProgressLine progress(console_, clock_);

  progress.Show("setup", "setup");
  progress.Show("traced", "traced 0/500");
  progress.Show("traced", "traced 120/500");
  progress.Show("store", "store");

  EXPECT_EQ(err_.str(), "setup\ntraced 0/500\nstore\n");
}

TEST_F(ProgressLineTest, WritesALineEveryTenSecondsOfALongPhase) {
  ProgressLine progress(console_, clock_);

  progress.Show("traced", "traced 0/500");
  clock_.Advance(absl::Seconds(11));
  progress.Show("traced", "traced 120/500");
  clock_.Advance(absl::Seconds(11));
  progress.Show("traced", "traced 120/500");

  EXPECT_EQ(err_.str(), "traced 0/500\ntraced 120/500\n");
}

TEST_F(ProgressLineTest, RewritesTheLineOnATerminal) {
  console_.err_is_terminal = true;
  {
    ProgressLine progress(console_, clock_);
    progress.Show("traced", "traced 0/500");
    clock_.Advance(absl::Milliseconds(10));
    progress.Show("traced", "traced 10/500");
    clock_.Advance(absl::Milliseconds(50));
    progress.Show("traced", "traced 120/500");
  }

  EXPECT_EQ(err_.str(), "\r\033[Ktraced 0/500\r\033[Ktraced 120/500\r\033[K");
}

TEST_F(ProgressLineTest, CutsTheLineToTheTerminal) {
  console_.err_is_terminal = true;
  console_.err_width = 10;
  ProgressLine progress(console_, clock_);

  progress.Show("traced", "traced 120/500");

  EXPECT_EQ(err_.str(), "\r\033[Ktraced 1\u2026");
}

TEST_F(ProgressLineTest, WritesLinesToADumbTerminal) {
  console_.err_is_terminal = true;
  console_.dumb_terminal = true;
  ProgressLine progress(console_, clock_);

  progress.Show("setup", "setup");

  EXPECT_EQ(err_.str(), "setup\n");
}

TEST_F(ProgressLineTest, IsSilentWhenQuiet) {
  console_.verbosity = -1;
  ProgressLine progress(console_, clock_);

  progress.Show("setup", "setup");
  progress.Say("connection lost");

  EXPECT_EQ(err_.str(), "");
}

TEST_F(ProgressLineTest, HoldsItsTongueWhileAQuestionIsOpen) {
  ProgressLine progress(console_, clock_);

  progress.Ask("Cancel? ");
  progress.Show("traced", "traced 0/500");
  progress.Resume();
  progress.Show("store", "store");

  EXPECT_EQ(err_.str(), "\nCancel? store\n");
}

TEST_F(ProgressLineTest, EscapesWhatATerminalWouldObey) {
  ProgressLine progress(console_, clock_);

  progress.Show("x", "x\033[2J");

  EXPECT_EQ(err_.str(), "x\\x1b[2J\n");
}

}  // namespace
}  // namespace traza
