// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "base/error.h"
#include "base/file.h"
#include "tests/client/cli/cli_fixture.h"
#include "tests/support/record_builder.h"
#include "tests/support/status_matchers.h"
#include "trace/file/parquet_file.h"

namespace traza {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class CheckTest : public CliTest {
 protected:
  std::string Write(const Trace& trace, const std::string& name) {
    const std::string path = (dir_ / name).native();
    EXPECT_THAT(WriteParquet(trace, path).status(), IsOk());
    return path;
  }

  // What a daemon says of "stable" and "kernels_per_step == 5".
  static v1::CheckTraceResponse Response(bool passed) {
    v1::CheckTraceResponse response;
    v1::CheckResult& stable = *response.add_results();
    stable.set_expression("stable");
    stable.set_outcome(v1::CHECK_OUTCOME_PASSED);
    stable.set_word("true");
    stable.set_message("stable is true, as expected: == true.");
    v1::CheckResult& kernels = *response.add_results();
    kernels.set_expression("kernels_per_step == 5");
    kernels.set_outcome(passed ? v1::CHECK_OUTCOME_PASSED
                               : v1::CHECK_OUTCOME_FAILED);
    kernels.mutable_number()->set_value(passed ? 5 : 6);
    kernels.mutable_number()->set_unit("count");
    kernels.set_message("kernels_per_step is 6, expected == 5.");
    response.set_passed(passed);
    return response;
  }

  // The daemon's trace is that of `path`.
  FakeReplies Serving(const std::string& path) {
    FakeReplies replies;
    replies.trace.set_name("traces/t1");
    replies.file = ReadFile(path, 1 << 24).value_or("");
    replies.trace.set_size_bytes(static_cast<int64_t>(replies.file.size()));
    replies.trace.set_sha256(FileSha256(path).value_or(""));
    return replies;
  }

  // A run that ends with an answer.
  static FakeReplies Runs() {
    FakeReplies replies;
    replies.created = FakeJob(v1::JOB_STATE_PENDING);
    replies.watches = {{FakeJob(v1::JOB_STATE_SUCCEEDED)}};
    replies.table.set_by(v1::TABLE_BY_OP);
    replies.answer.mutable_validity()->set_level(v1::VALIDITY_LEVEL_VALID);
    replies.answer.mutable_verdict()->set_kind(v1::VERDICT_KIND_CPU_ONLY);
    return replies;
  }

