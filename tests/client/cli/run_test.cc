// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "base/error.h"
#include "tests/client/cli/cli_fixture.h"

namespace traza {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

class RunTest : public CliTest {
 protected:
  // A job that goes through its phases to an answer.
  FakeReplies Succeeds() {
    FakeReplies replies;
    replies.created = FakeJob(v1::JOB_STATE_PENDING);
    replies.watches = {{FakeJob(v1::JOB_STATE_PENDING),
                        FakeJobInPhase(v1::PHASE_SETUP, 0, 0),
                        FakeJobInPhase(v1::PHASE_TRACED, 0, 500),
                        FakeJobInPhase(v1::PHASE_TRACED, 120, 500),
                        FakeJob(v1::JOB_STATE_SUCCEEDED)}};
    v1::TableRow& row = *replies.table.add_rows();
    row.set_name("aten::mm");
    row.set_count(30);
    row.set_self_cpu_ns(12'345);
    replies.table.set_by(v1::TABLE_BY_OP);
    replies.table.set_all_rows(1);
    replies.answer.set_workload("matmul_add");
    replies.answer.mutable_validity()->set_level(v1::VALIDITY_LEVEL_VALID);
    replies.answer.mutable_verdict()->set_kind(v1::VERDICT_KIND_CPU_ONLY);
    return replies;
  }

  // The last line of the output.
  std::string LastLine() const {
    const size_t end = out_.rfind('\n', out_.size() - 2);
    return out_.substr(end == std::string::npos ? 0 : end + 1);
  }
};

TEST_F(RunTest, PrintsTheTableThenTheAnswer) {
  daemon_.Set(Succeeds());

  ASSERT_EQ(Run({"run", "matmul_add"}), 0) << err_;

  EXPECT_THAT(out_, HasSubstr("aten::mm"));
  EXPECT_THAT(LastLine(), testing::StartsWith("Verdict: cpu-only"));
  EXPECT_LT(out_.find("aten::mm"), out_.find("Verdict:"));
}

TEST_F(RunTest, ShowsEachPhaseOnStderr) {
  daemon_.Set(Succeeds());

  ASSERT_EQ(Run({"run", "matmul_add"}), 0) << err_;

  EXPECT_THAT(err_,
              testing::StartsWith("queued\nsetup\ntraced 0/500\nsucceeded\n"));
}

TEST_F(RunTest, WatchesRightAfterCreating) {
  daemon_.Set(Succeeds());

  ASSERT_EQ(Run({"run", "matmul_add"}), 0) << err_;

  const std::vector<std::string> names = daemon_.calls().names;
  ASSERT_EQ(names.size(), 4u);
  EXPECT_EQ(names[0], "CreateJob");
  EXPECT_EQ(names[1], "WatchJob");
  EXPECT_THAT(std::vector<std::string>(names.begin() + 2, names.end()),
              UnorderedElementsAre("GetTable", "ExplainTrace"));
}

TEST_F(RunTest, OptionsMayStandBeforeAndAfterTheWorkload) {
  daemon_.Set(Succeeds());
  ASSERT_EQ(Run({"run", "-p", "size=64", "matmul_add"}), 0) << err_;
  EXPECT_EQ(daemon_.calls().create.job().workload(), "matmul_add");
  EXPECT_EQ(daemon_.calls().create.job().params().at("size"), "64");

  daemon_.Set(Succeeds());
  ASSERT_EQ(Run({"run", "matmul_add", "-p", "size=64", "-p", "dtype=fp32"}), 0)
      << err_;
  EXPECT_EQ(daemon_.calls().create.job().params().at("size"), "64");
  EXPECT_EQ(daemon_.calls().create.job().params().at("dtype"), "fp32");
}

TEST_F(RunTest, SendsEveryOption) {
  daemon_.Set(Succeeds());

  ASSERT_EQ(Run({"run",
                 "w",
                 "--variant",
                 "eager",
                 "--device",
                 "gpu0",
                 "--cold-steps",
                 "2",
                 "--warmup",
                 "010",
                 "--timed-steps",
                 "40",
                 "--traced-steps",
                 "50",
                 "--depth",
                 "SHAPES",
                 "--l2",
                 "flush",
                 "--seed",
                 "-7",
                 "--timeout",
                 "2m",
                 "--label",
                 "team=a b",
                 "--label",
                 "empty=",
                 "--request-id",
                 "r-1"}),
            0)
      << err_;

  const v1::CreateJobRequest request = daemon_.calls().create;
  EXPECT_EQ(request.request_id(), "r-1");
  EXPECT_EQ(request.job().variant(), "eager");
  EXPECT_EQ(request.job().device(), "gpu0");
  EXPECT_EQ(request.job().cold_steps(), 2);
  EXPECT_EQ(request.job().warmup().steps(), 10);
  EXPECT_EQ(request.job().timed_steps(), 40);
  EXPECT_EQ(request.job().traced_steps(), 50);
  EXPECT_EQ(request.job().depth(), v1::DEPTH_SHAPES);
  EXPECT_EQ(request.job().l2(), v1::L2_POLICY_FLUSH);
  EXPECT_EQ(request.job().seed(), -7);
  EXPECT_EQ(request.job().timeout().seconds(), 120);
  EXPECT_EQ(request.job().labels().at("team"), "a b");
  EXPECT_EQ(request.job().labels().at("empty"), "");
}

TEST_F(RunTest, LeavesDefaultsToTheDaemon) {
  daemon_.Set(Succeeds());

  ASSERT_EQ(Run({"run", "w"}), 0) << err_;

  const v1::JobRequest job = daemon_.calls().create.job();
  EXPECT_FALSE(job.has_device());
  EXPECT_FALSE(job.has_warmup());
  EXPECT_FALSE(job.has_traced_steps());
  EXPECT_FALSE(job.has_timeout());
  EXPECT_NE(daemon_.calls().create.request_id(), "");
}

TEST_F(RunTest, JsonHoldsJobAndAnswer) {
  daemon_.Set(Succeeds());

  ASSERT_EQ(Run({"run", "matmul_add", "--json"}), 0) << err_;

  const auto json = nlohmann::json::parse(out_);
  EXPECT_EQ(json.at("job").at("name"), "jobs/j1");
  EXPECT_EQ(json.at("job").at("state"), "SUCCEEDED");
  EXPECT_EQ(json.at("answer").at("verdict").at("kind"), "cpu-only");
  EXPECT_THAT(daemon_.calls().names,
              ElementsAre("CreateJob", "WatchJob", "ExplainTrace"));
}

TEST_F(RunTest, DetachedPrintsTheNameAndDoesNotWait) {
  daemon_.Set(Succeeds());

  ASSERT_EQ(Run({"run", "matmul_add", "--detach"}), 0) << err_;

  EXPECT_EQ(out_, "jobs/j1\n");
  EXPECT_THAT(daemon_.calls().names, ElementsAre("CreateJob"));
}

TEST_F(RunTest, DetachedJsonIsTheJob) {
  daemon_.Set(Succeeds());

  ASSERT_EQ(Run({"run", "matmul_add", "--detach", "--json"}), 0) << err_;

  EXPECT_EQ(nlohmann::json::parse(out_).at("state"), "PENDING");
}

TEST_F(RunTest, AJobThatFailsExitsWith1AndSaysWhy) {
  FakeReplies replies = Succeeds();
  replies.watches = {{FakeJob(v1::JOB_STATE_FAILED)}};
  daemon_.Set(replies);

  EXPECT_EQ(Run({"run", "matmul_add"}), 1);

  EXPECT_EQ(out_, "");
  EXPECT_THAT(err_,
              HasSubstr("jobs/j1 FAILED in phase timed: The worker ended"));
  EXPECT_THAT(err_, HasSubstr("reason: WORKER_CRASHED"));
  EXPECT_THAT(err_, HasSubstr("    line \\x1btwo\n"));
  EXPECT_THAT(err_, HasSubstr("try: See the last words"));
}

TEST_F(RunTest, JsonOfAJobThatFailsHasNoAnswer) {
  FakeReplies replies = Succeeds();
  replies.watches = {{FakeJob(v1::JOB_STATE_FAILED)}};
  daemon_.Set(replies);

  EXPECT_EQ(Run({"run", "matmul_add", "--json"}), 1);

  const auto json = nlohmann::json::parse(out_);
  EXPECT_EQ(json.at("job").at("error").at("reason"), "WORKER_CRASHED");
  EXPECT_TRUE(json.at("answer").is_null());
}

TEST_F(RunTest, ReconnectsWhenTheStreamBreaks) {
  FakeReplies replies = Succeeds();
  replies.watches = {{FakeJobInPhase(v1::PHASE_SETUP, 0, 0)},
                     {FakeJob(v1::JOB_STATE_SUCCEEDED)}};
  daemon_.Set(replies);

  EXPECT_EQ(Run({"run", "matmul_add"}), 0) << err_;

  EXPECT_THAT(out_, HasSubstr("Verdict: cpu-only"));
}

TEST_F(RunTest, PollsWhenThereAreNoStreamsLeft) {
  FakeReplies replies = Succeeds();
  replies.errors = {absl::OkStatus(),
                    ErrorBuilder(absl::StatusCode::kResourceExhausted,
                                 Reason::kTooManyRequests)
                        .Build("64 streams are open.")};
  replies.job = FakeJob(v1::JOB_STATE_SUCCEEDED);
  daemon_.Set(replies);

  EXPECT_EQ(Run({"run", "matmul_add"}), 0) << err_;

  EXPECT_THAT(daemon_.calls().names, testing::Contains(std::string("WaitJob")));
}

TEST_F(RunTest, ARefusedRequestExitsWith2AndListsTheViolations) {
  FakeReplies replies;
  replies.errors = {
      ErrorBuilder(absl::StatusCode::kInvalidArgument, Reason::kInvalidArgument)
          .Violation("job.params[size]", "Must be 1 to 65536.")
          .Violation("job.params[colour]", "Is not known.")
          .Build("2 fields are wrong.")};
  daemon_.Set(replies);

  EXPECT_EQ(Run({"run", "matmul_add"}), 2);

  EXPECT_EQ(err_,
            "traza: 2 fields are wrong.\n"
            "  job.params[size]: Must be 1 to 65536.\n"
            "  job.params[colour]: Is not known.\n"
            "  reason: INVALID_ARGUMENT\n"
            "  try: Correct the fields named in the violations.\n");
}

TEST_F(RunTest, AFullQueueExitsWith4AndSaysWhenToTryAgain) {
  FakeReplies replies;
  replies.errors = {
      ErrorBuilder(absl::StatusCode::kResourceExhausted, Reason::kQueueFull)
          .RetryAfter(absl::Seconds(5))
          .Build("The queue is full.")};
  daemon_.Set(replies);

  EXPECT_EQ(Run({"run", "matmul_add"}), 4);

  EXPECT_THAT(err_, HasSubstr("retry after: 5 s\n"));
}

TEST_F(RunTest, SaysWhatTheDaemonChanged) {
  FakeReplies replies = Succeeds();
  v1::Adjustment& clamped = *replies.created.add_adjustments();
  clamped.set_field("timeout");
  clamped.set_value("1h");
  clamped.set_why("clamped from 2h");
  v1::Adjustment& filled = *replies.created.add_adjustments();
  filled.set_field("device");
  filled.set_value("cpu");
  filled.set_why("default");
  daemon_.Set(replies);

  ASSERT_EQ(Run({"run", "matmul_add"}), 0) << err_;

  EXPECT_THAT(err_, HasSubstr("timeout = 1h (clamped from 2h)\n"));
  EXPECT_EQ(err_.find("device = cpu"), std::string::npos);
}

TEST_F(RunTest, QuietSaysNothingButData) {
  daemon_.Set(Succeeds());

  ASSERT_EQ(Run({"-q", "run", "matmul_add"}), 0);

  EXPECT_EQ(err_, "");
  EXPECT_THAT(out_, HasSubstr("Verdict: cpu-only"));
}

TEST_F(RunTest, AMissingAnswerIsAnErrorNotAnEmptyOne) {
  FakeReplies replies = Succeeds();
  replies.errors = {
      absl::OkStatus(), absl::OkStatus(),
      ErrorBuilder(absl::StatusCode::kDataLoss, Reason::kTraceCorrupt)
          .Build("The file is damaged.")};
  daemon_.Set(replies);

  EXPECT_EQ(Run({"run", "matmul_add"}), 1);

  EXPECT_EQ(out_, "");
  EXPECT_THAT(err_, HasSubstr("TRACE_CORRUPT"));
}

}  // namespace
}  // namespace traza
