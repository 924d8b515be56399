// SPDX-License-Identifier: Apache-2.0
#include "worker/daemon_link.h"

#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

#include "base/check.h"
#include "base/file.h"
#include "base/subprocess.h"
#include "spec/worker_description.h"
#include "tests/support/status_matchers.h"
#include "tests/support/wait_until.h"

namespace traza {
namespace {

class DaemonLinkTest : public testing::Test {
 protected:
  DaemonLinkTest() {
    auto [daemon, worker] = *MakeSocketPair();
    daemon_ = std::move(daemon);
    worker_ = std::move(worker);
  }

  // The next message of the worker.
  WorkerMessage Receive() {
    for (;;) {
      if (const auto line = lines_.Next()) return *DecodeWorkerMessage(*line);
      char bytes[4096];
      const ssize_t size = read(daemon_.get(), bytes, sizeof bytes);
      TRAZA_CHECK(size > 0);
      TRAZA_CHECK(
          lines_.Add(absl::string_view(bytes, static_cast<size_t>(size))).ok());
    }
  }
  // The next one of a kind; others are skipped.
  template <typename Message>
  Message ReceiveA() {
    for (;;) {
      const WorkerMessage message = Receive();
      if (const auto* const wanted = std::get_if<Message>(&message)) {
        return *wanted;
      }
    }
  }
  void Say(absl::string_view line) {
    ASSERT_THAT(WriteAll(daemon_.get(), line), IsOk());
  }

  UniqueFd daemon_;
  UniqueFd worker_;
  LineSplitter lines_;
  std::atomic<bool> stop_{false};
};

StartJob SampleJob() {
  StartJob start;
  start.spec.workload = "matmul_add";
  start.spec.variant = "eager";
  start.spec.device = "cpu";
  start.spec.params = {{"size", "64"}};
  start.out = "/tmp/x.parquet";
  return start;
}

// The pair is the child's own: this process would keep its end open.
void LoseTheDaemon() {
  auto [daemon, worker] = *MakeSocketPair();
  const DaemonLink link(std::move(worker));
  daemon.Reset();
  (void)WaitUntil([] { return false; });
}

TEST_F(DaemonLinkTest, SaysHelloFirst) {
  const DaemonLink link(std::move(worker_));

  const WorkerMessage message = Receive();

  ASSERT_TRUE(std::holds_alternative<Hello>(message));
  EXPECT_EQ(std::get<Hello>(message).protocol, kWorkerProtocol);
}

TEST_F(DaemonLinkTest, HandsOverTheJob) {
  DaemonLink link(std::move(worker_));
  Say(Encode(SampleJob()));

  const absl::StatusOr<StartJob> start = link.WaitForJob(stop_);

  ASSERT_THAT(start, IsOk());
  EXPECT_EQ(start->spec, SampleJob().spec);
  EXPECT_EQ(start->out, "/tmp/x.parquet");
}

TEST_F(DaemonLinkTest, TakesAJobThatComesInPieces) {
  DaemonLink link(std::move(worker_));
  const std::string line = Encode(SampleJob());
  Say(line.substr(0, 10));
  Receive();
  Say(line.substr(10));

  EXPECT_THAT(link.WaitForJob(stop_), IsOk());
}

TEST_F(DaemonLinkTest, RefusesWhatIsNoJob) {
  DaemonLink link(std::move(worker_));
  Say("{\"type\": \"nonsense\"}\n");

  EXPECT_THAT(link.WaitForJob(stop_),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(DaemonLinkTest, StopEndsTheWait) {
  DaemonLink link(std::move(worker_));
  stop_ = true;

  EXPECT_THAT(link.WaitForJob(stop_), StatusIs(absl::StatusCode::kCancelled));
}

TEST_F(DaemonLinkTest, ReportsPhasesAtOnceAndStepsNowAndThen) {
  DaemonLink link(std::move(worker_));
  link.OnPhase(Phase::kWarmup, std::nullopt);
  link.OnPhase(Phase::kTraced, 30);
  link.set_done(7);

  EXPECT_EQ(ReceiveA<PhaseStarted>().phase, Phase::kWarmup);
  EXPECT_EQ(ReceiveA<PhaseStarted>().phase, Phase::kTraced);
  const auto steps = ReceiveA<StepsDone>();
  EXPECT_EQ(steps.phase, Phase::kTraced);
  EXPECT_EQ(steps.done, 7);
  EXPECT_EQ(steps.total, 30);
}

TEST_F(DaemonLinkTest, ANewPhaseCountsFromZero) {
  DaemonLink link(std::move(worker_));
  link.OnPhase(Phase::kWarmup, std::nullopt);
  link.set_done(7);

  link.OnPhase(Phase::kTimed, 30);

  EXPECT_EQ(link.done(), 0);
}

TEST_F(DaemonLinkTest, BeatsWhileItWaits) {
  const DaemonLink link(std::move(worker_));

  ReceiveA<Heartbeat>();
}

TEST_F(DaemonLinkTest, TheProcessEndsWithTheDaemon) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(LoseTheDaemon(), testing::ExitedWithCode(3), "");
}

}  // namespace
}  // namespace traza
