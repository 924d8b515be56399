// SPDX-License-Identifier: Apache-2.0
// traza run against another variant of its workload.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "base/error.h"
#include "tests/client/cli/cli_fixture.h"

namespace traza {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class PlannedRunTest : public CliTest {
 protected:
  // A daemon with a workload of two variants, whose jobs succeed.
  static FakeReplies TwoVariants() {
    FakeReplies replies;
    v1::Workload& workload = *replies.workloads.add_workloads();
    workload.set_name("mlp");
    workload.add_variants()->set_name("eager");
    workload.add_variants()->set_name("fused");
    replies.created = FakeJob(v1::JOB_STATE_PENDING);
    replies.watches = {{FakeJob(v1::JOB_STATE_SUCCEEDED)},
                       {FakeJob(v1::JOB_STATE_SUCCEEDED)}};
    replies.table.set_by(v1::TABLE_BY_OP);
    replies.answer.mutable_validity()->set_level(v1::VALIDITY_LEVEL_VALID);
    v1::CheckResult& result = *replies.checks.add_results();
    result.set_expression("as the daemon saw it");
    result.set_outcome(v1::CHECK_OUTCOME_PASSED);
    replies.checks.set_passed(true);
    return replies;
  }

  // "fused", "eager", ...: what was created, in order; "?" before a trial.
  std::vector<std::string> Created() {
    std::vector<std::string> variants;
    for (const v1::CreateJobRequest& request : daemon_.calls().creates) {
      variants.push_back((request.validate_only() ? "?" : "") +
                         request.job().variant());
    }
    return variants;
  }
};

TEST_F(PlannedRunTest, RunsTheVariantThatAnExpectationNamesFirst) {
  daemon_.Set(TwoVariants());

  ASSERT_EQ(Run({"run", "mlp", "--variant", "fused", "-p", "dim=8", "--seed",
                 "5", "--expect", "same_output(eager)"}),
            0)
      << err_;

  EXPECT_THAT(Created(), ElementsAre("?fused", "eager", "fused"));
  const auto requests = daemon_.calls().creates;
  EXPECT_EQ(requests[1].job().params().at("dim"), "8");
  EXPECT_EQ(requests[1].job().seed(), 5);
  EXPECT_NE(requests[1].request_id(), requests[2].request_id());
  EXPECT_THAT(err_, HasSubstr("running eager first, to compare with: jobs/j1"));
}

TEST_F(PlannedRunTest, ChecksAgainstTheTraceOfThatVariant) {
  daemon_.Set(TwoVariants());

  ASSERT_EQ(
      Run({"run", "mlp", "--variant", "fused", "--json", "--expect",
           "same_output( 'eager' )", "--expect",
           "step_time_p50 <= 0.9 * baseline(eager)", "--expect", "stable"}),
      0)
      << err_;

  EXPECT_THAT(
      daemon_.calls().check.expressions(),
      ElementsAre("same_output( traces/t1)",
                  "step_time_p50 <= 0.9 * baseline(traces/t1)", "stable"));
  EXPECT_EQ(nlohmann::json::parse(out_)["checks"]["results"][0]["expression"],
            "same_output( 'eager' )");
}

TEST_F(PlannedRunTest, OtherNamesAreTracesOfTheDaemon) {
  daemon_.Set(TwoVariants());

  ASSERT_EQ(Run({"run", "mlp", "--expect", "same_output(0mh3k2v1)"}), 0)
      << err_;

  EXPECT_THAT(Created(), ElementsAre(""));
  EXPECT_THAT(daemon_.calls().check.expressions(),
              ElementsAre("same_output(0mh3k2v1)"));
}

TEST_F(PlannedRunTest, ANameThatIsNothingIsSaidBeforeAnythingRuns) {
  FakeReplies replies = TwoVariants();
  replies.errors = {
      absl::OkStatus(),
      ErrorBuilder(absl::StatusCode::kNotFound, Reason::kTraceNotFound)
          .Build("There is no trace traces/eagr.")};
  daemon_.Set(replies);

  EXPECT_EQ(Run({"run", "mlp", "--expect", "same_output(eagr)"}), 2);

  EXPECT_THAT(err_, HasSubstr("\"eagr\" is no trace, no file and no variant "
                              "of the workload, which has eager, fused"));
  EXPECT_THAT(Created(), testing::IsEmpty());
}

TEST_F(PlannedRunTest, ATraceThatIsNotThereIsSaidBeforeAnythingRuns) {
  FakeReplies replies = TwoVariants();
  replies.errors = {
      ErrorBuilder(absl::StatusCode::kNotFound, Reason::kTraceNotFound)
          .Build("There is no trace traces/t9.")};
  daemon_.Set(replies);

  EXPECT_EQ(Run({"run", "mlp", "--expect", "same_kernels(traces/t9)"}), 2);

  EXPECT_THAT(err_, HasSubstr("There is no trace traces/t9."));
  EXPECT_THAT(Created(), testing::IsEmpty());
}

TEST_F(PlannedRunTest, WithoutSuchANameNobodyAsksForTheVariants) {
  daemon_.Set(TwoVariants());

  ASSERT_EQ(Run({"run", "mlp", "--expect", "stable", "--expect",
                 "same_kernels(traces/t9)"}),
            0)
      << err_;

  EXPECT_THAT(daemon_.calls().names,
              Not(testing::Contains(std::string("ListWorkloads"))));
}

TEST_F(PlannedRunTest, AVariantThatCannotRunIsNamedAndNothingIsLeftRunning) {
  FakeReplies replies = TwoVariants();
  replies.errors = {absl::OkStatus(), absl::OkStatus(),
                    ErrorBuilder(absl::StatusCode::kFailedPrecondition,
                                 Reason::kWorkloadUnavailable)
                        .Build("Variant eager of mlp cannot run on gpu0.")};
  daemon_.Set(replies);

  EXPECT_EQ(Run({"run", "mlp", "--variant", "fused", "--expect",
                 "same_output(eager)"}),
            4);

  EXPECT_THAT(err_, StartsWith("traza: The variant eager, which is to be "
                               "compared with: Variant eager of mlp cannot"));
  EXPECT_THAT(Created(), ElementsAre("?fused", "eager"));
}

TEST_F(PlannedRunTest, WhatIsWrongWithTheJobItselfComesFirst) {
  FakeReplies replies = TwoVariants();
  replies.errors = {
      absl::OkStatus(),
      ErrorBuilder(absl::StatusCode::kInvalidArgument, Reason::kInvalidArgument)
          .Violation("job.params[dim]", "Must be 1 to 9.")
          .Build("A field is wrong.")};
  daemon_.Set(replies);

  EXPECT_EQ(
      Run({"run", "mlp", "-p", "dim=0", "--expect", "same_output(eager)"}), 2);

  EXPECT_THAT(err_, HasSubstr("Must be 1 to 9."));
  EXPECT_THAT(Created(), ElementsAre("?"));
}

TEST_F(PlannedRunTest, AVariantThatFailsLeavesNothingToCompareWith) {
  FakeReplies replies = TwoVariants();
  replies.watches = {{FakeJob(v1::JOB_STATE_FAILED)}};
  replies.job = FakeJob(v1::JOB_STATE_CANCELLED);
  daemon_.Set(replies);

  EXPECT_EQ(Run({"run", "mlp", "--variant", "fused", "--expect",
                 "same_output(eager)"}),
            1);

  EXPECT_THAT(err_, HasSubstr("The variant eager gave nothing to compare "
                              "with: jobs/j1 FAILED: The worker ended"));
  EXPECT_THAT(daemon_.calls().names,
              testing::Contains(std::string("CancelJob")));
  EXPECT_EQ(out_, "");
}

TEST_F(PlannedRunTest, CheckSaysThatAVariantNeedsARun) {
  FakeReplies replies = TwoVariants();
  replies.errors = {
      ErrorBuilder(absl::StatusCode::kNotFound, Reason::kTraceNotFound)
          .Build("There is no trace traces/eager.")};
  daemon_.Set(replies);

  EXPECT_EQ(Run({"check", "t1", "--expect", "same_output(eager)"}), 2);

  EXPECT_THAT(err_, HasSubstr("To compare with (eager), give the id or the "
                              "file of a trace; a variant is run by: traza "
                              "run WORKLOAD --expect EXPR"));
}

}  // namespace
}  // namespace traza
