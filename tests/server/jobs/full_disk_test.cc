// SPDX-License-Identifier: Apache-2.0
// A disk that fills up while a job runs.
#include <fcntl.h>

#include <filesystem>
#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/file.h"
#include "tests/server/jobs/runner_fixture.h"
#include "tests/support/fake_worker_launcher.h"
#include "tests/support/hostile_trace.h"
#include "tests/support/make_job.h"
#include "tests/support/scoped_mount.h"
#include "tests/support/status_matchers.h"
#include "tests/support/wait_until.h"
#include "trace/file/parquet_file.h"

namespace traza {
namespace {

JobRequest Request() {
  JobRequest request;
  request.workload = "matmul_add";
  request.device = "cpu";
  return request;
}

// Uses up all that is left, to the last page.
void Fill(const std::filesystem::path& path) {
  auto file = OpenFile(path, O_WRONLY | O_CREAT);
  ASSERT_THAT(file, IsOk());
  const std::string page(4096, 'x');
  while (WriteAll(file->get(), page).ok()) {
  }
}

TEST(FullDisk, TheJobFailsOnceThereIsRoomToSaySo) {
  FakeWorkerLauncher launcher;
  RunnerFixture house(launcher, Clock::Real());
  const auto disk = ScopedMount::Tmpfs(house.dir.path(), 4 << 20);
  if (!disk.ok()) GTEST_SKIP() << disk.status();
  house.options.first_retry = absl::Milliseconds(5);
  house.options.last_retry = absl::Milliseconds(20);
  house.Start(MakeDescription());
  const Job created = house.Create(Request());
  auto worker = launcher.Await(0);
  worker->SayHello();
  const auto start = worker->AwaitJob();
  ASSERT_TRUE(start.has_value());
  const auto bytes = WriteParquet(MakeSimpleTrace(start->spec, 30), start->out);
  ASSERT_THAT(bytes, IsOk());
  Fill(house.dir.path() / "filler");

  worker->Say(WorkerResult{30, *bytes, false});
  // The first attempts fail: the health says so.
  ASSERT_TRUE(
      WaitUntil([&] { return house.host.unhealthy().count("store") == 1; }));
  EXPECT_THAT(house.manager->Create(Request(), {}),
              HasReason(Reason::kStoreFull));
  ASSERT_THAT(RemoveFile(house.dir.path() / "filler"), IsOk());

  const Job job = house.AwaitEnd(created.id);
  EXPECT_EQ(job.state, JobState::kFailed);
  EXPECT_EQ(job.error->reason, Reason::kStoreFull);
  EXPECT_FALSE(job.trace.has_value());
  EXPECT_TRUE(house.TmpIsEmpty());
  EXPECT_TRUE(std::filesystem::is_empty(house.dir.path() / "traces"));
  EXPECT_EQ(house.host.unhealthy().count("store"), 0u);
  house.Stop();
}

}  // namespace
}  // namespace traza
