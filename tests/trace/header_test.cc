// SPDX-License-Identifier: Apache-2.0
#include "trace/header.h"

#include <cmath>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/record_builder.h"
#include "tests/support/status_matchers.h"

namespace traza {
namespace {

Header FullHeader() {
  Header header = MakeCpuHeader();
  header.job.labels = {{"team", "a"}};
  header.state_before =
      DeviceState{1'980'000'000, 612.5, 61, {"sw_power_cap"}, 1 << 20, 0};
  header.state_after = DeviceState{};
  header.standby = true;
  header.partial = true;
  header.peak_resident_bytes = 123'456'789;
  header.timed.armed_before = true;
  header.completeness.dropped = 0;
  header.completeness.skew_min_ns = -7;
  header.fingerprint->tolerance = 0.02;
  header.step_cost = StepCost{.flops = 1e9, .bytes = 2e6};
  return header;
}

TEST(Header, SurvivesJson) {
  const Header header = FullHeader();
  EXPECT_THAT(HeaderFromJson(HeaderToJson(header)), IsOkAndHolds(header));
}

TEST(Header, KeepsUnknownCountersApartFromZero) {
  Header header;
  header.completeness.zero_ts = 0;

  const absl::StatusOr<Header> read = HeaderFromJson(HeaderToJson(header));

  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(read->completeness.zero_ts, 0);
  EXPECT_EQ(read->completeness.dropped, std::nullopt);
}

TEST(Header, CarriesOutputsThatAreNotFinite) {
  Header header = MakeCpuHeader();
  header.fingerprint->finite = false;
  header.fingerprint->sum = std::numeric_limits<double>::infinity();
  header.fingerprint->norm = std::numeric_limits<double>::quiet_NaN();

  const absl::StatusOr<Header> read = HeaderFromJson(HeaderToJson(header));

  ASSERT_THAT(read, IsOk());
  EXPECT_FALSE(read->fingerprint->finite);
  EXPECT_TRUE(std::isnan(read->fingerprint->sum));
}

TEST(Header, CarriesWhatWasExpected) {
  Header header = MakeCpuHeader();
  header.expectations = {{"stable", "Every step is the same."},
                         {"kernels_per_step == 2", ""}};

  EXPECT_THAT(HeaderFromJson(HeaderToJson(header)), IsOkAndHolds(header));
}

TEST(Header, IgnoresFieldsOfLaterVersions) {
  std::string json = HeaderToJson(FullHeader());
  json.insert(1, R"("colour":{"of":"the sky"},)");
  EXPECT_THAT(HeaderFromJson(json), IsOkAndHolds(FullHeader()));
}

TEST(Header, NeedsNothingButASchema) {
  EXPECT_THAT(HeaderFromJson(R"({"schema":1})"), IsOkAndHolds(Header()));
}

TEST(Header, RefusesANewerSchemaWithBothNumbers) {
  const absl::StatusOr<Header> read =
      HeaderFromJson(R"({"schema":2,"producer":17})");

  EXPECT_THAT(read, StatusIs(absl::StatusCode::kFailedPrecondition,
                             HasReason("TRACE_UNREADABLE")));
  EXPECT_THAT(read, StatusIs(absl::StatusCode::kFailedPrecondition,
                             HasMetadata("schema", "2")));
  EXPECT_THAT(read, StatusIs(absl::StatusCode::kFailedPrecondition,
                             HasMetadata("known_schema", "1")));
}

TEST(Header, ReadsManyTimedBatches) {
  Header header = MakeCpuHeader();
  header.timed.steps = 50'000;
  header.timed.batch_ns.assign(50'000, 12'345);
  EXPECT_THAT(HeaderFromJson(HeaderToJson(header)), IsOkAndHolds(header));
}

class BadHeader : public testing::TestWithParam<std::string> {};

TEST_P(BadHeader, IsUnreadable) {
  EXPECT_THAT(HeaderFromJson(GetParam()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasReason("TRACE_UNREADABLE")));
}

INSTANTIATE_TEST_SUITE_P(
    Header, BadHeader,
    testing::Values(
        "", "null", "[]", "{", "{}", R"({"schema":"1"})", R"({"schema":0})",
        R"({"schema":1.5})", R"({"schema":1,"producer":5})",
        R"({"schema":1,"standby":"yes"})", R"({"schema":1,"threads":-1})",
        R"({"schema":1,"threads":99999999999})", R"({"schema":1,"job":[]})",
        R"({"schema":1,"versions":{"torch":2}})",
        R"({"schema":1,"timed":{"batch_ns":["x"]}})",
        R"({"schema":1,"timed":{"batch_ns":[18446744073709551615]}})",
        R"({"schema":1,"timed":{"steps_per_batch":0}})",
        R"({"schema":1,"completeness":{"dropped":1.5}})",
        R"({"schema":1,"completeness":{"dropped":18446744073709551615}})",
        R"({"schema":1,"fingerprint":{"finite":1}})",
        R"({"schema":1,"step_cost":{"flops":0,"bytes":1}})",
        R"({"schema":1,"expectations":{}})",
        R"({"schema":1,"expectations":[{"why":"?"}]})",
        R"({"schema":1,"state_before":{"throttle_reasons":"hot"}})",
        "{\"schema\":1,\"x\":" + std::string(100'000, '[') + "}",
        "{\"schema\":1,\"host\":\"\xff\"}"));

}  // namespace
}  // namespace traza
