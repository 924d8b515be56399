// SPDX-License-Identifier: Apache-2.0
// What trazad does before it serves: the flags, the data folder, the ports.

#include <sys/mount.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/file.h"
#include "tests/integration/daemon_fixture.h"
#include "tests/support/temp_dir.h"

namespace traza {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class DaemonStart : public ::testing::Test {
 protected:
  std::unique_ptr<TestDaemon> StartOrFail() {
    auto daemon =
        TestDaemon::Start({.data_dir = data_,
                           .args = {"--standby-workers=0", WorkerFlag()},
                           .environment = {},
                           .log = log_});
    EXPECT_TRUE(daemon.ok()) << daemon.status();
    return daemon.ok() ? *std::move(daemon) : nullptr;
  }

  // Runs trazad to its end, which is expected to come soon.
  ProgramOutput RunDaemon(std::vector<std::string> args,
                          const std::vector<std::string>& environment = {}) {
    args.insert(args.begin(),
                {"--listen=127.0.0.1:0", "--http-listen=127.0.0.1:0",
                 "--standby-workers=0", WorkerFlag()});
    return RunProgram(ProgramDir() / "trazad", args, environment);
  }

  // Starts faster than the real one, and needs no PyTorch.
  static std::string WorkerFlag() {
    return absl::StrCat("--worker=",
                        (ExecutableDirectory() / "hostile_worker").string());
  }

  std::string DataFlag() const {
    return absl::StrCat("--data-dir=", data_.string());
  }

  TempDir dir_;
  const std::filesystem::path data_ = dir_.path() / "data";
  const std::filesystem::path log_ = dir_.path() / "log";
};

TEST_F(DaemonStart, ASecondDaemonOnTheFolderRefusesWithTheHoldersPid) {
  auto first = StartOrFail();
  ASSERT_NE(first, nullptr);

  const ProgramOutput second = RunDaemon({DataFlag()});

  EXPECT_EQ(second.exit.code, 1);
  EXPECT_THAT(second.err,
              AllOf(HasSubstr("STORE_IN_USE"),
                    HasSubstr(absl::StrCat(first->process().pid()))));
}

TEST_F(DaemonStart, ATakenGrpcPortIsNamed) {
  auto first = StartOrFail();
  ASSERT_NE(first, nullptr);

  const ProgramOutput second = RunDaemon(
      {absl::StrCat("--listen=", first->grpc_address()),
       absl::StrCat("--data-dir=", (dir_.path() / "other").string())});

  EXPECT_EQ(second.exit.code, 1);
  EXPECT_THAT(second.err, AllOf(HasSubstr("ADDRESS_IN_USE"),
                                HasSubstr(first->grpc_address())));
}

TEST_F(DaemonStart, ATakenHttpPortIsNamed) {
  auto first = StartOrFail();
  ASSERT_NE(first, nullptr);

  const ProgramOutput second = RunDaemon(
      {absl::StrCat("--http-listen=", first->http_address()),
       absl::StrCat("--data-dir=", (dir_.path() / "other").string())});

  EXPECT_EQ(second.exit.code, 1);
  EXPECT_THAT(second.err, AllOf(HasSubstr("ADDRESS_IN_USE"),
                                HasSubstr(first->http_address())));
}

TEST_F(DaemonStart, AFolderOfANewerVersionIsLeftAlone) {
  StartOrFail().reset();
  const ProgramOutput raise = RunProgram(
      "/usr/bin/sqlite3",
      {(data_ / "traza.db").string(), "PRAGMA user_version = 1000;"});
  ASSERT_TRUE(raise.exit.ok()) << raise.err;

  const ProgramOutput result = RunDaemon({DataFlag()});

  EXPECT_EQ(result.exit.code, 1);
  EXPECT_THAT(result.err, AllOf(HasSubstr("STORE_TOO_NEW"), HasSubstr("1000")));
}

TEST_F(DaemonStart, ADamagedDatabaseIsNamed) {
  ASSERT_TRUE(MakeDirectories(data_).ok());
  ASSERT_TRUE(
      WriteFileAtomically(data_ / "traza.db", std::string(8192, 'x')).ok());

  const ProgramOutput result = RunDaemon({DataFlag()});

  EXPECT_EQ(result.exit.code, 1);
  EXPECT_THAT(result.err, HasSubstr("STORE_DAMAGED"));
}

TEST_F(DaemonStart, AFolderThatCannotBeMadeIsNamed) {
  const ProgramOutput result = RunDaemon({"--data-dir=/proc/traza"});

  EXPECT_EQ(result.exit.code, 1);
  EXPECT_THAT(result.err, HasSubstr("/proc/traza"));
}

TEST_F(DaemonStart, AReadOnlyFolderIsNamed) {
  const std::filesystem::path mount_point = dir_.path() / "readonly";
  std::filesystem::create_directory(mount_point);
  if (mount("tmpfs", mount_point.c_str(), "tmpfs", MS_RDONLY, "size=1m") != 0) {
    GTEST_SKIP() << "this user cannot mount a file system";
  }

  const ProgramOutput result =
      RunDaemon({absl::StrCat("--data-dir=", mount_point.string())});
  umount2(mount_point.c_str(), MNT_DETACH);

  EXPECT_EQ(result.exit.code, 1);
  EXPECT_THAT(result.err, HasSubstr("STORE_UNWRITABLE"));
}

TEST_F(DaemonStart, AMissingWorkerIsNamedWithTheFlagThatSetsIt) {
  const ProgramOutput result =
      RunDaemon({DataFlag(), "--worker=/nonexistent/traza-worker"});

  EXPECT_EQ(result.exit.code, 1);
  EXPECT_THAT(result.err, AllOf(HasSubstr("WORKER_NOT_STARTED"),
                                HasSubstr("/nonexistent/traza-worker"),
                                HasSubstr("--worker")));
}

TEST_F(DaemonStart, AnUnknownKeyInTheConfigurationIsAnError) {
  const std::filesystem::path file = dir_.path() / "trazad.toml";
  ASSERT_TRUE(WriteFileAtomically(file, "data-dri = \"/tmp/x\"\n").ok());

  const ProgramOutput result =
      RunDaemon({absl::StrCat("--config=", file.string())});

  EXPECT_EQ(result.exit.code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("data-dri"), HasSubstr("data-dir")));
}

TEST_F(DaemonStart, AnAddressOthersCanReachNeedsAWord) {
  const ProgramOutput result = RunDaemon({DataFlag(), "--listen=0.0.0.0:0"});

  EXPECT_EQ(result.exit.code, 2);
  EXPECT_THAT(result.err, HasSubstr("--insecure-listen"));
}

TEST_F(DaemonStart, SigtermOfAnIdleDaemonEndsItWithZero) {
  auto daemon = StartOrFail();
  ASSERT_NE(daemon, nullptr);

  kill(daemon->process().pid(), SIGTERM);
  const auto exit = daemon->process().WaitFor(absl::Seconds(20));

  ASSERT_TRUE(exit.has_value()) << daemon->Log();
  EXPECT_EQ(exit->code, 0) << daemon->Log();
}

}  // namespace
}  // namespace traza
