// SPDX-License-Identifier: Apache-2.0
#include "client/cli/command_tree.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/client/cli/cli_fixture.h"
#include "tests/client/cli/golden.h"

namespace traza {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class CommandTreeTest : public CliTest {};

struct Usage {
  std::string name;
  std::vector<std::string> words;
  std::string says;
};

class WrongUsage : public CommandTreeTest,
                   public testing::WithParamInterface<Usage> {};

TEST_P(WrongUsage, ExitsWith2AndSaysWhatIsWrong) {
  EXPECT_EQ(Run(GetParam().words), 2);
  EXPECT_EQ(out_, "");
  EXPECT_THAT(err_, StartsWith("traza: "));
  EXPECT_THAT(err_, HasSubstr(GetParam().says));
  EXPECT_TRUE(daemon_.calls().names.empty());
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongUsage,
    testing::Values(
        Usage{"NoCommand", {}, "Which command?"},
        Usage{"UnknownCommand", {"rnu"}, "Did you mean run?"},
        Usage{"UnknownCommandBeforeAKnownOne", {"rnu", "jobs"}, "rnu"},
        Usage{"UnknownOption", {"run", "--detahc"}, "Did you mean --detach?"},
        Usage{"UnknownGlobalOption", {"jobs", "--sever=x"}, "--server?"},
        Usage{"UnknownShortOption", {"jobs", "-z"}, "unknown option -z"},
        Usage{"MissingPositional", {"job"}, "ID is required"},
        Usage{"WordTooMuch", {"job", "a", "b"}, "unexpected word b"},
        Usage{"SecondCommand", {"jobs", "run"}, "unexpected word run"},
        Usage{"OptionWithoutValue", {"run", "w", "-p"}, "-p"},
        Usage{"EmptyAssignment", {"run", "--device=", "w"}, "has no value"},
        Usage{"EmptyValue", {"run", "--device", "", "w"}, "is empty"},
        Usage{"NoPair", {"run", "w", "-p", "size"}, "is not KEY=VALUE"},
        Usage{"EmptyKey", {"run", "w", "-p", "=1"}, "is not KEY=VALUE"},
        Usage{"PairTwice", {"run", "w", "-p", "a=1", "-p", "a=2"}, "twice"},
        Usage{
            "ValueTwice", {"run", "w", "--seed", "1", "--seed", "2"}, "twice"},
        Usage{
            "NoNumber", {"run", "w", "--traced-steps", "many"}, "1 to 1000000"},
        Usage{"ZeroSteps", {"run", "w", "--traced-steps", "0"}, "1 to 1000000"},
        Usage{"TooManySteps",
              {"run", "w", "--timed-steps", "1000001"},
              "1 to 1000000"},
        Usage{"HexNumber", {"run", "w", "--seed", "0x10"}, "--seed"},
        Usage{"HugeNumber",
              {"run", "w", "--seed", "99999999999999999999"},
              "--seed"},
        Usage{"BadWarmup", {"run", "w", "--warmup", "some"}, "neither auto"},
        Usage{"BadDepth", {"run", "w", "--depth", "op"}, "Did you mean ops?"},
        Usage{"BadDuration", {"run", "w", "--timeout", "5"}, "no duration"},
        Usage{"BadUnaryTimeout", {"--timeout", "soon", "jobs"}, "no duration"},
        Usage{
            "BadState", {"jobs", "--state", "runing"}, "Did you mean RUNNING?"},
        Usage{"ZeroLimit", {"jobs", "--limit", "0"}, "--limit"},
        Usage{"NegativeLimit", {"jobs", "--limit", "-1"}, "--limit"},
        Usage{"BadBy", {"table", "t", "--by", "ops"}, "Did you mean op?"},
        Usage{"BadJobName", {"job", "Jobs/../x"}, "is no job id"},
        Usage{"BadTraceName", {"explain", "a b"}, "is no trace id"},
        Usage{"NotUtf8", {"run", "w", "--device", "\xff\xfe"}, "not UTF-8"},
        Usage{"NotUtf8Workload", {"run", "\xff"}, "not UTF-8"},
        Usage{"EmptyWorkload", {"run", ""}, "WORKLOAD is empty"},
        Usage{"Sweep", {"run", "w", "--sweep", "size"}, "is not KEY=A,B,..."},
        Usage{"BadL2", {"run", "w", "--l2", "cold"}, "none of warm, flush"},
        Usage{"Expect",
              {"run", "--expect", "stable", "--expect", "b == 2", "w"},
              "there is no quantity"}),
    [](const auto& test) { return test.param.name; });

TEST_F(CommandTreeTest, AnAddressThatGrpcWouldAbortOnIsRefused) {
  EXPECT_EQ(RunAlone({"--server", "ho\nst:1", "jobs"}), 2);
  EXPECT_THAT(err_, HasSubstr("no server address"));
}

TEST_F(CommandTreeTest, PrintsTheVersion) {
  EXPECT_EQ(RunAlone({"--version"}), 0);
  EXPECT_THAT(out_, testing::MatchesRegex("traza [0-9.]+ \\([0-9a-z]+\\)\n"));
}

TEST_F(CommandTreeTest, HelpListsEveryCommand) {
  EXPECT_EQ(RunAlone({"--help"}), 0);
  ExpectGolden("help.txt", out_);
}

TEST_F(CommandTreeTest, HelpOfRunListsWhatExistsNow) {
  EXPECT_EQ(RunAlone({"help", "run"}), 0);
  ExpectGolden("help_run.txt", out_);
}

TEST_F(CommandTreeTest, GlobalOptionsMayFollowTheCommand) {
  daemon_.Set({.job = FakeJob(v1::JOB_STATE_SUCCEEDED)});

  EXPECT_EQ(
      RunAlone({"job", "j1", "--server", daemon_.address(), "--timeout", "5s"}),
      0)
      << err_;
}

}  // namespace
}  // namespace traza
