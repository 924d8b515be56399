// SPDX-License-Identifier: Apache-2.0
#include "worker/package_cache.h"

#include <fcntl.h>
#include <sys/file.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/file.h"
#include "tests/support/stand_in_python.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait_until.h"

namespace traza {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class PackageCacheTest : public testing::Test {
 protected:
  PackageCacheTest() {
    request_.workload = "linear";
    request_.step = {"linear", {{"x", {4, 8}, "bf16"}, {"w", {2, 8}, "bf16"}}};
    request_.device.id = "gpu1";
    request_.device.model = "NVIDIA H200";
    request_.device.compute_capability = "9.0";
    request_.torch = "2.11.0";
  }

  absl::StatusOr<CachedPackage> Get() {
    const HostPython python = *HostPython::Find(stand_in_.environment());
    return PackageCache(folder(), timeout_, python, stop_).Get(request_);
  }
  std::filesystem::path folder() const { return dir_ / "models/compiled"; }
  // Everything in the folder but packages, their facts and their locks.
  int Leftovers() const {
    int count = 0;
    std::error_code error;
    for (const auto& entry :
         std::filesystem::directory_iterator(folder(), error)) {
      const std::string end = entry.path().extension();
      if (end != ".pt2" && end != ".json" && end != ".lock") ++count;
    }
    return count;
  }

