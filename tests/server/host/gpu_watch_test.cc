// SPDX-License-Identifier: Apache-2.0
#include "server/host/gpu_watch.h"

#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/fake_clock.h"
#include "tests/support/fake_gpu_monitor.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait_until.h"

namespace traza {
namespace {

using testing::IsEmpty;

GpuReading Watts(double watts) {
  GpuReading reading;
  reading.power_watts = watts;
  return reading;
}

// What the watch owns: one driver that the test keeps, too.
class Borrowed final : public GpuMonitor {
 public:
  explicit Borrowed(std::shared_ptr<FakeGpuMonitor> gpus)
      : gpus_(std::move(gpus)) {}
  absl::StatusOr<GpuReading> Read(absl::string_view uuid,
                                  GpuFields fields) override {
    return gpus_->Read(uuid, fields);
  }

 private:
  const std::shared_ptr<FakeGpuMonitor> gpus_;
};

class GpuWatchTest : public ::testing::Test {
 protected:
  GpuWatchTest() { gpus_->Set("GPU-a", Watts(100)); }

  void Watch(std::vector<WatchedGpu> gpus = {{"gpu0", "GPU-a"}}) {
    watch_ = std::make_unique<GpuWatch>(
        options_, std::move(gpus),
        [this, gpus = gpus_]() -> absl::StatusOr<std::unique_ptr<GpuMonitor>> {
          ++opened_;
          if (no_driver_) return absl::NotFoundError("no driver");
          return std::make_unique<Borrowed>(gpus);
        },
        clock_);
  }
  GpuSample One() {
    std::vector<GpuSample> samples = watch_->Latest();
    EXPECT_EQ(samples.size(), 1u);
    return samples.empty() ? GpuSample() : samples[0];
  }

