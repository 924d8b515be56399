// SPDX-License-Identifier: Apache-2.0
#include "client/cli/sweep.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "base/error.h"
#include "tests/client/cli/cli_fixture.h"
#include "tests/support/status_matchers.h"

namespace traza {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

std::string ErrorOf(const std::vector<std::string>& sweeps) {
  v1::CreateJobRequest request;
  (*request.mutable_job()->mutable_params())["dtype"] = "bf16";
  const auto points = SweepPoints(request, sweeps);
  EXPECT_THAT(points, StatusIs(absl::StatusCode::kInvalidArgument));
  return std::string(points.status().message());
}

TEST(SweepPoints, AreTheValuesInTheirOrder) {
  v1::CreateJobRequest request;
  request.set_request_id("r");
  request.mutable_job()->set_workload("w");

  const auto points = SweepPoints(request, {"size=64,8,512"});

  ASSERT_THAT(points, IsOkAndHolds(SizeIs(3)));
  std::vector<std::string> sizes, ids;
  for (const SweepPoint& point : *points) {
    sizes.push_back(point.request.job().params().at("size"));
    ids.push_back(point.request.request_id());
    EXPECT_EQ(point.request.job().workload(), "w");
  }
  EXPECT_THAT(sizes, ElementsAre("64", "8", "512"));
  EXPECT_THAT(ids, ElementsAre("r.0", "r.1", "r.2"));
}

TEST(SweepPoints, OfSeveralKeysAreTheirProduct) {
  const auto points =
      SweepPoints(v1::CreateJobRequest(), {"size=1,2", "variant=a,b"});

  ASSERT_THAT(points, IsOkAndHolds(SizeIs(4)));
  std::vector<std::string> texts;
  for (const SweepPoint& point : *points) {
    texts.push_back(absl::StrCat(point.request.job().params().at("size"),
                                 point.request.job().variant()));
    EXPECT_EQ(point.values[0].first, "size");
    EXPECT_EQ(point.values[1].first, "variant");
  }
  EXPECT_THAT(texts, ElementsAre("1a", "1b", "2a", "2b"));
}

TEST(SweepPoints, RefuseWhatIsNoListOfValues) {
  EXPECT_THAT(ErrorOf({"size"}), HasSubstr("\"size\" is not KEY=A,B,..."));
  EXPECT_THAT(ErrorOf({"=1,2"}), HasSubstr("is not KEY=A,B,..."));
  EXPECT_THAT(ErrorOf({"size="}), HasSubstr("a value of \"size\" is empty"));
  EXPECT_THAT(ErrorOf({"size=1,,2"}), HasSubstr("is empty"));
}

TEST(SweepPoints, RefuseWhatComesTwice) {
  EXPECT_THAT(ErrorOf({"size=64,8,64"}), HasSubstr("\"64\" twice"));
  EXPECT_THAT(ErrorOf({"size=1", "size=2"}), HasSubstr("comes twice"));
  EXPECT_THAT(ErrorOf({"dtype=fp32,bf16"}), HasSubstr("also given by -p"));
}

TEST(SweepPoints, RefuseMoreJobsThanATableCanShow) {
  std::vector<std::string> values;
  for (int i = 0; i < 65; ++i) values.push_back(absl::StrCat(i));
  EXPECT_THAT(ErrorOf({absl::StrCat("size=", absl::StrJoin(values, ","))}),
              HasSubstr("more than 64 jobs"));
  values.resize(33);
  EXPECT_THAT(
      ErrorOf({absl::StrCat("size=", absl::StrJoin(values, ",")), "b=1,2"}),
      HasSubstr("more than 64 jobs"));
}

class SweepTest : public CliTest {
 protected:
  static FakeReplies Succeeds(int jobs) {
    FakeReplies replies;
    replies.created = FakeJob(v1::JOB_STATE_PENDING);
    replies.watches.assign(jobs, {FakeJob(v1::JOB_STATE_SUCCEEDED)});
    replies.answer.mutable_validity()->set_level(v1::VALIDITY_LEVEL_VALID);
    replies.answer.mutable_verdict()->set_kind(v1::VERDICT_KIND_OVERHEAD_BOUND);
    replies.answer.mutable_steps()->mutable_timed()->set_median_ns(12'300);
    replies.answer.add_breakdown()->set_busy_share(0.25);
    replies.answer.mutable_structure()->mutable_kernels()->set_mean(2);
    return replies;
  }
  static absl::Status TooLarge() {
    return ErrorBuilder(absl::StatusCode::kInvalidArgument,
                        Reason::kMemoryTooLarge)
        .Violation("job.params", "need 9 TiB")
        .Build("The job is too large.");
  }
};

TEST_F(SweepTest, CreatesAllJobsThenPrintsALineForEach) {
  daemon_.Set(Succeeds(2));

  ASSERT_EQ(Run({"run", "mm", "--sweep", "size=64,4096"}), 0) << err_;

  EXPECT_THAT(daemon_.calls().names,
              ElementsAre("CreateJob", "CreateJob", "WatchJob", "ExplainTrace",
                          "WatchJob", "ExplainTrace"));
  EXPECT_EQ(out_,
            "size  STEP P50    BUSY  KERNELS  RATE  TRAFFIC  VERDICT\n"
            "  64   12.3 us  25.0 %        2     -        -  overhead-bound\n"
            "4096   12.3 us  25.0 %        2     -        -  overhead-bound\n");
  EXPECT_THAT(err_, HasSubstr("1 of 2: size=64: jobs/j1\n"));
}

TEST_F(SweepTest, ShowsAttainedRatesWhereTheyAreKnown) {
  FakeReplies replies = Succeeds(1);
  auto& numbers = *replies.answer.mutable_verdict()->mutable_numbers();
  numbers["attained_flops"].set_value(2.5e12);
  numbers["attained_bandwidth"].set_value(4e11);
  daemon_.Set(replies);

  ASSERT_EQ(Run({"run", "mm", "--sweep", "size=64"}), 0) << err_;

  EXPECT_THAT(out_, AllOf(HasSubstr("2.50 TFLOP/s"), HasSubstr("400 GB/s")));
}

TEST_F(SweepTest, ARowWhoseNumbersAreInDoubtSaysSo) {
  FakeReplies replies = Succeeds(1);
  replies.answer.mutable_validity()->set_level(v1::VALIDITY_LEVEL_UNSTABLE);
  daemon_.Set(replies);

  ASSERT_EQ(Run({"run", "mm", "--sweep", "size=64"}), 0) << err_;

  EXPECT_THAT(out_, HasSubstr("overhead-bound (UNSTABLE)"));
}

// Else a copy of four bytes would tell what a whole step moves.
TEST_F(SweepTest, OnlyOfCopyBoundWorkCopiesAreTheTraffic) {
  FakeReplies replies = Succeeds(1);
  v1::Verdict& verdict = *replies.answer.mutable_verdict();
  (*verdict.mutable_numbers())["copy_bandwidth"].set_value(55e9);
  daemon_.Set(replies);
  ASSERT_EQ(Run({"run", "mm", "--sweep", "size=64"}), 0) << err_;
  EXPECT_THAT(out_, Not(HasSubstr("GB/s")));

  verdict.set_kind(v1::VERDICT_KIND_COPY_BOUND);
  daemon_.Set(replies);
  ASSERT_EQ(Run({"run", "mm", "--sweep", "size=64"}), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("55.0 GB/s"));
}

TEST_F(SweepTest, ARefusedValueIsShownAndTheOthersRun) {
  FakeReplies replies = Succeeds(1);
  replies.errors = {TooLarge()};
  daemon_.Set(replies);

  EXPECT_EQ(Run({"run", "mm", "--sweep", "size=999999,64"}), 2) << err_;

  EXPECT_THAT(out_, AllOf(HasSubstr("job.params need 9 TiB"),
                          HasSubstr("overhead-bound")));
  EXPECT_THAT(err_, HasSubstr("size=999999: job.params need 9 TiB\n"));
}

TEST_F(SweepTest, AJobThatFailsIsShownAndExitsWith1) {
  FakeReplies replies = Succeeds(2);
  replies.watches[0] = {FakeJob(v1::JOB_STATE_FAILED)};
  daemon_.Set(replies);

  EXPECT_EQ(Run({"run", "mm", "--sweep", "size=1,2"}), 1) << err_;

  EXPECT_THAT(out_, AllOf(HasSubstr("FAILED WORKER_CRASHED"),
                          HasSubstr("overhead-bound")));
}

TEST_F(SweepTest, ExpectsTheSameOfEach) {
  FakeReplies replies = Succeeds(2);
  v1::CheckResult& check = *replies.checks.add_results();
  check.set_outcome(v1::CHECK_OUTCOME_FAILED);
  check.set_expression("kernels_per_step == 2");
  check.set_message("It is 3 in every step.");
  replies.checks.set_passed(false);
  daemon_.Set(replies);

  EXPECT_EQ(Run({"run", "mm", "--sweep", "size=1,2", "--expect",
                 "kernels_per_step == 2"}),
            1)
      << err_;

  EXPECT_THAT(out_, AllOf(HasSubstr("CHECKS"), HasSubstr("0 of 1 passed"),
                          HasSubstr("\nsize=2\n"), HasSubstr("FAIL"),
                          HasSubstr("It is 3 in every step.")));
}

TEST_F(SweepTest, IsOneJsonDocument) {
  FakeReplies replies = Succeeds(1);
  replies.errors = {TooLarge()};
  daemon_.Set(replies);

  EXPECT_EQ(Run({"run", "mm", "--json", "--sweep", "size=9,64"}), 2) << err_;

  const auto sweep = nlohmann::json::parse(out_).at("sweep");
  ASSERT_THAT(sweep, SizeIs(2));
  EXPECT_EQ(sweep[0]["values"]["size"], "9");
  EXPECT_EQ(sweep[0]["error"]["reason"], "MEMORY_TOO_LARGE");
  EXPECT_TRUE(sweep[0]["job"].is_null());
  EXPECT_TRUE(sweep[1]["error"].is_null());
  EXPECT_EQ(sweep[1]["job"]["state"], "SUCCEEDED");
  EXPECT_EQ(sweep[1]["answer"]["verdict"]["kind"], "overhead-bound");
}

TEST_F(SweepTest, ADaemonThatIsGoneEndsIt) {
  FakeReplies replies = Succeeds(0);
  daemon_.Set(replies);

  EXPECT_EQ(RunAlone({"--server", "unix:/nowhere", "--timeout", "1s", "run",
                      "mm", "--sweep", "size=1,2"}),
            3);

  EXPECT_EQ(out_, "");
}

TEST_F(SweepTest, DoesNotGoWithDetach) {
  EXPECT_EQ(Run({"run", "mm", "--sweep", "size=1,2", "--detach"}), 2);

  EXPECT_THAT(err_, HasSubstr("--detach does not wait"));
  EXPECT_THAT(daemon_.calls().names, Not(testing::Contains("CreateJob")));
}

}  // namespace
}  // namespace traza
