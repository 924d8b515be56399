// SPDX-License-Identifier: Apache-2.0
#include "server/options.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/file.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace traza {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Options : public ::testing::Test {
 protected:
  absl::StatusOr<DaemonOptions> Parse(std::vector<std::string> args) {
    absl::StatusOr<DaemonCommand> command =
        ParseDaemonOptions(args, environment_);
    if (!command.ok()) return command.status();
    return command->options;
  }

  std::string WriteConfig(const std::string& text) {
    const std::filesystem::path path = dir_.path() / "trazad.toml";
    EXPECT_TRUE(WriteFileAtomically(path, text).ok());
    return "--config=" + path.string();
  }

  std::string ErrorOf(std::vector<std::string> args) {
    const absl::StatusOr<DaemonOptions> options = Parse(std::move(args));
    EXPECT_EQ(options.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(options.status().message());
  }

  TempDir dir_;
  std::vector<std::string> environment_ = {"HOME=/home/someone"};
};

TEST_F(Options, DefaultsListenOnLoopbackOnly) {
  const absl::StatusOr<DaemonOptions> options = Parse({});

  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->listen.ToString(), "127.0.0.1:7719");
  EXPECT_EQ(options->http_listen.ToString(), "127.0.0.1:7720");
  EXPECT_EQ(options->standby_workers, 1);
  EXPECT_TRUE(options->measure_gpus);
  EXPECT_EQ(options->lease_dir, "/run/lock/traza");
}

TEST_F(Options, CompilingHasALimitThatIsNotZero) {
  EXPECT_EQ(Parse({})->compile_timeout, absl::Minutes(10));
  EXPECT_EQ(Parse({"--compile-timeout=90s"})->compile_timeout,
            absl::Seconds(90));
  EXPECT_FALSE(Parse({"--compile-timeout=0s"}).ok());
}

TEST_F(Options, AFlagBeatsTheEnvironmentWhichBeatsTheFile) {
  const std::string config = WriteConfig(
      "# a comment\nstandby-workers = 2\nmax-queued-jobs = 20\n"
      "data-dir = \"/from/file\"\n");
  environment_ = {"TRAZAD_STANDBY_WORKERS=3", "TRAZAD_MAX_QUEUED_JOBS=30"};

  const absl::StatusOr<DaemonOptions> options =
      Parse({config, "--standby-workers=4"});

  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->standby_workers, 4);
  EXPECT_EQ(options->jobs.max_queued_jobs, 30);
  EXPECT_EQ(options->data_dir, "/from/file");
}

TEST_F(Options, TheStateDirectoryOfTheServiceManagerIsTheDataFolder) {
  environment_ = {"STATE_DIRECTORY=/var/lib/elsewhere"};

  EXPECT_EQ(Parse({})->data_dir, "/var/lib/elsewhere");
}

TEST_F(Options, TheFolderOfLeasesIsASetting) {
  EXPECT_EQ(Parse({"--lease-dir=/elsewhere"})->lease_dir, "/elsewhere");
  EXPECT_FALSE(Parse({"--lease-dir="}).ok());
}

TEST_F(Options, SizesTakeUnits) {
  EXPECT_EQ(Parse({"--max-trace-bytes=3M"})->jobs.admission.max_trace_bytes,
            3 << 20);
}

TEST_F(Options, AnUnknownKeyIsAnErrorThatListsTheKnownOnes) {
  EXPECT_THAT(ErrorOf({WriteConfig("standby-worker = 2\n")}),
              AllOf(HasSubstr("trazad.toml: standby-worker"),
                    HasSubstr("standby-workers")));
}

TEST_F(Options, ASectionIsAnError) {
  EXPECT_THAT(ErrorOf({WriteConfig("[jobs]\nstandby-workers = 2\n")}),
              HasSubstr("section"));
}

TEST_F(Options, AnUnknownVariableIsAnError) {
  environment_ = {"TRAZAD_LISTENN=127.0.0.1:1"};

  EXPECT_THAT(ErrorOf({}), HasSubstr("TRAZAD_LISTENN"));
}

TEST_F(Options, ABadValueNamesWhereItStands) {
  environment_ = {"TRAZAD_STANDBY_WORKERS=many"};

  EXPECT_THAT(ErrorOf({}),
              AllOf(HasSubstr("TRAZAD_STANDBY_WORKERS"), HasSubstr("many")));
}

TEST_F(Options, AnUnknownFlagIsAnError) {
  EXPECT_THAT(ErrorOf({"--listne=1"}), HasSubstr("--listne"));
}

TEST_F(Options, TheLastOfAFlagCounts) {
  EXPECT_EQ(
      Parse({"--standby-workers=2", "--standby-workers=3"})->standby_workers,
      3);
}

TEST_F(Options, AMissingConfigurationFileIsAnError) {
  EXPECT_THAT(Parse({"--config=/nonexistent/trazad.toml"}).status(),
              testing::Not(IsOk()));
}

TEST_F(Options, AnAddressThatOthersCanReachNeedsAWord) {
  EXPECT_THAT(ErrorOf({"--listen=0.0.0.0:7719"}),
              HasSubstr("--insecure-listen"));
  EXPECT_TRUE(Parse({"--listen=0.0.0.0:7719", "--insecure-listen"}).ok());
}

TEST_F(Options, HelpAndVersionPrintAndStop) {
  for (const char* flag : {"--help", "--version"}) {
    const absl::StatusOr<DaemonCommand> command =
        ParseDaemonOptions({flag}, environment_);

    ASSERT_TRUE(command.ok()) << command.status();
    EXPECT_THAT(command->print.value_or(""), HasSubstr("trazad"));
  }
}

}  // namespace
}  // namespace traza