  // Long enough for any thread; tests that time out set less.
  GpuWatchOptions options_{.max_wait = absl::Seconds(20),
                           .patience = absl::Seconds(20)};
  const std::shared_ptr<FakeGpuMonitor> gpus_ =
      std::make_shared<FakeGpuMonitor>();
  std::atomic<bool> no_driver_ = false;
  std::atomic<int> opened_ = 0;
  FakeClock clock_;
  std::unique_ptr<GpuWatch> watch_;
};

TEST_F(GpuWatchTest, ReadsWhenAskedAndNeverOtherwise) {
  Watch();
  EXPECT_EQ(opened_, 0);

  const GpuSample sample = One();

  EXPECT_EQ(sample.device, "gpu0");
  EXPECT_EQ(sample.reading->power_watts, 100);
  EXPECT_EQ(sample.age, absl::ZeroDuration());
  EXPECT_EQ(sample.state, GpuState::kIdle);
  EXPECT_EQ(gpus_->reads(), 1);
}

TEST_F(GpuWatchTest, ManyWhoAskInASecondCauseOneReading) {
  Watch();
  One();
  gpus_->Set("GPU-a", Watts(200));
  clock_.Advance(absl::Milliseconds(999));
  EXPECT_EQ(One().reading->power_watts, 100);
  EXPECT_EQ(One().age, absl::Milliseconds(999));

  clock_.Advance(absl::Milliseconds(1));

  EXPECT_EQ(One().reading->power_watts, 200);
  EXPECT_EQ(gpus_->reads(), 2);
}

TEST_F(GpuWatchTest, WithoutADriverThereIsNothing) {
  no_driver_ = true;
  Watch();

  EXPECT_THAT(watch_->Latest(), IsEmpty());
}

TEST_F(GpuWatchTest, ADriverThatComesLaterIsFound) {
  no_driver_ = true;
  Watch();
  EXPECT_THAT(watch_->Latest(), IsEmpty());
  no_driver_ = false;
  clock_.Advance(absl::Seconds(30));
  EXPECT_THAT(watch_->Latest(), IsEmpty());
  EXPECT_EQ(opened_, 1) << "it is not looked for all the time";

  clock_.Advance(absl::Seconds(30));

  EXPECT_EQ(One().reading->power_watts, 100);
}

TEST_F(GpuWatchTest, ADriverThatHangsDelaysNobodyForLong) {
  options_.max_wait = absl::Milliseconds(10);
  options_.patience = absl::Milliseconds(10);
  Watch();
  ASSERT_TRUE(WaitUntil([&] {
    const std::vector<GpuSample> samples = watch_->Latest();
    return !samples.empty() && samples[0].reading.has_value();
  }));
  gpus_->Hang(true);
  const int reads = gpus_->reads();
  clock_.Advance(absl::Seconds(30));

  EXPECT_EQ(One().reading->power_watts, 100) << "the last one";
  EXPECT_EQ(One().age, absl::Seconds(30));
  EXPECT_TRUE(gpus_->AwaitReads(reads + 1));
  clock_.Advance(absl::Seconds(31));
  EXPECT_FALSE(One().reading.has_value()) << "it is too old";
  EXPECT_EQ(One().age, absl::Seconds(61));
  EXPECT_EQ(One().state, GpuState::kUnhealthy);
  EXPECT_EQ(gpus_->reads(), reads + 1);

  // The thread stays behind.
  watch_ = nullptr;
  gpus_->Hang(false);
}

TEST_F(GpuWatchTest, AGpuThatDoesNotAnswerHasNoValues) {
  Watch({{"gpu0", "GPU-a"}, {"gpu1", "GPU-b"}});
  gpus_->Set("GPU-b", Watts(300));
  watch_->Latest();
  gpus_->Set("GPU-a", absl::UnavailableError("lost"));
  clock_.Advance(absl::Seconds(1));

  const std::vector<GpuSample> samples = watch_->Latest();

  ASSERT_EQ(samples.size(), 2u);
  EXPECT_FALSE(samples[0].reading.has_value());
  EXPECT_EQ(samples[0].state, GpuState::kUnhealthy);
  EXPECT_EQ(samples[0].errors.at("device"), 1);
  EXPECT_EQ(samples[0].age, absl::Seconds(1));
  EXPECT_EQ(samples[1].reading->power_watts, 300);
  EXPECT_EQ(samples[1].errors.at("device"), 0);
}

TEST_F(GpuWatchTest, ADriverThatAnswersNothingIsOpenedAgain) {
  Watch();
  One();
  gpus_->Set("GPU-a", absl::UnavailableError("reset"));
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(One().state, GpuState::kUnhealthy);
  no_driver_ = true;
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(One().errors.at("device"), 2);

  no_driver_ = false;
  gpus_->Set("GPU-a", Watts(50));
  clock_.Advance(absl::Seconds(1));

  EXPECT_EQ(One().reading->power_watts, 50);
  EXPECT_EQ(opened_, 3);
}

TEST_F(GpuWatchTest, CountsWhatCannotBeRead) {
  GpuReading reading = Watts(100);
  reading.errors = {{"energy", "no permission"}};
  gpus_->Set("GPU-a", reading);
  Watch();
  One();
  clock_.Advance(absl::Seconds(1));

  const GpuSample sample = One();

  EXPECT_EQ(sample.errors.at("energy"), 2);
  EXPECT_EQ(sample.errors.at("power"), 0);
  EXPECT_EQ(sample.errors.size(), std::size(kGpuFields) + 1);
  EXPECT_EQ(sample.state, GpuState::kIdle);
}

TEST_F(GpuWatchTest, AForeignProcessMakesAGpuExternal) {
  GpuReading reading = Watts(100);
  reading.processes = {{1, std::nullopt}};
  gpus_->Set("GPU-a", reading);
  Watch();

  EXPECT_EQ(One().state, GpuState::kExternal);
}

TEST_F(GpuWatchTest, ALeaseOfAnyDaemonMakesAGpuLeased) {
  TempDir dir;
  auto ours = DeviceLease::Create(dir.path() / "leases", "GPU-a");
  auto theirs = DeviceLease::Create(dir.path() / "leases", "GPU-a");
  ASSERT_THAT(ours, IsOk());
  ASSERT_THAT(theirs, IsOk());
  Watch({{"gpu0", "GPU-a", ours->get()}});
  EXPECT_EQ(One().state, GpuState::kIdle);

  ASSERT_THAT((*theirs)->TryAcquire(DeviceLease::IfTaken::kGiveUp),
              IsOkAndHolds(true));

  EXPECT_EQ(One().state, GpuState::kLeased);
}

TEST_F(GpuWatchTest, ManyMayAskAtOnce) {
  Watch();
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n < 50; ++n) {
          EXPECT_EQ(One().reading->power_watts, 100);
          clock_.Advance(absl::Milliseconds(500));
        }
      });
    }
  }
  EXPECT_LE(gpus_->reads(), 101);
}

TEST(GpuStateName, NamesEveryState) {
  EXPECT_EQ(GpuStateName(GpuState::kIdle), "idle");
  EXPECT_EQ(GpuStateName(GpuState::kLeased), "leased");
  EXPECT_EQ(GpuStateName(GpuState::kExternal), "external");
  EXPECT_EQ(GpuStateName(GpuState::kUnhealthy), "unhealthy");
}

}  // namespace
}  // namespace traza
