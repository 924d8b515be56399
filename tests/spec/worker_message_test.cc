// SPDX-License-Identifier: Apache-2.0
#include "spec/worker_message.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"

namespace traza {
namespace {

using absl::StatusCode;
using testing::ElementsAre;
using testing::EndsWith;
using testing::Optional;
using testing::VariantWith;

// Encodes and decodes, as the two processes would.
template <typename T>
T RoundTrip(const T& message) {
  const std::string line = Encode(WorkerMessage(message));
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const absl::StatusOr<WorkerMessage> decoded =
      DecodeWorkerMessage(absl::StripSuffix(line, "\n"));
  EXPECT_THAT(decoded, IsOkAndHolds(VariantWith<T>(testing::_)));
  return std::get<T>(*decoded);
}

TEST(WorkerMessage, HelloComesBack) {
  const Hello hello = RoundTrip(Hello{.protocol = 1, .version = "0.1.0"});

  EXPECT_EQ(hello.protocol, 1);
  EXPECT_EQ(hello.version, "0.1.0");
}

TEST(WorkerMessage, EmptyMessagesComeBack) {
  RoundTrip(Ready{});
  RoundTrip(Heartbeat{});
}

TEST(WorkerMessage, PhaseStartedComesBack) {
  EXPECT_EQ(RoundTrip(PhaseStarted{Phase::kTraced}).phase, Phase::kTraced);
}

TEST(WorkerMessage, StepsDoneComesBackWithOrWithoutATotal) {
  const StepsDone bounded =
      RoundTrip(StepsDone{.phase = Phase::kTimed, .done = 5, .total = 30});

  EXPECT_EQ(bounded.phase, Phase::kTimed);
  EXPECT_EQ(bounded.done, 5);
  EXPECT_EQ(bounded.total, 30);
  EXPECT_EQ(RoundTrip(StepsDone{.phase = Phase::kWarmup, .done = 5}).total,
            std::nullopt);
}

TEST(WorkerMessage, ErrorComesBackWithAnyText) {
  const WorkerError error = RoundTrip(
      WorkerError{.reason = Reason::kOutOfMemory,
                  .message = "CUDA out of memory.\n\"quoted\" \xC3\xA9",
                  .phase = Phase::kSetup});

  EXPECT_EQ(error.reason, Reason::kOutOfMemory);
  EXPECT_EQ(error.message, "CUDA out of memory.\n\"quoted\" \xC3\xA9");
  EXPECT_EQ(error.phase, Phase::kSetup);
}

TEST(WorkerMessage, MalformedTextIsMendedOnTheWay) {
  EXPECT_EQ(RoundTrip(WorkerError{.message = "a\xff"}).message,
            "a\xEF\xBF\xBD");
}

TEST(WorkerMessage, AHugeErrorIsCutBelowTheLimitOfALine) {
  const WorkerError error{.message = std::string(10 << 20, '\x01')};

  EXPECT_LE(Encode(WorkerMessage(error)).size(), kMaxMessageBytes);
  EXPECT_EQ(RoundTrip(error).message.size(), 4096);
}

TEST(WorkerMessage, ResultComesBack) {
  const WorkerResult result = RoundTrip(
      WorkerResult{.rows = 240'000, .file_bytes = 900'000, .partial = true});

  EXPECT_EQ(result.rows, 240'000);
  EXPECT_EQ(result.file_bytes, 900'000);
  EXPECT_TRUE(result.partial);
}

TEST(WorkerMessage, UnknownFieldsAreIgnored) {
  EXPECT_THAT(DecodeWorkerMessage(R"({"type":"ready","mood":"good"})"),
              IsOkAndHolds(VariantWith<Ready>(testing::_)));
}

class BadMessage : public testing::TestWithParam<std::string> {};

TEST_P(BadMessage, IsInvalidArgument) {
  EXPECT_THAT(DecodeWorkerMessage(GetParam()),
              StatusIs(StatusCode::kInvalidArgument));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadMessage,
    testing::Values(
        "", "garbage", "{}", "[]", "null", "7", R"("ready")",
        R"({"type":"ready")", R"({"type":7})", R"({"type":"unknown"})",
        R"({"type":"start"})", R"({"type":"hello"})",
        R"({"type":"hello","protocol":"1","version":""})",
        R"({"type":"hello","protocol":1e9,"version":""})",
        R"({"type":"hello","protocol":99999999999,"version":""})",
        R"({"type":"phase"})", R"({"type":"phase","phase":"lunch"})",
        R"({"type":"steps","phase":"timed","done":-1})",
        R"({"type":"steps","phase":"timed","done":5,"total":4})",
        R"({"type":"steps","phase":"timed","done":1.5})",
        R"({"type":"error","reason":"NO_SUCH","message":""})",
        R"({"type":"error","reason":"WORKER_FAILED"})",
        R"({"type":"result","rows":-1,"file_bytes":1,"partial":false})",
        R"({"type":"result","rows":18446744073709551615,"file_bytes":1,)"
        R"("partial":false})",
        R"({"type":"result","rows":1,"file_bytes":1,"partial":0})",
        "{\"type\":\"error\",\"reason\":\"WORKER_FAILED\",\"message\":"
        "\"\xff\"}",
        std::string("{\"type\":\"ready\"}\0", 17)));

TEST(WorkerMessage, LongAndDeepMessagesAreRefused) {
  EXPECT_THAT(DecodeWorkerMessage(std::string(kMaxMessageBytes + 1, ' ')),
              StatusIs(StatusCode::kInvalidArgument));
  EXPECT_THAT(DecodeWorkerMessage(std::string(kMaxMessageBytes, '[')),
              StatusIs(StatusCode::kInvalidArgument));
}

TEST(WorkerMessage, EveryTruncationIsRefused) {
  const std::string line = Encode(WorkerMessage(
      WorkerError{.message = "out of memory", .phase = Phase::kCold}));
  for (size_t size = 0; size + 2 < line.size(); ++size) {
    EXPECT_FALSE(DecodeWorkerMessage(line.substr(0, size)).ok());
  }
}

TEST(StartJob, ComesBack) {
  StartJob message;
  message.spec.workload = "matmul_add";
  message.spec.labels = {{"k", "v"}};
  message.out = "/tmp/x.parquet";
  message.job_id = "0mx257xtatekbwv3ado3";
  message.roofs = {.flops_per_second = {{"bf16", 7.5e14}},
                   .memory_bytes_per_second = 4.3e12};

  const absl::StatusOr<StartJob> decoded =
      DecodeStartJob(absl::StripSuffix(Encode(message), "\n"));

  ASSERT_THAT(decoded, IsOk());
  EXPECT_EQ(decoded->spec, message.spec);
  EXPECT_EQ(decoded->out, message.out);
  EXPECT_EQ(decoded->job_id, message.job_id);
  EXPECT_EQ(decoded->roofs, message.roofs);
}

TEST(StartJob, AFaultInTheSpecHasItsPath) {
  EXPECT_THAT(DecodeStartJob(R"({"type":"start","spec":{},"out":"x"})"),
              HasViolation("spec.workload"));
  EXPECT_THAT(DecodeStartJob(R"({"type":"ready"})"), HasViolation("type"));
}

std::vector<std::string> TakeAll(LineSplitter* splitter) {
  std::vector<std::string> lines;
  while (std::optional<std::string> line = splitter->Next()) {
    lines.push_back(*std::move(line));
  }
  return lines;
}

TEST(LineSplitter, JoinsPiecesAndCutsLines) {
  LineSplitter splitter;

  ASSERT_THAT(splitter.Add("a"), IsOk());
  EXPECT_THAT(TakeAll(&splitter), ElementsAre());
  ASSERT_THAT(splitter.Add("b\n\ncd\ne"), IsOk());
  EXPECT_THAT(TakeAll(&splitter), ElementsAre("ab", "", "cd"));
  ASSERT_THAT(splitter.Add("f\n"), IsOk());
  EXPECT_THAT(TakeAll(&splitter), ElementsAre("ef"));
}

TEST(LineSplitter, LinesMayWaitForMoreBytes) {
  LineSplitter splitter;
  ASSERT_THAT(splitter.Add("1\n2\n3"), IsOk());
  EXPECT_THAT(splitter.Next(), Optional(std::string("1")));

  ASSERT_THAT(splitter.Add("3\n"), IsOk());

  EXPECT_THAT(TakeAll(&splitter), ElementsAre("2", "33"));
}

TEST(LineSplitter, TakesALineOfExactlyTheLimit) {
  LineSplitter splitter;
  const std::string line(kMaxMessageBytes, 'x');

  ASSERT_THAT(splitter.Add(line), IsOk());
  ASSERT_THAT(splitter.Add("\n"), IsOk());

  EXPECT_THAT(TakeAll(&splitter), ElementsAre(line));
}

TEST(LineSplitter, ALongLineIsRefusedForGood) {
  LineSplitter splitter;

  ASSERT_THAT(splitter.Add("first\n"), IsOk());
  EXPECT_THAT(splitter.Add(std::string(kMaxMessageBytes + 1, 'x')),
              StatusIs(StatusCode::kResourceExhausted));
  EXPECT_THAT(splitter.Add("\nlast\n"),
              StatusIs(StatusCode::kResourceExhausted));

  EXPECT_THAT(TakeAll(&splitter), ElementsAre("first"));
}

TEST(LineSplitter, ALongLineInPiecesIsRefused) {
  LineSplitter splitter;
  absl::Status status;
  for (size_t i = 0; i <= kMaxMessageBytes / 1024 && status.ok(); ++i) {
    status = splitter.Add(std::string(1024, 'x'));
  }

  EXPECT_THAT(status, StatusIs(StatusCode::kResourceExhausted));
}

TEST(LineSplitter, ManyShortLinesInOneAddAreFine) {
  LineSplitter splitter;
  std::string lines;
  while (lines.size() < 3 * kMaxMessageBytes) lines += "line\n";

  ASSERT_THAT(splitter.Add(lines), IsOk());

  EXPECT_EQ(TakeAll(&splitter).size(), lines.size() / 5);
}

}  // namespace
}  // namespace traza
