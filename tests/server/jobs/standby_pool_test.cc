// SPDX-License-Identifier: Apache-2.0
#include "server/jobs/standby_pool.h"

#include <algorithm>
#include <csignal>
#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/fake_clock.h"
#include "tests/support/fake_worker_launcher.h"

namespace traza {
namespace {

using testing::HasSubstr;

class StandbyPoolTest : public ::testing::Test {
 protected:
  std::unique_ptr<StandbyPool> Pool(int workers) {
    return std::make_unique<StandbyPool>(
        StandbyPoolOptions{.device = "cpu", .workers = workers}, launcher_,
        metrics_, clock_);
  }
  void ExpectReady(int count) {
    EXPECT_THAT(metrics_.Text(),
                HasSubstr("traza_standby_workers{device=\"cpu\"} " +
                          std::to_string(count)));
  }

  FakeClock clock_;
  FakeWorkerLauncher launcher_;
  Metrics metrics_;
};

TEST_F(StandbyPoolTest, StartsNothingWhenItIsOff) {
  const auto pool = Pool(0);

  pool->Maintain();

  EXPECT_EQ(launcher_.launched(), 0u);
  EXPECT_FALSE(pool->Take().has_value());
  EXPECT_EQ(pool->NextDeadline(), absl::InfiniteDuration());
}

TEST_F(StandbyPoolTest, StartsWorkersOneAfterTheOther) {
  const auto pool = Pool(2);
  pool->Maintain();
  EXPECT_EQ(launcher_.launched(), 1u);
  EXPECT_TRUE(launcher_.Await(0)->options.standby);
  ExpectReady(0);

  launcher_.Await(0)->SayReady();
  pool->Maintain();
  EXPECT_EQ(launcher_.launched(), 2u);
  ExpectReady(1);
  launcher_.Await(1)->SayReady();
  pool->Maintain();

  EXPECT_EQ(launcher_.launched(), 2u);
  ExpectReady(2);
}

TEST_F(StandbyPoolTest, StartsNothingWhenItMayNot) {
  const auto pool = Pool(1);

  pool->Maintain(/*may_start=*/false);

  EXPECT_EQ(launcher_.launched(), 0u);
  EXPECT_FALSE(pool->loading());
  pool->Maintain();
  EXPECT_TRUE(pool->loading());
}

TEST_F(StandbyPoolTest, GivesAReadyWorkerOnce) {
  const auto pool = Pool(1);
  pool->Maintain();
  launcher_.Await(0)->SayReady();

  auto worker = pool->Take();

  ASSERT_TRUE(worker.has_value());
  EXPECT_TRUE(worker->ready());
  EXPECT_FALSE(pool->Take().has_value());
  ExpectReady(0);
  EXPECT_EQ(launcher_.launched(), 1u);
  pool->Maintain();
  EXPECT_EQ(launcher_.launched(), 2u);
}

TEST_F(StandbyPoolTest, GivesALoadingWorkerWhenNoneIsReady) {
  const auto pool = Pool(1);
  pool->Maintain();

  const auto worker = pool->Take();

  ASSERT_TRUE(worker.has_value());
  EXPECT_FALSE(worker->ready());
}

TEST_F(StandbyPoolTest, DropsWhatStillLoadsForAMeasurement) {
  const auto pool = Pool(2);
  pool->Maintain();
  launcher_.Await(0)->SayReady();
  pool->Maintain();

  pool->DropLoading();

  EXPECT_TRUE(launcher_.Await(1)->killed());
  EXPECT_FALSE(launcher_.Await(0)->killed());
}

TEST_F(StandbyPoolTest, AWorkerThatDiesIsReplacedWithAGrowingDelay) {
  const auto pool = Pool(1);
  pool->Maintain();
  for (size_t i = 0; i < 8; ++i) {
    launcher_.Await(i)->Exit({1, std::nullopt});
    pool->Maintain();
    EXPECT_EQ(launcher_.launched(), i + 1) << "no start at once";
    const absl::Duration delay = pool->NextDeadline() - clock_.Monotonic();
    EXPECT_EQ(delay, std::min(absl::Seconds(1 << i), absl::Minutes(1)));
    clock_.Advance(delay);
    pool->Maintain();
    EXPECT_EQ(launcher_.launched(), i + 2);
  }
}

TEST_F(StandbyPoolTest, AReadyWorkerResetsTheDelay) {
  const auto pool = Pool(1);
  pool->Maintain();
  for (size_t i = 0; i < 3; ++i) {
    launcher_.Await(i)->Exit({1, std::nullopt});
    pool->Maintain();
    clock_.Advance(absl::Minutes(1));
    pool->Maintain();
  }
  launcher_.Await(3)->SayReady();
  pool->Maintain();

  launcher_.Await(3)->Exit({1, std::nullopt});
  pool->Maintain();

  EXPECT_EQ(pool->NextDeadline() - clock_.Monotonic(), absl::Seconds(1));
}

TEST_F(StandbyPoolTest, ADeadWorkerIsNotGiven) {
  const auto pool = Pool(1);
  pool->Maintain();
  launcher_.Await(0)->SayReady();
  pool->Maintain();

  launcher_.Await(0)->Exit({std::nullopt, SIGSEGV});

  EXPECT_FALSE(pool->Take().has_value());
}

TEST_F(StandbyPoolTest, AWorkerThatIsNotReadyInTimeIsKilled) {
  const auto pool = Pool(1);
  pool->Maintain();
  launcher_.Await(0)->SayHello();
  clock_.Advance(pool->NextDeadline() - clock_.Monotonic());

  pool->Maintain();

  EXPECT_TRUE(launcher_.Await(0)->killed());
}

TEST_F(StandbyPoolTest, NonsenseOfAWorkerKillsIt) {
  const auto pool = Pool(1);
  pool->Maintain();
  launcher_.Await(0)->SayBytes("nonsense\n");

  pool->Maintain();

  EXPECT_TRUE(launcher_.Await(0)->killed());
}

TEST_F(StandbyPoolTest, AStartThatFailsIsTriedAgainLater) {
  const auto pool = Pool(1);
  launcher_.FailWith(absl::InternalError("no such program"));
  pool->Maintain();
  launcher_.FailWith(absl::OkStatus());
  pool->Maintain();
  EXPECT_EQ(launcher_.launched(), 0u);

  clock_.Advance(absl::Seconds(1));
  pool->Maintain();

  EXPECT_EQ(launcher_.launched(), 1u);
}

TEST_F(StandbyPoolTest, EndsItsWorkersWithItself) {
  auto pool = Pool(1);
  pool->Maintain();

  pool.reset();

  EXPECT_TRUE(launcher_.Await(0)->killed());
}

}  // namespace
}  // namespace traza
