// SPDX-License-Identifier: Apache-2.0
#include "server/jobs/worker_launcher.h"

#include <poll.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/clock.h"
#include "base/file.h"
#include "server/jobs/worker_channel.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait_until.h"

namespace traza {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(WorkerEnvironment, LetsOnlyTheAllowListThrough) {
  const std::vector<std::string> environment = WorkerEnvironment(
      {"PATH=/bin", "HOME=/root", "MKL_NUM_THREADS=2", "TRAZA_X=1",
       "TRAZA_DATA_DIR=/other", "SECRET=1", "KINETO_USE_DAEMON=1",
       "CUDA_INJECTION64_PATH=/x", "CUPTI_X=1", "NVTX_INJECTION64_PATH=/y",
       "CUDA_VISIBLE_DEVICES=1", "LD_PRELOAD=/z", "TRAZAD_LISTEN=x",
       "CXX=/opt/g++"},
      "/data");

  EXPECT_THAT(environment, testing::UnorderedElementsAre(
                               "PATH=/bin", "HOME=/root", "MKL_NUM_THREADS=2",
                               "TRAZA_X=1", "CUDA_VISIBLE_DEVICES=1",
                               "CXX=/opt/g++", "TRAZA_DATA_DIR=/data"));
}

TEST(WorkerMark, IsTheSameForARelativePath) {
  EXPECT_EQ(WorkerMark("data"),
            WorkerMark(std::filesystem::current_path() / "data"));
}

class ProcessLauncherTest : public ::testing::Test {
 protected:
  // A program that is a script of ours.
  std::filesystem::path Script(const std::string& body) {
    const std::filesystem::path path = dir_ / "worker";
    EXPECT_THAT(WriteFileAtomically(path, absl::StrCat("#!/bin/sh\n", body)),
                IsOk());
    EXPECT_EQ(::chmod(path.c_str(), 0700), 0);
    return path;
  }
  static std::filesystem::path HostileWorker() {
    return ExecutableDirectory() / "hostile_worker";
  }
  ProcessLauncher Launcher(const std::filesystem::path& program) {
    ProcessLauncherOptions options;
    options.program = program;
    options.data_dir = dir_.path();
    options.describe_timeout = absl::Seconds(30);
    options.environment = {"PATH=/usr/bin:/bin", "KINETO_USE_DAEMON=1"};
    return ProcessLauncher(options);
  }
  void ExpectNotStarted(const std::string& script, const std::string& words) {
    const auto description = Launcher(Script(script)).Describe();
    EXPECT_THAT(description, HasReason(Reason::kWorkerNotStarted));
    EXPECT_THAT(std::string(description.status().message()), HasSubstr(words));
  }

  TempDir dir_;
};

TEST_F(ProcessLauncherTest, ReadsTheDescription) {
  const auto description = Launcher(HostileWorker()).Describe();

  ASSERT_THAT(description, IsOk());
  EXPECT_NE(description->FindWorkload("hostile"), nullptr);
  EXPECT_NE(description->FindDevice("cpu"), nullptr);
}

TEST_F(ProcessLauncherTest, AMissingProgramIsSaidToBe) {
  const auto launcher = Launcher("/nowhere/traza-worker");

  EXPECT_THAT(Launcher("/nowhere/traza-worker").Describe(),
              HasReason(Reason::kWorkerNotStarted));
  EXPECT_THAT(Launcher("/nowhere/traza-worker").Launch({.device = "cpu"}),
              HasReason(Reason::kWorkerNotStarted));
}

TEST_F(ProcessLauncherTest, AFailedDescriptionTellsWhatTheWorkerSaid) {
  ExpectNotStarted("echo 'libtorch.so: cannot open' >&2; exit 127",
                   "libtorch.so: cannot open");
}

TEST_F(ProcessLauncherTest, GarbageIsNoDescription) {
  ExpectNotStarted("echo garbage", "cannot be read");
}

TEST_F(ProcessLauncherTest, AnEndlessDescriptionIsNotBuffered) {
  ExpectNotStarted("head -c 20000000 /dev/zero", "too much");
}

TEST_F(ProcessLauncherTest, ADescriptionThatHangsIsKilled) {
  ProcessLauncherOptions options;
  options.program = Script("exec sleep 1000");
  options.data_dir = dir_.path();
  options.environment = {"PATH=/usr/bin:/bin"};
  options.describe_timeout = absl::Milliseconds(100);

  const auto description = ProcessLauncher(options).Describe();

  EXPECT_THAT(description, HasReason(Reason::kWorkerNotStarted));
  EXPECT_EQ(KillProcessesWithEnvironment(WorkerMark(dir_.path())), 0);
}

TEST_F(ProcessLauncherTest, ReadsWhatADeviceCanDo) {
  const auto roofs = Launcher(HostileWorker()).Measure("gpu0");

  ASSERT_THAT(roofs, IsOk());
  EXPECT_EQ(roofs->memory_bytes_per_second, 4e12);
}

TEST_F(ProcessLauncherTest, AFailedMeasurementTellsWhatTheWorkerSaid) {
  const auto busy =
      Launcher(Script("echo 'Other processes use gpu0: 1.' >&2; exit 1"))
          .Measure("gpu0");
  const auto garbage =
      Launcher(Script("echo '{\"flops_per_second\":{\"bf16\":0}}'"))
          .Measure("gpu0");

  EXPECT_THAT(busy, HasReason(Reason::kWorkerNotStarted));
  EXPECT_THAT(std::string(busy.status().message()),
              HasSubstr("--measure --device gpu0 ended with exit 1. It said: "
                        "Other processes use gpu0: 1."));
  EXPECT_THAT(garbage, HasReason(Reason::kWorkerNotStarted));
}

TEST_F(ProcessLauncherTest, AWorkerSpeaksThroughItsSocketOnly) {
  auto worker = Launcher(HostileWorker()).Launch({"cpu", /*standby=*/true});
  ASSERT_THAT(worker, IsOk());
  WorkerChannel channel(*std::move(worker), Clock::Real());

  EXPECT_TRUE(WaitUntil([&] {
    EXPECT_THAT(channel.Read(), IsOk());
    return channel.ready();
  }));
  EXPECT_EQ(KillProcessesWithEnvironment(WorkerMark(dir_.path())), 1);
}

TEST_F(ProcessLauncherTest, AWorkerHasLimitsAndFewDescriptors) {
  auto worker = Launcher(Script("ls /proc/self/fd | tr '\\n' ' '; ulimit -c; "
                                "ulimit -n; env"))
                    .Launch({.device = "cpu"});
  ASSERT_THAT(worker, IsOk());
  ASSERT_TRUE(worker->process->WaitFor(absl::Seconds(30)).has_value());
  WorkerChannel channel(*std::move(worker), Clock::Real());
  channel.ReadStderr();

  const std::vector<std::string> lines =
      absl::StrSplit(channel.LastWords(), '\n');

  ASSERT_GE(lines.size(), 3u);
  // 0 to 2, the socket, and the one with which ls reads.
  EXPECT_THAT(lines[0], StartsWith("0 1 2 3 4 0"));
  EXPECT_EQ(lines[1], "4096");
  EXPECT_THAT(lines, Contains(WorkerMark(dir_.path())));
  EXPECT_THAT(lines, Not(Contains("KINETO_USE_DAEMON=1")));
}

}  // namespace
}  // namespace traza
