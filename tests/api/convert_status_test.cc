// SPDX-License-Identifier: Apache-2.0
#include "api/convert_status.h"

#include <string>

#include "gmock/gmock.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "gtest/gtest.h"

#include "base/error.h"
#include "tests/support/status_matchers.h"

namespace traza {
namespace {

absl::Status FullError() {
  return ErrorBuilder(absl::StatusCode::kResourceExhausted, Reason::kQueueFull)
      .With("max_queued_jobs", 1000)
      .Violation("job.device", "is busy")
      .RetryAfter(absl::Milliseconds(1500))
      .Build("The queue is full.");
}

absl::Status ThereAndBack(const absl::Status& status) {
  const WireError error = ToWireError(status);
  return StatusFromWire(error.code, error.message, error.details);
}

google::rpc::Status Parse(const WireError& error) {
  google::rpc::Status status;
  EXPECT_TRUE(status.ParseFromString(error.details));
  return status;
}

TEST(ConvertStatus, DetailsSurviveTheRoundTrip) {
  const absl::Status back = ThereAndBack(FullError());

  EXPECT_EQ(back.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(back.message(), "The queue is full.");
  EXPECT_THAT(back, HasReason("QUEUE_FULL"));
  EXPECT_THAT(back, HasMetadata("max_queued_jobs", "1000"));
  EXPECT_THAT(back, HasViolation("job.device"));
  EXPECT_EQ(DetailsOf(back)->retry_after, absl::Milliseconds(1500));
}

TEST(ConvertStatus, WireHasTheStandardMessages) {
  const google::rpc::Status status = Parse(ToWireError(FullError()));

  EXPECT_EQ(status.code(), 8);
  ASSERT_EQ(status.details_size(), 3);
  google::rpc::ErrorInfo info;
  ASSERT_TRUE(status.details(0).UnpackTo(&info));
  EXPECT_EQ(info.reason(), "QUEUE_FULL");
  EXPECT_EQ(info.domain(), "traza");
  EXPECT_EQ(info.metadata().at("remedy"),
            std::string(TextOf(Reason::kQueueFull).remedy));
  google::rpc::BadRequest bad;
  ASSERT_TRUE(status.details(1).UnpackTo(&bad));
  EXPECT_EQ(bad.field_violations(0).description(), "is busy");
  google::rpc::RetryInfo retry;
  ASSERT_TRUE(status.details(2).UnpackTo(&retry));
  EXPECT_EQ(retry.retry_delay().nanos(), 500'000'000);
}

TEST(ConvertStatus, ErrorWithoutDetailsIsAFaultWithAnId) {
  const absl::Status back =
      ThereAndBack(absl::NotFoundError("/secret/path is not there"));

  EXPECT_THAT(back,
              StatusIs(absl::StatusCode::kInternal, HasReason("INTERNAL")));
  EXPECT_THAT(back, HasMetadata("id", testing::SizeIs(20)));
  EXPECT_THAT(std::string(back.message()),
              testing::Not(testing::HasSubstr("secret")));
}

TEST(ConvertStatus, HugeErrorStaysWithinTheLimit) {
  ErrorBuilder builder(absl::StatusCode::kInvalidArgument,
                       Reason::kInvalidArgument);
  for (int i = 0; i < 200; ++i) {
    builder.Violation(std::string(100, 'f'), std::string(300, 'd'));
    builder.With("key" + std::to_string(i), std::string(200, 'v'));
  }
  const WireError error = ToWireError(builder.Build(std::string(5000, 'm')));

  EXPECT_LE(error.details.size(), kMaxWireDetailsBytes);
  EXPECT_LE(error.message.size(), 1024U);
  EXPECT_GE(Parse(error).details_size(), 1);
}

TEST(ConvertStatus, UnreachableServerGetsAReason) {
  EXPECT_THAT(
      StatusFromWire(14, "connection refused", ""),
      StatusIs(absl::StatusCode::kUnavailable, HasReason("UNREACHABLE")));
  EXPECT_THAT(
      StatusFromWire(4, "too late", "garbage\xff"),
      StatusIs(absl::StatusCode::kDeadlineExceeded, HasReason("UNREACHABLE")));
  EXPECT_EQ(DetailsOf(StatusFromWire(12, "no such method", "")), std::nullopt);
}

TEST(ConvertStatus, ReasonOfANewerServerIsKeptAsText) {
  google::rpc::Status status;
  google::rpc::ErrorInfo info;
  info.set_reason("FROM_THE_FUTURE");
  info.set_domain("traza");
  (*info.mutable_metadata())["remedy"] = "Wait.";
  status.add_details()->PackFrom(info);

  const absl::Status back = StatusFromWire(9, "m", status.SerializeAsString());

  EXPECT_THAT(back, HasReason("INTERNAL"));
  EXPECT_THAT(back, HasMetadata("reason", "FROM_THE_FUTURE"));
  EXPECT_THAT(back, HasMetadata("remedy", "Wait."));
}

TEST(ConvertStatus, DetailsOfAnotherDomainAreNotOurs) {
  google::rpc::Status status;
  google::rpc::ErrorInfo info;
  info.set_reason("QUEUE_FULL");
  info.set_domain("example.com");
  status.add_details()->PackFrom(info);

  EXPECT_EQ(DetailsOf(StatusFromWire(8, "m", status.SerializeAsString())),
            std::nullopt);
}

}  // namespace
}  // namespace traza
