// SPDX-License-Identifier: Apache-2.0
// What a daemon that goes on for long must not do: grow.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "base/file.h"
#include "base/subprocess.h"
#include "tests/server/jobs/runner_fixture.h"
#include "tests/support/status_matchers.h"

namespace traza {
namespace {

constexpr int kJobs = 1000;
constexpr int kWarmJobs = 100;
constexpr int64_t kLargeRows = 100'000;
constexpr int64_t kMaxGrowthBytes = 5 << 20;

int64_t Resident() {
  const auto bytes = ResidentBytes(::getpid());
  EXPECT_THAT(bytes, IsOk());
  return bytes.value_or(0);
}

TEST(Memory, StaysFlatOverAThousandJobs) {
  TempDir launch_dir;
  ProcessLauncherOptions launch;
  launch.program = ExecutableDirectory() / "hostile_worker";
  launch.data_dir = launch_dir.path();
  ProcessLauncher launcher(launch);
  RunnerFixture house(launcher, Clock::Real());
  const auto description = launcher.Describe();
  ASSERT_THAT(description, IsOk());
  house.Start(*description);
  const int64_t idle = Resident();

  int64_t least = 0, most = 0;
  for (int i = 0; i < kJobs; ++i) {
    JobRequest request;
    request.workload = "hostile";
    // Every tenth job is large, every seventh fails.
    const int64_t rows = i % 10 == 0 ? kLargeRows : 300;
    request.params = {{"mode", i % 7 == 3 ? "segfault" : "ok"},
                      {"rows", absl::StrCat(rows)}};
    const Job job = house.AwaitEnd(house.Create(request).id);
    ASSERT_EQ(job.state, i % 7 == 3 ? JobState::kFailed : JobState::kSucceeded);
    if (i < kWarmJobs) continue;
    const int64_t resident = Resident();
    least = i == kWarmJobs ? resident : std::min(least, resident);
    most = std::max(most, resident);
  }

  std::printf("resident: idle %.1f MB, %d to %d jobs %.1f to %.1f MB\n",
              static_cast<double>(idle) / 1e6, kWarmJobs, kJobs,
              static_cast<double>(least) / 1e6,
              static_cast<double>(most) / 1e6);
  EXPECT_LE(most - least, kMaxGrowthBytes);
}

}  // namespace
}  // namespace traza