  TempDir dir_;
};

TEST_F(CheckTest, OfAFileNeedsNoDaemon) {
  const std::string path = Write(MakeCpuTrace(30), "a.parquet");

  EXPECT_EQ(RunAlone({"check", path, "--expect", "ops_per_step(aten::mm) == 1",
                      "--expect", "verdict == cpu-only"}),
            0)
      << err_;

  EXPECT_EQ(out_,
            "PASS     ops_per_step(aten::mm) == 1  (1)\n"
            "PASS     verdict == cpu-only  (cpu-only)\n"
            "Checks: 2 of 2 passed\n");
}

TEST_F(CheckTest, AFailureExitsWith1AndSaysWhy) {
  const std::string path = Write(MakeCpuTrace(30), "a.parquet");

  EXPECT_EQ(
      RunAlone({"check", path, "--expect", "ops_per_step(aten::mm) == 2"}), 1);

  EXPECT_THAT(out_,
              AllOf(HasSubstr("FAIL     ops_per_step(aten::mm) == 2  (1)\n"),
                    HasSubstr("ops_per_step(aten::mm) is 1, expected == 2."),
                    HasSubstr("Checks: 0 of 1 passed\n")));
}

TEST_F(CheckTest, WhatIsUnknownIsNoPass) {
  const std::string path = Write(MakeCpuTrace(30), "a.parquet");

  EXPECT_EQ(RunAlone({"check", path, "--expect", "kernels_per_step == 0"}), 1);

  EXPECT_THAT(out_, AllOf(HasSubstr("UNKNOWN  kernels_per_step == 0  (n/a)\n"),
                          HasSubstr("run on a GPU")));
}

TEST_F(CheckTest, AWrongExpressionExitsWith2) {
  const std::string path = Write(MakeCpuTrace(30), "a.parquet");

  EXPECT_EQ(RunAlone({"check", path, "--expect", "kernel_per_step == 0"}), 2);
  EXPECT_THAT(err_, HasSubstr("did you mean kernels_per_step?"));
  EXPECT_EQ(RunAlone({"check", path}), 2);
  EXPECT_THAT(err_, HasSubstr("--expect"));
  EXPECT_EQ(RunAlone({"check", "/no/such.parquet", "--expect", "stable"}), 2);
  EXPECT_EQ(
      RunAlone({"check", path, "--expect", "same_kernels(/no/such.parquet)"}),
      2);
  EXPECT_THAT(err_, HasSubstr("/no/such.parquet"));
  EXPECT_EQ(out_, "");
}

TEST_F(CheckTest, ABaselineMayBeAFile) {
  const std::string a = Write(MakeCpuTrace(30), "a.parquet");
  const std::string b = Write(MakeCpuTrace(20), "b (2).parquet");

  EXPECT_EQ(
      RunAlone({"check", a, "--expect",
                absl::StrCat("ops_per_step == baseline(", b, ")"), "--expect",
                absl::StrCat("step_time_p50 <= 1.5 * baseline('", b, "')")}),
      0)
      << out_ << err_;
}

TEST_F(CheckTest, OfATraceOfTheDaemonAsksTheDaemon) {
  daemon_.Set({.checks = Response(false)});

  EXPECT_EQ(Run({"check", "t1", "--expect", "stable", "--expect",
                 "kernels_per_step <= baseline(jobs/j7)"}),
            1);

  EXPECT_THAT(daemon_.calls().names, ElementsAre("CheckTrace"));
  EXPECT_EQ(daemon_.calls().check.name(), "traces/t1");
  EXPECT_THAT(daemon_.calls().check.expressions(),
              ElementsAre("stable", "kernels_per_step <= baseline(jobs/j7)"));
  EXPECT_THAT(out_, HasSubstr("Checks: 1 of 2 passed"));
}

TEST_F(CheckTest, JsonIsTheReply) {
  daemon_.Set({.checks = Response(true)});

  EXPECT_EQ(Run({"check", "t1", "--json", "--expect", "stable"}), 0);

  const auto json = nlohmann::json::parse(out_);
  EXPECT_EQ(json.at("passed"), true);
  EXPECT_EQ(json.at("results")[0].at("outcome"), "passed");
  EXPECT_EQ(json.at("results")[0].at("word"), "true");
  EXPECT_EQ(json.at("results")[1].at("number").at("value"), 5);
}

TEST_F(CheckTest, ATraceOfTheDaemonMeetsAFileHere) {
  const std::string path = Write(MakeCpuTrace(30), "a.parquet");
  daemon_.Set(Serving(path));

  EXPECT_EQ(Run({"check", "t1", "--expect",
                 absl::StrCat("ops_per_step == baseline(", path, ")")}),
            0)
      << out_ << err_;
  EXPECT_THAT(daemon_.calls().names, ElementsAre("GetTrace", "ReadTrace"));

  EXPECT_EQ(Run({"check", path, "--expect", "ops_per_step == baseline(t1)"}), 0)
      << out_ << err_;
}

TEST_F(CheckTest, RunPrintsTheChecksAfterTheAnswer) {
  FakeReplies replies = Runs();
  replies.checks = Response(false);
  daemon_.Set(replies);

  EXPECT_EQ(Run({"run", "matmul_add", "--expect", "stable", "--expect",
                 "kernels_per_step == 5"}),
            1)
      << err_;

  EXPECT_LT(out_.find("Verdict: "), out_.find("PASS     stable"));
  EXPECT_THAT(out_, HasSubstr("FAIL     kernels_per_step == 5  (6)\n"));
  EXPECT_EQ(daemon_.calls().check.name(), "traces/t1");
}

TEST_F(CheckTest, RunExitsWith0WhenAllPass) {
  FakeReplies replies = Runs();
  replies.checks = Response(true);
  daemon_.Set(replies);

  EXPECT_EQ(Run({"run", "matmul_add", "--json", "--expect", "stable"}), 0)
      << err_;

  const auto json = nlohmann::json::parse(out_);
  EXPECT_EQ(json.at("checks").at("passed"), true);
  EXPECT_EQ(json.at("checks").at("results").size(), 2u);
  EXPECT_EQ(json.at("answer").at("verdict").at("kind"), "cpu-only");
}

TEST_F(CheckTest, RunFindsAWrongExpressionBeforeTheJob) {
  daemon_.Set(Runs());

  EXPECT_EQ(Run({"run", "matmul_add", "--expect", "stable", "--expect",
                 "step_time_p50 < 3"}),
            2);
  EXPECT_THAT(
      err_, AllOf(HasSubstr("a unit is missing"), HasSubstr("expressions[1]")));
  EXPECT_EQ(
      Run({"run", "matmul_add", "--expect", "same_kernels(/no/such.parquet)"}),
      2);
  EXPECT_EQ(Run({"run", "matmul_add", "--detach", "--expect", "stable"}), 2);
  EXPECT_THAT(err_, HasSubstr("--detach"));
  EXPECT_THAT(daemon_.calls().names, IsEmpty());
}

TEST_F(CheckTest, OfAJobThatFailsThereAreNone) {
  FakeReplies replies = Runs();
  replies.watches = {{FakeJob(v1::JOB_STATE_FAILED)}};
  daemon_.Set(replies);

  EXPECT_EQ(Run({"run", "matmul_add", "--json", "--expect", "stable"}), 1);

  EXPECT_TRUE(nlohmann::json::parse(out_).at("checks").is_null());
  EXPECT_THAT(daemon_.calls().names, Not(testing::Contains("CheckTrace")));
}

}  // namespace
}  // namespace traza
