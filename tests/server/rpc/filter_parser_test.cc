// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/filter_parser.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"

namespace traza {
namespace {

TEST(FilterParser, NothingMatchesAll) {
  EXPECT_THAT(ParseFilter("", FilterOf::kJobs), IsOkAndHolds(ListFilter{}));
  EXPECT_THAT(ParseFilter(" \t\n", FilterOf::kJobs),
              IsOkAndHolds(ListFilter{}));
}

TEST(FilterParser, ReadsEveryKey) {
  ListFilter expected;
  expected.state = JobState::kRunning;
  expected.workload.emplace("matmul_add");  // g++ 12 warns of operator=
  expected.labels = {{"team", "my team"}, {"a.b-c_d", "1"}};

  EXPECT_THAT(ParseFilter("state=RUNNING AND workload = matmul_add AND "
                          "labels.team=\"my team\"  AND labels.a.b-c_d=1",
                          FilterOf::kJobs),
              IsOkAndHolds(expected));
}

TEST(FilterParser, QuotedValuesHoldAnything) {
  ListFilter expected;
  expected.labels = {{"k", "a \"b\" \\ AND c=\xC3\xA9"}};

  EXPECT_THAT(ParseFilter("labels.k=\"a \\\"b\\\" \\\\ AND c=\xC3\xA9\"",
                          FilterOf::kTraces),
              IsOkAndHolds(expected));
}

TEST(FilterParser, EmptyValueNeedsQuotes) {
  ListFilter expected;
  expected.labels = {{"k", ""}};

  EXPECT_THAT(ParseFilter("labels.k=\"\"", FilterOf::kJobs),
              IsOkAndHolds(expected));
}

class BadFilter : public testing::TestWithParam<std::string> {};

TEST_P(BadFilter, IsRefusedWithAShortMessage) {
  const auto filter = ParseFilter(GetParam(), FilterOf::kJobs);

  EXPECT_THAT(filter, StatusIs(absl::StatusCode::kInvalidArgument,
                               HasReason("INVALID_ARGUMENT")));
  EXPECT_THAT(filter, HasViolation("filter"));
  EXPECT_LE(filter.status().message().size(), 300U);
}

INSTANTIATE_TEST_SUITE_P(
    All, BadFilter,
    testing::Values("state", "state=", "=RUNNING", "state=running", "state=X",
                    "color=red", "labels.=x", "state=RUNNING OR workload=a",
                    "state=RUNNING AND", "AND", "state=RUNNING state=FAILED",
                    "state=RUNNING AND state=RUNNING", "workload=\"open",
                    "workload=\"bad \\n escape\"", "workload!=a", "workload>a",
                    "(workload=a)", "workload=\xff\xfe", "workload=a;drop",
                    std::string(10'000'000, 'a'),
                    std::string(1000, 'a') + "=1"));

TEST(FilterParser, TracesHaveNoState) {
  EXPECT_THAT(ParseFilter("state=RUNNING", FilterOf::kTraces),
              HasViolation("filter"));
}

}  // namespace
}  // namespace traza