  TempDir dir_;
  StandInPython stand_in_{dir_.path()};
  absl::Duration timeout_ = absl::Seconds(20);
  std::atomic<bool> stop_ = false;
  PackageRequest request_;
};

TEST_F(PackageCacheTest, BuildsOnceAndFindsItAgain) {
  const auto first = Get();
  const auto second = Get();

  ASSERT_THAT(first, IsOk());
  ASSERT_THAT(second, IsOk());
  EXPECT_TRUE(first->built);
  EXPECT_FALSE(second->built);
  EXPECT_EQ(first->path, second->path);
  EXPECT_THAT(first->path.filename().native(), StartsWith("linear-"));
  EXPECT_EQ(*ReadFile(first->path, 100), "package");
  EXPECT_EQ(stand_in_.compilations(), 1);
  EXPECT_EQ(Leftovers(), 0);
}

TEST_F(PackageCacheTest, TheScriptGetsShapesAndTheDevice) {
  stand_in_.Play("cp \"$4\" \"$out\"");

  const auto package = Get();

  ASSERT_THAT(package, IsOk());
  const std::string request = *ReadFile(package->path, 10'000);
  EXPECT_THAT(request, HasSubstr(R"("device":1)"));
  EXPECT_THAT(request, HasSubstr(R"("module":"linear")"));
  EXPECT_THAT(request,
              HasSubstr(R"({"dtype":"bf16","name":"x","shape":[4,8]})"));
}

TEST_F(PackageCacheTest, WhateverDecidesThePackageHasOneOfItsOwn) {
  std::vector<std::string> paths = {Get()->path};
  const PackageRequest first = request_;
  const std::vector<void (*)(PackageRequest&)> changes = {
      [](PackageRequest& r) { r.step.inputs[0].shape[0] = 5; },
      [](PackageRequest& r) { r.step.inputs[0].dtype = "fp16"; },
      [](PackageRequest& r) { r.device.model = "NVIDIA H100"; },
      [](PackageRequest& r) { r.device.compute_capability = "10.0"; },
      [](PackageRequest& r) { r.torch = "2.11.1"; }};
  for (const auto change : changes) {
    request_ = first;
    change(request_);
    paths.push_back(Get()->path);
  }
  request_ = first;
  EXPECT_THAT(WriteFileAtomically(stand_in_.script(), "# another\n"), IsOk());
  paths.push_back(Get()->path);

  EXPECT_EQ(stand_in_.compilations(), paths.size());
  std::ranges::sort(paths);
  EXPECT_EQ(std::ranges::adjacent_find(paths), paths.end());
}

TEST_F(PackageCacheTest, AnotherGpuOfTheModelTakesTheSame) {
  ASSERT_THAT(Get(), IsOk());
  request_.device.id = "gpu3";

  EXPECT_FALSE(Get()->built);
}

TEST_F(PackageCacheTest, ADamagedPackageIsBuiltAnew) {
  const std::filesystem::path path = Get()->path;
  ASSERT_THAT(WriteFileAtomically(path, "packag"), IsOk());

  const auto again = Get();

  ASSERT_THAT(again, IsOk());
  EXPECT_TRUE(again->built);
  EXPECT_EQ(*ReadFile(path, 100), "package");
}

TEST_F(PackageCacheTest, APackageWithoutItsFactsIsNone) {
  std::filesystem::path facts = Get()->path;
  facts.replace_extension(".json");
  for (const char* text : {"", "{", "[1]", R"({"sha256": 7})"}) {
    ASSERT_THAT(WriteFileAtomically(facts, text), IsOk());

    EXPECT_TRUE(Get()->built) << text;
  }
}

TEST_F(PackageCacheTest, TwoThatWantTheSameBuildItOnce) {
  stand_in_.Play("sleep 0.3; printf package >\"$out\"");
  std::atomic<int> built = 0;
  {
    std::vector<std::jthread> workers;
    for (int i = 0; i < 4; ++i) {
      workers.emplace_back([&] {
        const auto package = Get();
        ASSERT_THAT(package, IsOk());
        if (package->built) ++built;
      });
    }
  }

  EXPECT_EQ(built, 1);
  EXPECT_EQ(stand_in_.compilations(), 1);
}

TEST_F(PackageCacheTest, AFailureLeavesNothingAndIsTriedAgain) {
  stand_in_.Play(
      "echo half >\"$out\"",
      R"(echo '{"error": "export-failed", "message": "no"}'; exit 1)");
  EXPECT_THAT(Get(), StatusIs(absl::StatusCode::kFailedPrecondition,
                              HasReason(Reason::kCompileFailed)));
  EXPECT_EQ(Leftovers(), 0);
  stand_in_.Play("printf package >\"$out\"");

  EXPECT_THAT(Get(), IsOk());
}

TEST_F(PackageCacheTest, AnAnswerWithoutAPackageIsAFailure) {
  stand_in_.Play("true");

  const auto package = Get();

  EXPECT_THAT(package, StatusIs(absl::StatusCode::kFailedPrecondition,
                                HasReason(Reason::kCompileFailed)));
  EXPECT_THAT(std::string(package.status().message()),
              HasSubstr("wrote no package"));
}

TEST_F(PackageCacheTest, WhatAKilledBuilderLeftIsNoPackage) {
  const auto first = Get();
  ASSERT_THAT(first, IsOk());
  const std::string name = first->path.stem();
  std::filesystem::create_directories(folder() / (name + ".build/deep"));
  ASSERT_THAT(RemoveFile(folder() / (name + ".json")), IsOk());

  EXPECT_TRUE(Get()->built);
  EXPECT_EQ(Leftovers(), 0);
}

// Holds the lock of the one package that there is.
class LockedPackageTest : public PackageCacheTest {
 protected:
  LockedPackageTest() {
    std::filesystem::path path = Get()->path;
    EXPECT_THAT(RemoveFile(path), IsOk());
    path.replace_extension(".lock");
    lock_ = *OpenFile(path, O_RDWR | O_CLOEXEC);
    EXPECT_EQ(flock(lock_.get(), LOCK_EX), 0);
  }
  UniqueFd lock_;
};

TEST_F(LockedPackageTest, WaitingEndsWithTheLimit) {
  timeout_ = absl::Milliseconds(300);

  EXPECT_THAT(Get(), StatusIs(absl::StatusCode::kDeadlineExceeded,
                              HasReason(Reason::kPhaseTimeout)));
}

TEST_F(LockedPackageTest, WaitingEndsWithTheJob) {
  const std::jthread stopper([this] {
    absl::SleepFor(absl::Milliseconds(300));
    stop_ = true;
  });

  EXPECT_THAT(Get(), StatusIs(absl::StatusCode::kCancelled,
                              HasReason(Reason::kCancelled)));
}

}  // namespace
}  // namespace traza
