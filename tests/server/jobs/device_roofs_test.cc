// SPDX-License-Identifier: Apache-2.0
#include "server/jobs/device_roofs.h"

#include <memory>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/fake_clock.h"
#include "tests/support/fake_worker_launcher.h"
#include "tests/support/sample_description.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace traza {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr char kUuid[] = "GPU-5c1c5e3f-0000-4000-8000-000000000000";

class FillRoofsTest : public ::testing::Test {
 protected:
  FillRoofsTest() : store_(*JobStore::Open(dir_ / "traza.db")) {
    host_.versions = {{"torch", "2.11.0"}, {"driver", "580.1"}};
    host_.devices = {{.id = "cpu", .kind = DeviceKind::kCpu},
                     {.id = "gpu0", .kind = DeviceKind::kGpu, .uuid = kUuid}};
  }

  void Fill(DeviceLease* lease = nullptr) {
    FillRoofs({.launcher = launcher_,
               .store = *store_,
               .clock = clock_,
               .lease_of = [&](const std::string&) { return lease; }},
              &host_);
  }
  const DeviceRoofs& Roofs() const { return host_.devices[1].roofs; }

  TempDir dir_;
  FakeClock clock_;
  FakeWorkerLauncher launcher_;
  std::unique_ptr<JobStore> store_;
  WorkerDescription host_;
};

TEST_F(FillRoofsTest, MeasuresAGpuOnce) {
  Fill();
  EXPECT_EQ(Roofs().memory_bytes_per_second, 4e12);
  host_.devices[1].roofs = {};

  Fill();

  EXPECT_EQ(Roofs().memory_bytes_per_second, 4e12);
  EXPECT_THAT(launcher_.measured(), ElementsAre("gpu0"));
}

TEST_F(FillRoofsTest, MeasuresAgainWithAnotherDriver) {
  Fill();
  host_.versions["driver"] = "590.2";

  Fill();

  EXPECT_THAT(launcher_.measured(), ElementsAre("gpu0", "gpu0"));
}

TEST_F(FillRoofsTest, AFailureLeavesThemUnknownAndIsTriedAgain) {
  launcher_.FailWith(absl::InternalError("no"));
  Fill();
  EXPECT_EQ(Roofs(), DeviceRoofs());
  launcher_.FailWith(absl::OkStatus());

  Fill();

  EXPECT_EQ(Roofs().memory_bytes_per_second, 4e12);
}

TEST_F(FillRoofsTest, AGpuThatRunsNoJobsIsNotMeasured) {
  host_.devices[1].unavailable = "No driver.";

  Fill();

  EXPECT_THAT(launcher_.measured(), IsEmpty());
}

TEST_F(FillRoofsTest, AGpuOnWhichAnotherDaemonMeasuresIsLeftAlone) {
  const auto theirs = *DeviceLease::Create(dir_.path(), kUuid);
  const auto ours = *DeviceLease::Create(dir_.path(), kUuid);
  ASSERT_TRUE(*theirs->TryAcquire(DeviceLease::IfTaken::kGiveUp));

  Fill(ours.get());

  EXPECT_THAT(launcher_.measured(), IsEmpty());
  EXPECT_EQ(Roofs(), DeviceRoofs());
}

TEST_F(FillRoofsTest, TheLeaseIsGivenBack) {
  const auto theirs = *DeviceLease::Create(dir_.path(), kUuid);
  const auto ours = *DeviceLease::Create(dir_.path(), kUuid);

  Fill(ours.get());

  EXPECT_TRUE(*theirs->TryAcquire(DeviceLease::IfTaken::kGiveUp));
}

}  // namespace
}  // namespace traza
