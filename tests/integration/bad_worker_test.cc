// SPDX-License-Identifier: Apache-2.0
// Workers that misbehave: the job fails for the right reason, the next job
// works, nothing is left behind.

#include <filesystem>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "base/file.h"
#include "tests/integration/daemon_fixture.h"
#include "tests/support/temp_dir.h"

namespace traza {
namespace {

using nlohmann::json;

struct BadWorkerCase {
  const char* mode;
  const char* reason;
};

class BadWorker : public ::testing::TestWithParam<BadWorkerCase> {
 protected:
  void SetUp() override {
    auto daemon = TestDaemon::Start(
        {.data_dir = data_,
         .args = {"--standby-workers=0",
                  absl::StrCat(
                      "--worker=",
                      (ExecutableDirectory() / "hostile_worker").string())},
         .environment = {},
         .log = dir_.path() / "log"});
    ASSERT_TRUE(daemon.ok()) << daemon.status();
    daemon_ = *std::move(daemon);
  }

  json Run(const std::string& mode) {
    // The others end by themselves, on a busy machine after some seconds.
    const bool hangs = mode == "hang" || mode == "ignore_term";
    const ProgramOutput output =
        daemon_->Cli({"run", "hostile", "-p", absl::StrCat("mode=", mode),
                      "--timeout", hangs ? "3s" : "60s", "--json"});
    exit_ = output.exit;
    json parsed = json::parse(output.out, nullptr, false);
    EXPECT_FALSE(parsed.is_discarded()) << output.out << output.err;
    return parsed.is_discarded() ? json::object() : parsed;
  }

  TempDir dir_;
  const std::filesystem::path data_ = dir_.path() / "data";
  std::unique_ptr<TestDaemon> daemon_;
  ExitStatus exit_;
};

TEST_P(BadWorker, FailsItsJobAndOnlyThat) {
  const json bad = Run(GetParam().mode);

  EXPECT_EQ(bad["job"]["state"], "FAILED") << bad.dump(1);
  EXPECT_EQ(bad["job"]["error"]["reason"], GetParam().reason) << bad.dump(1);
  EXPECT_EQ(exit_.code, 1);
  EXPECT_TRUE(std::filesystem::is_empty(data_ / "tmp"));

  const json good = Run("ok");
  EXPECT_EQ(good["job"]["state"], "SUCCEEDED")
      << good.dump(1) << daemon_->Log();
  EXPECT_EQ(exit_.code, 0);
}

INSTANTIATE_TEST_SUITE_P(
    All, BadWorker,
    ::testing::Values(BadWorkerCase{"exit", "WORKER_CRASHED"},
                      BadWorkerCase{"segfault", "WORKER_CRASHED"},
                      BadWorkerCase{"hang", "PHASE_TIMEOUT"},
                      BadWorkerCase{"ignore_term", "PHASE_TIMEOUT"},
                      BadWorkerCase{"flood", "WORKER_PROTOCOL"},
                      BadWorkerCase{"garbage", "WORKER_PROTOCOL"},
                      BadWorkerCase{"big_line", "WORKER_PROTOCOL"},
                      BadWorkerCase{"wrong_version", "WORKER_PROTOCOL"},
                      BadWorkerCase{"truncated", "TRACE_INCOMPLETE"},
                      BadWorkerCase{"no_file", "TRACE_INCOMPLETE"}),
    [](const ::testing::TestParamInfo<BadWorkerCase>& test) {
      return test.param.mode;
    });

}  // namespace
}  // namespace traza
