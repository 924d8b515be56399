// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "base/error.h"
#include "tests/client/cli/cli_fixture.h"
#include "tests/client/cli/golden.h"

namespace traza {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class JobCommandsTest : public CliTest {};

TEST_F(JobCommandsTest, ListsJobs) {
  FakeReplies replies;
  *replies.jobs.add_jobs() = FakeJobInPhase(v1::PHASE_TRACED, 120, 500);
  *replies.jobs.add_jobs() = FakeJob(v1::JOB_STATE_SUCCEEDED);
  *replies.jobs.add_jobs() = FakeJob(v1::JOB_STATE_FAILED);
  daemon_.Set(replies);

  ASSERT_EQ(Run({"jobs"}), 0) << err_;

  ExpectGolden("jobs.txt", out_);
}

TEST_F(JobCommandsTest, SendsTheFilter) {
  daemon_.Set({});

  ASSERT_EQ(Run({"jobs", "--state", "failed", "--workload", "a b\"c", "--limit",
                 "7"}),
            0)
      << err_;

  EXPECT_EQ(daemon_.calls().list.filter(),
            "state=FAILED AND workload=\"a b\\\"c\"");
  EXPECT_EQ(daemon_.calls().list.page_size(), 7);
  EXPECT_EQ(out_, "");
  EXPECT_THAT(err_, HasSubstr("no jobs"));
}

TEST_F(JobCommandsTest, JsonOfAnEmptyListIsAList) {
  daemon_.Set({});

  ASSERT_EQ(Run({"jobs", "--json"}), 0) << err_;

  EXPECT_TRUE(nlohmann::json::parse(out_).at("jobs").empty());
}

TEST_F(JobCommandsTest, ReadsPagesUpToTheLimit) {
  FakeReplies replies;
  for (int i = 0; i < 500; ++i) {
    *replies.jobs.add_jobs() = FakeJob(v1::JOB_STATE_SUCCEEDED);
  }
  replies.jobs.set_next_page_token("more");
  daemon_.Set(replies);

  ASSERT_EQ(Run({"jobs", "--limit", "700", "--json"}), 0) << err_;

  EXPECT_THAT(daemon_.calls().names, ElementsAre("ListJobs", "ListJobs"));
  EXPECT_EQ(daemon_.calls().list.page_size(), 200);
  EXPECT_EQ(daemon_.calls().list.page_token(), "more");
}

TEST_F(JobCommandsTest, ShowsAJob) {
  v1::Job job = FakeJob(v1::JOB_STATE_FAILED);
  v1::PhaseTime& time = *job.add_phase_times();
  time.set_phase(v1::PHASE_SETUP);
  time.mutable_duration()->set_nanos(12'300'000);
  job.mutable_prediction()->set_memory_bytes(49'152);
  job.mutable_prediction()->set_trace_bytes(9'000);
  job.set_standby(true);
  job.set_request_id("r-1");
  (*job.mutable_spec()->mutable_labels())["team"] = "a";
  daemon_.Set({.job = job});

  ASSERT_EQ(Run({"job", "jobs/j1"}), 0) << err_;

  ExpectGolden("job.txt", out_);
}

TEST_F(JobCommandsTest, JsonOfAJobIsTheJob) {
  daemon_.Set({.job = FakeJob(v1::JOB_STATE_SUCCEEDED)});

  ASSERT_EQ(Run({"job", "j1", "--json"}), 0) << err_;

  const auto json = nlohmann::json::parse(out_);
  EXPECT_EQ(json.at("name"), "jobs/j1");
  EXPECT_EQ(json.at("state"), "SUCCEEDED");
  EXPECT_EQ(json.at("spec").at("timed_steps"), 30);
}

TEST_F(JobCommandsTest, AnUnknownJobExitsWith2) {
  FakeReplies replies;
  replies.errors = {
      ErrorBuilder(absl::StatusCode::kNotFound, Reason::kJobNotFound)
          .Build("There is no job j9.")};
  daemon_.Set(replies);

  EXPECT_EQ(Run({"job", "j9"}), 2);

  EXPECT_EQ(err_,
            "traza: There is no job j9.\n"
            "  reason: JOB_NOT_FOUND\n"
            "  try: List jobs with: traza jobs.\n");
}

TEST_F(JobCommandsTest, CancelPrintsTheNewState) {
  daemon_.Set({.job = FakeJob(v1::JOB_STATE_CANCELLING)});

  ASSERT_EQ(Run({"cancel", "j1"}), 0) << err_;

  EXPECT_EQ(out_, "jobs/j1 CANCELLING\n");
}

TEST_F(JobCommandsTest, CancelOfAJobThatEndedExitsWith4) {
  FakeReplies replies;
  replies.errors = {ErrorBuilder(absl::StatusCode::kFailedPrecondition,
                                 Reason::kJobAlreadyDone)
                        .Build("jobs/j1 is SUCCEEDED.")};
  daemon_.Set(replies);

  EXPECT_EQ(Run({"cancel", "j1"}), 4);
  EXPECT_THAT(err_, HasSubstr("JOB_ALREADY_DONE"));
}

TEST_F(JobCommandsTest, DeleteAsksNothingWithoutATerminal) {
  daemon_.Set({});

  ASSERT_EQ(Run({"delete", "j1"}), 0) << err_;

  EXPECT_EQ(daemon_.calls().deleted, "jobs/j1");
}

TEST_F(JobCommandsTest, DeleteAsksOnATerminal) {
  daemon_.Set({});
  answer_ = "n";

  ASSERT_EQ(Run({"delete", "j1"}), 0) << err_;

  EXPECT_EQ(daemon_.calls().deleted, "");
  EXPECT_THAT(err_, HasSubstr("[y/N]"));
}

TEST_F(JobCommandsTest, DeleteDoesNotAskWithYes) {
  daemon_.Set({});
  answer_ = "n";

  ASSERT_EQ(Run({"delete", "j1", "--yes"}), 0) << err_;

  EXPECT_EQ(daemon_.calls().deleted, "jobs/j1");
}

TEST_F(JobCommandsTest, DeleteTakesATraceByItsWholeName) {
  daemon_.Set({});

  ASSERT_EQ(Run({"delete", "traces/t1", "--json"}), 0) << err_;

  EXPECT_EQ(daemon_.calls().deleted, "traces/t1");
  EXPECT_EQ(out_, "{}\n");
}

TEST_F(JobCommandsTest, WatchShowsTheJobWhenItEnds) {
  daemon_.Set({.watches = {{FakeJobInPhase(v1::PHASE_TIMED, 1, 30),
                            FakeJob(v1::JOB_STATE_SUCCEEDED)}}});

  ASSERT_EQ(Run({"watch", "j1"}), 0) << err_;

  EXPECT_THAT(err_, HasSubstr("timed 1/30\n"));
  EXPECT_THAT(out_, HasSubstr("SUCCEEDED"));
  EXPECT_THAT(out_, HasSubstr("traces/t1"));
}

TEST_F(JobCommandsTest, WatchOfAJobThatFailsExitsWith1) {
  daemon_.Set({.watches = {{FakeJob(v1::JOB_STATE_FAILED)}}});

  EXPECT_EQ(Run({"watch", "j1"}), 1);
}

}  // namespace
}  // namespace traza
