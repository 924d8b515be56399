// SPDX-License-Identifier: Apache-2.0
#include "server/host/device_lease.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/file.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace traza {
namespace {

using IfTaken = DeviceLease::IfTaken;

constexpr char kUuid[] = "GPU-5b3f7e1c-0000-1111-2222-333344445555";

mode_t ModeOf(const std::filesystem::path& path) {
  struct stat file = {};
  EXPECT_EQ(::stat(path.c_str(), &file), 0) << path;
  return file.st_mode & 07777;
}

class DeviceLeaseTest : public ::testing::Test {
 protected:
  // As another daemon would.
  std::unique_ptr<DeviceLease> Make(const std::string& uuid = kUuid) {
    auto lease = DeviceLease::Create(folder_, uuid);
    EXPECT_THAT(lease, IsOk());
    return lease.ok() ? *std::move(lease) : nullptr;
  }
  static bool Acquire(DeviceLease& lease, IfTaken if_taken) {
    const auto acquired = lease.TryAcquire(if_taken);
    EXPECT_THAT(acquired, IsOk());
    return acquired.ok() && *acquired;
  }

  TempDir dir_;
  const std::filesystem::path folder_ = dir_.path() / "leases";
};

TEST_F(DeviceLeaseTest, OneHasItAtATime) {
  const auto first = Make();
  const auto second = Make();

  EXPECT_TRUE(Acquire(*first, IfTaken::kGiveUp));
  EXPECT_TRUE(Acquire(*first, IfTaken::kGiveUp)) << "still";
  EXPECT_FALSE(Acquire(*second, IfTaken::kGiveUp));
  EXPECT_TRUE(first->held());
  EXPECT_FALSE(second->held());

  first->Release();
  EXPECT_TRUE(Acquire(*second, IfTaken::kGiveUp));
}

TEST_F(DeviceLeaseTest, ItEndsWithItsHolder) {
  auto first = Make();
  ASSERT_TRUE(Acquire(*first, IfTaken::kGiveUp));

  first = nullptr;

  EXPECT_TRUE(Acquire(*Make(), IfTaken::kGiveUp));
}

TEST_F(DeviceLeaseTest, GpusAreLeasedApart) {
  const auto one = Make("GPU-a");
  const auto other = Make("MIG-b");

  EXPECT_TRUE(Acquire(*one, IfTaken::kGiveUp));
  EXPECT_TRUE(Acquire(*other, IfTaken::kGiveUp));
}

TEST_F(DeviceLeaseTest, WhoWaitsIsNext) {
  const auto busy = Make();
  const auto waiting = Make();
  ASSERT_TRUE(Acquire(*busy, IfTaken::kQueueUp));
  ASSERT_FALSE(Acquire(*waiting, IfTaken::kQueueUp));

  busy->Release();

  EXPECT_FALSE(Acquire(*busy, IfTaken::kQueueUp));
  EXPECT_TRUE(Acquire(*waiting, IfTaken::kQueueUp));
  waiting->Release();
  EXPECT_TRUE(Acquire(*busy, IfTaken::kQueueUp));
}

TEST_F(DeviceLeaseTest, WhoGivesUpIsNotNext) {
  const auto busy = Make();
  const auto other = Make();
  ASSERT_TRUE(Acquire(*busy, IfTaken::kQueueUp));
  ASSERT_FALSE(Acquire(*other, IfTaken::kGiveUp));

  busy->Release();

  EXPECT_TRUE(Acquire(*busy, IfTaken::kQueueUp));
}

TEST_F(DeviceLeaseTest, WhoLeavesTheQueueIsNotNext) {
  const auto busy = Make();
  const auto waiting = Make();
  ASSERT_TRUE(Acquire(*busy, IfTaken::kQueueUp));
  ASSERT_FALSE(Acquire(*waiting, IfTaken::kQueueUp));

  waiting->Release();
  busy->Release();

  EXPECT_TRUE(Acquire(*busy, IfTaken::kQueueUp));
}

TEST_F(DeviceLeaseTest, NamesItsHolder) {
  const auto lease = Make();
  const auto other = Make();
  EXPECT_EQ(other->Holder(), std::nullopt);

  ASSERT_TRUE(Acquire(*lease, IfTaken::kGiveUp));

  if (!std::filesystem::exists("/proc/locks")) {
    GTEST_SKIP() << "this kernel has no /proc/locks";
  }
  EXPECT_EQ(other->Holder(), ::getpid());
  EXPECT_EQ(lease->Holder(), ::getpid());
  lease->Release();
  EXPECT_EQ(other->Holder(), std::nullopt);
}

TEST_F(DeviceLeaseTest, DaemonsOfOtherUsersMeetThere) {
  const mode_t before = ::umask(077);
  const auto lease = Make("GPU-a");
  ::umask(before);

  EXPECT_EQ(ModeOf(folder_), 01777u);
  EXPECT_EQ(ModeOf(folder_ / "GPU-a.lock"), 0644u);
  EXPECT_EQ(ModeOf(folder_ / "GPU-a.next"), 0644u);
}

TEST_F(DeviceLeaseTest, AnExistingFolderStaysAsItIs) {
  ASSERT_THAT(MakeDirectories(folder_), IsOk());

  EXPECT_TRUE(Acquire(*Make(), IfTaken::kGiveUp));

  EXPECT_EQ(ModeOf(folder_), 0700u);
}

TEST_F(DeviceLeaseTest, FollowsNoLink) {
  ASSERT_THAT(MakeDirectories(folder_), IsOk());
  std::filesystem::create_symlink(dir_.path() / "elsewhere",
                                  folder_ / "GPU-a.lock");

  EXPECT_FALSE(DeviceLease::Create(folder_, "GPU-a").ok());

  EXPECT_FALSE(std::filesystem::exists(dir_.path() / "elsewhere"));
}

TEST_F(DeviceLeaseTest, AFolderThatCannotBeMadeIsAnError) {
  EXPECT_FALSE(
      DeviceLease::Create(dir_.path() / "missing" / "leases", kUuid).ok());
}

TEST_F(DeviceLeaseTest, WhatIsNoUuidNamesNoFile) {
  for (const char* bad : {"", "../x", "a/b", "GPU a"}) {
    EXPECT_THAT(DeviceLease::Create(folder_, bad),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << bad;
  }
}

}  // namespace
}  // namespace traza
