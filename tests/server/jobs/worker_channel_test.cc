// SPDX-License-Identifier: Apache-2.0
#include "server/jobs/worker_channel.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/utf8.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_worker_launcher.h"
#include "tests/support/status_matchers.h"

namespace traza {
namespace {

using testing::HasSubstr;
using testing::Not;

class WorkerChannelTest : public ::testing::Test {
 protected:
  WorkerChannelTest()
      : channel_(*launcher_.Launch({.device = "cpu"}), clock_),
        worker_(launcher_.Await(0)) {}

  void ExpectNonsense(const std::string& words) {
    const absl::Status status = channel_.Read();
    EXPECT_THAT(status, HasReason(Reason::kWorkerProtocol));
    EXPECT_THAT(std::string(status.message()), HasSubstr(words));
  }

  FakeClock clock_;
  FakeWorkerLauncher launcher_;
  WorkerChannel channel_;
  std::shared_ptr<FakeWorker> worker_;
};

TEST_F(WorkerChannelTest, KeepsTheHandshakeAndHandsOutTheRest) {
  worker_->SayReady();
  worker_->Say(PhaseStarted{Phase::kTraced});

  EXPECT_THAT(channel_.Read(), IsOk());

  EXPECT_TRUE(channel_.hello());
  EXPECT_TRUE(channel_.ready());
  const auto message = channel_.Next();
  ASSERT_TRUE(message.has_value());
  EXPECT_TRUE(std::holds_alternative<PhaseStarted>(*message));
  EXPECT_FALSE(channel_.Next().has_value());
}

TEST_F(WorkerChannelTest, NothingToReadIsFine) {
  EXPECT_THAT(channel_.Read(), IsOk());
  EXPECT_FALSE(channel_.closed());
}

TEST_F(WorkerChannelTest, AnEndOfTheStreamIsNoError) {
  worker_->SayHello();
  worker_->theirs.Reset();

  EXPECT_THAT(channel_.Read(), IsOk());

  EXPECT_TRUE(channel_.hello());
  EXPECT_TRUE(channel_.closed());
}

TEST_F(WorkerChannelTest, AMessageBeforeHelloIsNonsense) {
  worker_->Say(Heartbeat{});

  ExpectNonsense("hello");
}

TEST_F(WorkerChannelTest, AnotherVersionIsNamedWithBothNumbers) {
  worker_->Say(Hello{kWorkerProtocol + 6, "9.9"});

  ExpectNonsense(absl::StrCat("version ", kWorkerProtocol + 6));
}

TEST_F(WorkerChannelTest, GarbageIsNonsense) {
  worker_->SayHello();
  worker_->SayBytes("{\"type\": \xff\n");

  ExpectNonsense("cannot be read");
}

TEST_F(WorkerChannelTest, ALineWithoutEndIsNotBuffered) {
  worker_->SayHello();
  EXPECT_THAT(channel_.Read(), IsOk());

  absl::Status status;
  for (int i = 0; i < 10 && status.ok(); ++i) {
    worker_->SayBytes(std::string(16 << 10, 'x'));
    status = channel_.Read();
  }

  EXPECT_THAT(status, HasReason(Reason::kWorkerProtocol));
}

TEST_F(WorkerChannelTest, TooManyMessagesAreNonsense) {
  worker_->SayHello();
  std::string block;
  for (int i = 0; i < 500; ++i) block += Encode(Heartbeat{});

  absl::Status status;
  int blocks = 0;
  for (; blocks < 1000 && status.ok(); ++blocks) {
    worker_->SayBytes(block);
    status = channel_.Read();
  }

  EXPECT_THAT(status, HasReason(Reason::kWorkerProtocol));
  EXPECT_GE(blocks * 500, WorkerChannel::kMaxMessageBurst);
}

TEST_F(WorkerChannelTest, ManyMessagesOverALongTimeAreFine) {
  worker_->SayHello();
  std::string block;
  for (int i = 0; i < 500; ++i) block += Encode(Heartbeat{});

  for (int second = 0; second < 100; ++second) {
    worker_->SayBytes(block);
    EXPECT_THAT(channel_.Read(), IsOk());
    while (channel_.Next().has_value()) {
    }
    clock_.Advance(absl::Seconds(1));
  }
}

TEST_F(WorkerChannelTest, SendsTheJob) {
  StartJob start;
  start.spec = MakeJob("a").spec;
  start.out = "/data/tmp/a.parquet";

  EXPECT_THAT(channel_.Start(start), IsOk());

  const auto received = worker_->AwaitJob();
  ASSERT_TRUE(received.has_value());
  EXPECT_EQ(received->spec, start.spec);
  EXPECT_EQ(received->out, start.out);
}

TEST_F(WorkerChannelTest, AJobForAWorkerThatIsGoneFails) {
  worker_->theirs.Reset();

  EXPECT_FALSE(channel_.Start({}).ok());
}

TEST_F(WorkerChannelTest, KeepsTheEndOfStderrAsText) {
  worker_->Complain(std::string(30'000, 'x'));
  worker_->Complain("caf\xc3\xa9\x1b[31m \xff\n");

  channel_.ReadStderr();

  const std::string words = channel_.LastWords();
  EXPECT_LE(words.size(), kLastWordsBytes);
  EXPECT_THAT(words, HasSubstr("caf\xc3\xa9[31m \xef\xbf\xbd\n"));
  EXPECT_THAT(words, Not(HasSubstr("\x1b")));
}

TEST_F(WorkerChannelTest, LastWordsNeverCutACharacter) {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += "\xe2\x82\xac";  // euro signs
  worker_->Complain(text);

  channel_.ReadStderr();

  const std::string words = channel_.LastWords();
  EXPECT_LE(words.size(), kLastWordsBytes);
  EXPECT_GT(words.size(), kLastWordsBytes - 16);
  EXPECT_TRUE(IsValidUtf8(words));
}

}  // namespace
}  // namespace traza
