// SPDX-License-Identifier: Apache-2.0
#include "worker/options.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"

namespace traza {
namespace {

using ::testing::HasSubstr;

TEST(ParseWorkerOptions, TakesTheModes) {
  EXPECT_EQ(ParseWorkerOptions({"--describe"})->mode, WorkerMode::kDescribe);
  EXPECT_EQ(ParseWorkerOptions({"--version"})->mode, WorkerMode::kPrintVersion);
  EXPECT_EQ(ParseWorkerOptions({"--help"})->mode, WorkerMode::kPrintHelp);
  EXPECT_EQ(ParseWorkerOptions({"--daemon", "--device", "cpu"})->mode,
            WorkerMode::kDaemon);
  EXPECT_EQ(ParseWorkerOptions({"--measure", "--device", "gpu0"})->mode,
            WorkerMode::kMeasure);
}

TEST(ParseWorkerOptions, StandbyGoesWithDaemon) {
  EXPECT_TRUE(
      ParseWorkerOptions({"--daemon", "--device=gpu1", "--standby"})->standby);
  EXPECT_THAT(ParseWorkerOptions({"--standby", "--describe"}),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(ParseWorkerOptions, SomethingIsMeasured) {
  EXPECT_FALSE(ParseWorkerOptions({"--measure"}).ok());
  EXPECT_FALSE(
      ParseWorkerOptions({"--measure", "--device", "gpu0", "--standby"}).ok());
}

TEST(ParseWorkerOptions, ADaemonSaysForWhichDevice) {
  EXPECT_EQ(ParseWorkerOptions({"--daemon", "--device", "gpu1"})->device,
            "gpu1");
  EXPECT_FALSE(ParseWorkerOptions({"--daemon"}).ok());
  EXPECT_FALSE(ParseWorkerOptions({"--device", "cpu", "--describe"}).ok());
}

TEST(ParseWorkerOptions, TakesValuesInBothSpellings) {
  const auto options = ParseWorkerOptions({"--spec", "a.json", "--out=b"});

  ASSERT_THAT(options, IsOk());
  EXPECT_EQ(options->mode, WorkerMode::kByHand);
  EXPECT_EQ(options->spec, "a.json");
  EXPECT_EQ(options->out, "b");
}

TEST(ParseWorkerOptions, TakesTheModelsFolderAndTheLimitOfCompiling) {
  const auto options =
      ParseWorkerOptions({"--daemon", "--device", "cpu", "--models",
                          "/data/models", "--compile-timeout=90s"});

  ASSERT_THAT(options, IsOk());
  EXPECT_EQ(options->models, "/data/models");
  EXPECT_EQ(options->compile_timeout, absl::Seconds(90));
  EXPECT_FALSE(
      ParseWorkerOptions({"--describe", "--compile-timeout", "0s"}).ok());
  EXPECT_FALSE(
      ParseWorkerOptions({"--describe", "--compile-timeout", "long"}).ok());
}

TEST(ParseWorkerOptions, NamesWhatIsUnknown) {
  const auto options = ParseWorkerOptions({"--spek", "a"});

  EXPECT_THAT(options, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(std::string(options.status().message()), HasSubstr("--spek"));
}

TEST(ParseWorkerOptions, WantsOneModeWhole) {
  EXPECT_FALSE(ParseWorkerOptions({}).ok());
  EXPECT_FALSE(ParseWorkerOptions({"--spec", "a"}).ok());
  EXPECT_FALSE(ParseWorkerOptions({"--out", "a"}).ok());
  EXPECT_FALSE(ParseWorkerOptions({"--spec"}).ok());
  EXPECT_FALSE(
      ParseWorkerOptions({"--daemon", "--device", "cpu", "--describe"}).ok());
  EXPECT_FALSE(ParseWorkerOptions(
                   {"--daemon", "--device", "cpu", "--spec", "a", "--out", "b"})
                   .ok());
}

}  // namespace
}  // namespace traza
