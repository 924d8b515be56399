// SPDX-License-Identifier: Apache-2.0
// The daemon killed at any moment, or asked to stop, with a job running.

#include <csignal>
#include <filesystem>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "base/file.h"
#include "base/subprocess.h"
#include "tests/integration/daemon_fixture.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait_until.h"

namespace traza {
namespace {

using nlohmann::json;

class Restart : public ::testing::TestWithParam<const char*> {
 protected:
  std::unique_ptr<TestDaemon> StartDaemon(std::vector<std::string> args = {}) {
    args.emplace_back("--standby-workers=0");
    args.push_back(absl::StrCat(
        "--worker=", (ExecutableDirectory() / "hostile_worker").string()));
    auto daemon = TestDaemon::Start({.data_dir = data_,
                                     .args = args,
                                     .environment = {},
                                     .log = dir_.path() / "log"});
    EXPECT_TRUE(daemon.ok()) << daemon.status();
    return daemon.ok() ? *std::move(daemon) : nullptr;
  }

  // Starts a job that hangs in `phase` and waits until it is there.
  std::string StartHanging(TestDaemon& daemon, const std::string& phase) {
    // Without cold steps a job has no such phase.
    const ProgramOutput output =
        daemon.Cli({"run", "hostile", "-p", "mode=hang", "-p",
                    absl::StrCat("phase=", phase), "--cold-steps",
                    phase == "cold" ? "1" : "0", "--detach", "--json"});
    const std::string name = Field(output.out, "name");
    EXPECT_TRUE(WaitUntil(
        [&] {
          const json job = Job(daemon, name);
          return job.contains("progress") &&
                 job["progress"].value("phase", "") == phase;
        },
        absl::Seconds(60)))
        << Job(daemon, name).dump(1) << daemon.Log();
    return name;
  }

  static json Job(const TestDaemon& daemon, const std::string& name) {
    const ProgramOutput output = daemon.Cli({"job", name, "--json"});
    json parsed = json::parse(output.out, nullptr, false);
    return parsed.is_discarded() ? json::object() : parsed;
  }

  static std::string Field(const std::string& text, const std::string& field) {
    const json parsed = json::parse(text, nullptr, false);
    EXPECT_TRUE(parsed.is_object()) << text;
    return parsed.is_object() ? parsed.value(field, "") : "";
  }

  // Workers of the daemon of this folder.
  int CountWorkers() const {
    return CountProcessesWithEnvironment(
        absl::StrCat("TRAZA_DATA_DIR=", data_.string()));
  }

  TempDir dir_;
  const std::filesystem::path data_ = dir_.path() / "data";
};

TEST_P(Restart, AfterKillInAPhaseTheJobHasFailedAndTheNextOneWorks) {
  auto daemon = StartDaemon();
  ASSERT_NE(daemon, nullptr);
  const std::string name = StartHanging(*daemon, GetParam());
  const ProgramOutput queued =
      daemon->Cli({"run", "hostile", "-p", "mode=ok", "--detach", "--json"});
  daemon->process().Signal(SIGKILL);
  daemon->process().WaitFor(absl::Seconds(60));

  daemon = StartDaemon();
  ASSERT_NE(daemon, nullptr);

  const json job = Job(*daemon, name);
  EXPECT_EQ(job["state"], "FAILED");
  EXPECT_EQ(job["error"]["reason"], "DAEMON_RESTARTED");
  const std::string waiting = Field(queued.out, "name");
  EXPECT_EQ(daemon->Cli({"watch", waiting}).exit.code, 0) << daemon->Log();
  EXPECT_EQ(Job(*daemon, waiting)["state"], "SUCCEEDED");
  EXPECT_TRUE(std::filesystem::is_empty(data_ / "tmp"));
}

INSTANTIATE_TEST_SUITE_P(Phases, Restart,
                         ::testing::Values("setup", "cold", "warmup", "timed",
                                           "traced", "flush", "store"),
                         [](const ::testing::TestParamInfo<const char*>& test) {
                           return std::string(test.param);
                         });

TEST_F(Restart, AKilledDaemonLeavesNoWorker) {
  auto daemon = StartDaemon();
  ASSERT_NE(daemon, nullptr);
  StartHanging(*daemon, "traced");
  ASSERT_EQ(CountWorkers(), 1);

  // The daemon alone, not its group.
  kill(daemon->process().pid(), SIGKILL);
  daemon->process().WaitFor(absl::Seconds(60));

  EXPECT_TRUE(
      WaitUntil([&] { return CountWorkers() == 0; }, absl::Seconds(60)));
}

TEST_F(Restart, SigtermGivesTheRunningJobItsTimeThenStopsIt) {
  auto daemon = StartDaemon({"--drain-timeout=1s"});
  ASSERT_NE(daemon, nullptr);
  const std::string name = StartHanging(*daemon, "traced");

  kill(daemon->process().pid(), SIGTERM);
  const auto exit = daemon->process().WaitFor(absl::Seconds(30));

  ASSERT_TRUE(exit.has_value()) << daemon->Log();
  EXPECT_EQ(exit->code, 0) << daemon->Log();
  EXPECT_EQ(CountWorkers(), 0);
  daemon = StartDaemon();
  ASSERT_NE(daemon, nullptr);
  const json job = Job(*daemon, name);
  EXPECT_EQ(job["state"], "FAILED") << job.dump(1);
  EXPECT_EQ(job["error"]["reason"], "DRAINING") << job.dump(1);
}

}  // namespace
}  // namespace traza
