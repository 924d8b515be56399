// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/page_token.h"

#include <string>

#include "absl/strings/escaping.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"

namespace traza {
namespace {

constexpr char kFilter[] = "state=RUNNING";

PageEnd End() {
  return {absl::FromUnixNanos(1'767'225'600'123'456'789), "ab-1"};
}

TEST(PageToken, GivesBackThePosition) {
  const auto end = DecodePageToken(EncodePageToken(End(), "ListJobs", kFilter),
                                   "ListJobs", kFilter);

  ASSERT_THAT(end, IsOk());
  ASSERT_TRUE(end->has_value());
  EXPECT_EQ((*end)->create_time, End().create_time);
  EXPECT_EQ((*end)->id, "ab-1");
}

TEST(PageToken, NoTokenIsTheFirstPage) {
  const auto end = DecodePageToken("", "ListJobs", kFilter);

  ASSERT_THAT(end, IsOk());
  EXPECT_FALSE(end->has_value());
}

TEST(PageToken, BelongsToItsFilterAndMethod) {
  const std::string token = EncodePageToken(End(), "ListJobs", kFilter);

  EXPECT_THAT(DecodePageToken(token, "ListJobs", ""),
              HasReason("PAGE_TOKEN_INVALID"));
  EXPECT_THAT(DecodePageToken(token, "ListTraces", kFilter),
              HasReason("PAGE_TOKEN_INVALID"));
}

class HostilePageToken : public testing::TestWithParam<std::string> {};

TEST_P(HostilePageToken, IsRefused) {
  const auto end = DecodePageToken(GetParam(), "ListJobs", kFilter);

  EXPECT_THAT(end, StatusIs(absl::StatusCode::kInvalidArgument,
                            HasReason("PAGE_TOKEN_INVALID")));
  EXPECT_THAT(end, HasViolation("page_token"));
  EXPECT_LE(end.status().message().size(), 200U);
}

std::string Forged(const std::string& text) {
  return absl::WebSafeBase64Escape(text);
}

INSTANTIATE_TEST_SUITE_P(
    All, HostilePageToken,
    testing::Values("not base64!", "AAAA", std::string("\0\xff", 2),
                    std::string(10'000'000, 'A'), Forged("|||"),
                    Forged("1|1|a|0"), Forged("2|1|a|0000000000000000"),
                    Forged("1|99999999999999999999|a|0000000000000000"),
                    Forged("1|1|../etc/passwd|0000000000000000"),
                    Forged("1|1|a' OR 1=1|0000000000000000"),
                    EncodePageToken(End(), "ListJobs", kFilter) + "=",
                    EncodePageToken(End(), "ListJobs", kFilter).substr(1)));

}  // namespace
}  // namespace traza
