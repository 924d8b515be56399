// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/validate.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/error.h"
#include "tests/support/status_matchers.h"

namespace traza {
namespace {

TEST(Validate, NamesHoldTheirIds) {
  EXPECT_EQ(ParseJobName("jobs/my-job")->value, "my-job");
  EXPECT_EQ(ParseTraceName("traces/0mh3k2v1x4c8q7zr5t2a")->value,
            "0mh3k2v1x4c8q7zr5t2a");
}

class BadJobName : public testing::TestWithParam<std::string> {};

TEST_P(BadJobName, IsRefusedWithAShortMessage) {
  const auto id = ParseJobName(GetParam());

  EXPECT_THAT(id, StatusIs(absl::StatusCode::kInvalidArgument,
                           HasReason("INVALID_ARGUMENT")));
  EXPECT_THAT(id, HasViolation("name"));
  EXPECT_LE(id.status().message().size(), 300U);
}

INSTANTIATE_TEST_SUITE_P(
    All, BadJobName,
    testing::Values("", "jobs/", "jobs", "my-job", "traces/a", "Jobs/a",
                    "jobs/a/b", "jobs/../x", "jobs/A", "jobs/a b", "/jobs/a",
                    "jobs/" + std::string(64, 'a'),
                    std::string(10'000'000, 'j'), std::string("jobs/a\0b", 8),
                    "jobs/\xff"));

TEST(Validate, PageSizesAreClamped) {
  EXPECT_THAT(ParsePageSize(0), IsOkAndHolds(50));
  EXPECT_THAT(ParsePageSize(1), IsOkAndHolds(1));
  EXPECT_THAT(ParsePageSize(501), IsOkAndHolds(500));
  EXPECT_THAT(ParsePageSize(-1), HasViolation("page_size"));
}

v1::CreateJobRequest Request() {
  v1::CreateJobRequest request;
  request.mutable_job()->set_workload("matmul_add");
  return request;
}

TEST(Validate, CreateJobNeedsAJob) {
  EXPECT_THAT(ParseCreateJob(v1::CreateJobRequest{}), HasViolation("job"));
}

TEST(Validate, CreateJobTakesEverything) {
  v1::CreateJobRequest request = Request();
  request.set_job_id("mine-1");
  request.set_request_id("0-9 ~");
  request.set_validate_only(true);

  const auto arguments = ParseCreateJob(request);

  ASSERT_THAT(arguments, IsOk());
  EXPECT_EQ(arguments->job.workload, "matmul_add");
  EXPECT_EQ(arguments->options.job_id, "mine-1");
  EXPECT_EQ(arguments->options.request_id, "0-9 ~");
  EXPECT_TRUE(arguments->options.validate_only);
}

class BadJobId : public testing::TestWithParam<std::string> {};

TEST_P(BadJobId, IsRefused) {
  v1::CreateJobRequest request = Request();
  request.set_job_id(GetParam());

  EXPECT_THAT(ParseCreateJob(request), HasViolation("job_id"));
}

INSTANTIATE_TEST_SUITE_P(All, BadJobId,
                         testing::Values("0abc", "A", "-a", "a_b", "a/b",
                                         std::string(64, 'a')));

TEST(Validate, RequestIdIsShortPrintableAscii) {
  v1::CreateJobRequest request = Request();
  request.set_request_id(std::string(129, 'r'));
  EXPECT_THAT(ParseCreateJob(request), HasViolation("request_id"));

  request.set_request_id("a\nb");
  EXPECT_THAT(ParseCreateJob(request), HasViolation("request_id"));
}

TEST(Validate, ViolationsOfAJobAreBelowJob) {
  const absl::Status status =
      BelowJob(ErrorBuilder(absl::StatusCode::kInvalidArgument,
                            Reason::kUnknownParameter)
                   .With("n", 1)
                   .Violation("params[sise]", "is unknown")
                   .Violation("job.seed", "is odd")
                   .Build("m"));

  EXPECT_THAT(status, HasReason("UNKNOWN_PARAMETER"));
  EXPECT_THAT(status, HasViolation("job.params[sise]"));
  EXPECT_THAT(status, HasViolation("job.seed"));
  EXPECT_THAT(status, HasMetadata("n", "1"));
}

TEST(Validate, OtherErrorsStayAsTheyAre) {
  EXPECT_EQ(BelowJob(absl::InternalError("x")), absl::InternalError("x"));
}

}  // namespace
}  // namespace traza
