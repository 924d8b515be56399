// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include <cerrno>
#include <set>
#include <string>

#include "absl/strings/cord.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"

namespace traza {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Pair;
using testing::SizeIs;
using testing::StartsWith;

constexpr char kTypeUrl[] = "type.traza/ErrorDetails";

ErrorBuilder Builder() {
  return ErrorBuilder(absl::StatusCode::kInvalidArgument,
                      Reason::kInvalidArgument);
}

size_t TotalBytes(const absl::Status& status) {
  return status.message().size() + status.GetPayload(kTypeUrl)->size();
}

TEST(Reason, EveryNameIsUniqueAndFindsItsReason) {
  std::set<absl::string_view> names;
  for (const Reason reason : AllReasons()) {
    names.insert(TextOf(reason).name);
    EXPECT_EQ(ReasonFromName(TextOf(reason).name), reason);
  }

  EXPECT_EQ(names.size(), AllReasons().size());
}

TEST(Reason, TextsAreSentences) {
  for (const Reason reason : AllReasons()) {
    EXPECT_THAT(std::string(TextOf(reason).meaning), EndsWith("."));
    EXPECT_THAT(std::string(TextOf(reason).remedy), EndsWith("."));
  }
}

TEST(Reason, UnknownNamesHaveNoReason) {
  EXPECT_EQ(ReasonFromName("NO_SUCH_REASON"), std::nullopt);
  EXPECT_EQ(ReasonFromName(""), std::nullopt);
}

TEST(ErrorBuilder, DetailsComeBackAsTheyWent) {
  const absl::Status status =
      ErrorBuilder(absl::StatusCode::kNotFound, Reason::kJobNotFound)
          .With("job", "0mh3k2")
          .With("limit_bytes", int64_t{1} << 40)
          .Violation("job.params[size]", "is 0; must be from 1 to 65536")
          .RetryAfter(absl::Milliseconds(1500))
          .Build("There is no job 0mh3k2.");

  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(status.message(), "There is no job 0mh3k2.");
  const std::optional<ErrorDetails> details = DetailsOf(status);
  ASSERT_TRUE(details.has_value());
  EXPECT_EQ(details->reason, Reason::kJobNotFound);
  EXPECT_THAT(details->metadata,
              testing::ElementsAre(Pair("job", "0mh3k2"),
                                   Pair("limit_bytes", "1099511627776")));
  EXPECT_THAT(details->violations,
              testing::ElementsAre(FieldViolation{
                  "job.params[size]", "is 0; must be from 1 to 65536"}));
  EXPECT_EQ(details->retry_after, absl::Milliseconds(1500));
}

TEST(ErrorBuilder, ArbitraryBytesComeBackAsTheyWent) {
  const std::string bytes("a:1\0\n\xff\xfe{}R3:", 13);

  const absl::Status status =
      Builder().With(bytes, bytes).Violation(bytes, bytes).Build("wrong");

  const std::optional<ErrorDetails> details = DetailsOf(status);
  ASSERT_TRUE(details.has_value());
  EXPECT_THAT(details->metadata, testing::ElementsAre(Pair(bytes, bytes)));
  EXPECT_THAT(details->violations,
              testing::ElementsAre(FieldViolation{bytes, bytes}));
}

TEST(ErrorBuilder, ManyViolationsAreCutAndCounted) {
  ErrorBuilder builder = Builder();
  for (int i = 0; i < 1000; ++i) {
    builder.Violation("job.labels[x]", std::string(300, 'v'));
  }

  const absl::Status status = builder.Build("1000 fields are wrong.");

  EXPECT_LT(TotalBytes(status), 4096);
  const std::vector<FieldViolation> kept = DetailsOf(status)->violations;
  EXPECT_GE(kept.size(), 5);
  EXPECT_EQ(kept.back().description,
            "and " + std::to_string(1000 - (kept.size() - 1)) + " more");
}

TEST(ErrorBuilder, AViolationThatFillsTheRestIsTheLastNotCut) {
  ErrorBuilder builder = Builder();
  for (int i = 0; i < 3; ++i) builder.Violation("f", std::string(400, 'v'));

  EXPECT_THAT(DetailsOf(builder.Build("m"))->violations, SizeIs(3));
}

TEST(ErrorBuilder, EverythingTooLongAtOnceStaysBelow4KiB) {
  const std::string huge(10 << 20, 'x');
  ErrorBuilder builder = Builder();
  for (int i = 0; i < 100; ++i) {
    builder.With(huge, huge).Violation(huge, huge);
  }

  const absl::Status status = builder.Build(huge);

  EXPECT_LT(TotalBytes(status), 4096);
  EXPECT_THAT(std::string(status.message()), EndsWith("x..."));
  EXPECT_FALSE(DetailsOf(status)->violations.empty());
}

TEST(ErrorBuilder, ALongMessageIsCutBetweenCharacters) {
  std::string message = "x";
  while (message.size() < 5000) message += "\xC3\xA9";

  const absl::Status status = Builder().Build(message);

  const std::string kept(status.message());
  EXPECT_LE(kept.size(), 1024);
  EXPECT_THAT(kept, EndsWith("\xC3\xA9..."));
}

TEST(DetailsOf, OtherStatusesHaveNone) {
  EXPECT_EQ(DetailsOf(absl::OkStatus()).has_value(), false);
  EXPECT_EQ(DetailsOf(absl::InternalError("x")).has_value(), false);
}

class ForeignPayload : public testing::TestWithParam<const char*> {};

TEST_P(ForeignPayload, IsNotTakenForDetails) {
  absl::Status status = absl::InternalError("x");
  status.SetPayload(kTypeUrl, absl::Cord(GetParam()));

  EXPECT_FALSE(DetailsOf(status).has_value());
}

INSTANTIATE_TEST_SUITE_P(All, ForeignPayload,
                         testing::Values("R", "R:", "R5", "R99:INTERNAL",
                                         "R-1:", "R3:FOO", "V1:x", "D1:x",
                                         "T1:x", "Z1:x", "R99999999999999:x",
                                         ":", "8:INTERNAL"));

TEST(Annotate, KeepsCodeAndDetailsAndPutsContextFirst) {
  const absl::Status status =
      Annotate(Builder().With("k", "v").Build("size is wrong."), "job.json");

  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument,
                               HasReason("INVALID_ARGUMENT")));
  EXPECT_EQ(status.message(), "job.json: size is wrong.");
  EXPECT_THAT(status, HasMetadata("k", "v"));
}

TEST(Annotate, LeavesOkAlone) {
  EXPECT_THAT(Annotate(absl::OkStatus(), "context"), IsOk());
}

TEST(ErrnoStatus, FullDisksHaveTheirReason) {
  EXPECT_THAT(ErrnoStatus(ENOSPC, "Cannot write x"),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasReason(Reason::kStoreFull)));
  EXPECT_THAT(ErrnoStatus(EDQUOT, "Cannot write x"),
              HasReason(Reason::kStoreFull));
}

TEST(ErrnoStatus, UnwritableDisksHaveTheirReason) {
  EXPECT_THAT(ErrnoStatus(EROFS, "Cannot write x"),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasReason(Reason::kStoreUnwritable)));
  EXPECT_THAT(ErrnoStatus(EACCES, "Cannot write x"),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasReason(Reason::kStoreUnwritable)));
}

TEST(ErrnoStatus, OthersHaveCodeAndSystemText) {
  const absl::Status status = ErrnoStatus(ENOENT, "Cannot open x");

  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(status.message(), "Cannot open x: No such file or directory");
  EXPECT_FALSE(DetailsOf(status).has_value());
}

}  // namespace
}  // namespace traza
