// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/check.h"
#include "base/file.h"
#include "base/unique_fd.h"
#include "tests/support/temp_dir.h"

namespace traza {
namespace {

using testing::EndsWith;
using testing::IsEmpty;
using testing::MatchesRegex;

// Sends stderr to a file while it lives.
class Log : public testing::Test {
 protected:
  Log() : stderr_(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)) {
    const UniqueFd file =
        *OpenFile(dir_ / "log", O_WRONLY | O_CREAT | O_APPEND);
    TRAZA_CHECK(::dup2(file.get(), STDERR_FILENO) == STDERR_FILENO);
  }
  ~Log() override {
    TRAZA_CHECK(::dup2(stderr_.get(), STDERR_FILENO) == STDERR_FILENO);
    SetLogLevel(LogLevel::kInfo);
  }

  std::string text() const { return *ReadFile(dir_ / "log", 1 << 20); }

 private:
  TempDir dir_;
  UniqueFd stderr_;
};

TEST_F(Log, ALineHasTimeLevelAndMessage) {
  LogWarning("disk ", 93, " % full");

  EXPECT_THAT(text(),
              MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:"
                           "[0-9]{2}\\.[0-9]{3}Z W disk 93 % full\n"));
}

TEST_F(Log, AHostileMessageStaysOnOneLine) {
  LogInfo("last words: a\nE forged\x1b[2J");

  EXPECT_THAT(text(), EndsWith("I last words: a\\nE forged\\x1b[2J\n"));
}

TEST_F(Log, LinesBelowTheLevelAreDropped) {
  LogDebug("hidden");
  SetLogLevel(LogLevel::kError);
  LogWarning("hidden too");

  EXPECT_THAT(text(), IsEmpty());
}

TEST_F(Log, LinesFromTheLevelUpAreWritten) {
  SetLogLevel(LogLevel::kDebug);
  LogDebug("shown");

  EXPECT_THAT(text(), EndsWith("Z D shown\n"));
}

TEST(ParseLogLevel, KnowsFourNames) {
  LogLevel level = LogLevel::kInfo;

  EXPECT_TRUE(ParseLogLevel("debug", &level));
  EXPECT_EQ(level, LogLevel::kDebug);
  EXPECT_TRUE(ParseLogLevel("error", &level));
  EXPECT_EQ(level, LogLevel::kError);
}

TEST(ParseLogLevel, LeavesTheLevelAloneOnOtherNames) {
  LogLevel level = LogLevel::kWarning;

  EXPECT_FALSE(ParseLogLevel("DEBUG", &level));
  EXPECT_FALSE(ParseLogLevel("", &level));
  EXPECT_EQ(level, LogLevel::kWarning);
}

TEST(CheckDeathTest, ABrokenInvariantNamesItsPlace) {
  EXPECT_DEATH(TRAZA_CHECK(1 + 1 == 3),
               "log_test.cc:[0-9]+: check failed: 1 \\+ 1 == 3");
}

}  // namespace
}  // namespace traza
