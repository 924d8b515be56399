// SPDX-License-Identifier: Apache-2.0
// A daemon on a host with a GPU that a fake library of the driver plays: its
// metrics, and its lease among daemons.

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "httplib.h"
#include "nlohmann/json.hpp"

#include "base/file.h"
#include "server/host/device_lease.h"
#include "tests/integration/daemon_fixture.h"
#include "tests/support/fake_nvml.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait_until.h"

namespace traza {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class GpuHost : public ::testing::Test {
 protected:
  // `library` is the folder of the driver's library.
  void Start(const std::filesystem::path& library) {
    // NOLINTBEGIN(concurrency-mt-unsafe): there is one thread.
    const char* const before = std::getenv("LD_LIBRARY_PATH");
    ::setenv("LD_LIBRARY_PATH",
             absl::StrCat(library.string(), ":", before ? before : "").c_str(),
             /*overwrite=*/1);
    // NOLINTEND(concurrency-mt-unsafe)
    auto daemon = TestDaemon::Start(
        {.data_dir = dir_.path() / "data",
         .args = {"--standby-workers=0",
                  absl::StrCat("--lease-dir=", lease_dir_.string()),
                  absl::StrCat(
                      "--worker=",
                      (ExecutableDirectory() / "hostile_worker").string())},
         .environment = {"TRAZA_HOSTILE_GPU=GPU-0000"},
         .log = dir_.path() / "log"});
    ASSERT_TRUE(daemon.ok()) << daemon.status();
    daemon_ = *std::move(daemon);
  }
  std::string Metrics() {
    httplib::Client client(absl::StrCat("http://", daemon_->http_address()));
    const auto page = client.Get("/metrics");
    return page ? page->body : "";
  }
  // The first page may be made before the first reading is.
  std::string AwaitGpuMetrics() {
    std::string page;
    EXPECT_TRUE(WaitUntil([&] {
      page = Metrics();
      return absl::StrContains(page, "traza_gpu_clock_hertz");
    }));
    return page;
  }
  std::string StateOf(const std::string& job) {
    const ProgramOutput output = daemon_->Cli({"job", job, "--json"});
    const json parsed = json::parse(output.out, nullptr, false);
    return parsed.is_object() ? parsed.value("state", "") : output.err;
  }

  TempDir dir_;
  const std::filesystem::path lease_dir_ = dir_.path() / "leases";
  std::unique_ptr<TestDaemon> daemon_;
};

TEST_F(GpuHost, ShowsWhatTheGpuMeasures) {
  Start(std::filesystem::path(FakeNvmlPath()).parent_path());

  const std::string page = AwaitGpuMetrics();

  EXPECT_THAT(page, HasSubstr(R"(traza_gpu_power_watts{device="gpu0"} 612.5)"));
  EXPECT_THAT(page, HasSubstr(R"(traza_gpu_energy_joules_total{device="gpu0"} )"
                              "5000.25"));
  EXPECT_THAT(page, HasSubstr(R"(traza_gpu_throttle_reason{device="gpu0",)"
                              R"(reason="sw_power_cap"} 1)"));
  EXPECT_THAT(page,
              HasSubstr(R"(traza_gpu_state{device="gpu0",state="idle"} 1)"));
}

TEST_F(GpuHost, WhatAnOldDriverDoesNotKnowHasNoMetric) {
  Start(std::filesystem::path(OldFakeNvmlPath()).parent_path());

  const std::string page = AwaitGpuMetrics();

  EXPECT_THAT(page, HasSubstr(R"(traza_gpu_clock_hertz{device="gpu0",)"));
  EXPECT_THAT(page, Not(HasSubstr("traza_gpu_power_watts")));
}

TEST_F(GpuHost, AJobWaitsForAnotherDaemonToFinishItsOwn) {
  auto other = DeviceLease::Create(lease_dir_, "GPU-0000");
  ASSERT_THAT(other, IsOk());
  ASSERT_THAT((*other)->TryAcquire(DeviceLease::IfTaken::kQueueUp),
              IsOkAndHolds(true));
  Start(std::filesystem::path(FakeNvmlPath()).parent_path());
  const ProgramOutput started =
      daemon_->Cli({"run", "hostile", "--device", "gpu0", "--detach"});
  ASSERT_EQ(started.exit.code, 0) << started.err;
  const std::string job = started.out.substr(0, started.out.find('\n'));
  const ProgramOutput on_cpu =
      daemon_->Cli({"run", "hostile", "--device", "cpu"});
  EXPECT_EQ(on_cpu.exit.code, 0) << on_cpu.err;

  EXPECT_EQ(StateOf(job), "PENDING");
  EXPECT_THAT(daemon_->Log(), HasSubstr("has its lease"));
  EXPECT_THAT(AwaitGpuMetrics(),
              HasSubstr(R"(traza_gpu_state{device="gpu0",state="leased"} 1)"));
  (*other)->Release();

  EXPECT_TRUE(WaitUntil([&] { return StateOf(job) == "SUCCEEDED"; }))
      << StateOf(job) << daemon_->Log();
}

}  // namespace
}  // namespace traza
