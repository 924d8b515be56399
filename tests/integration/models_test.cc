// SPDX-License-Identifier: Apache-2.0
// An operator's own models through client, daemon and worker, on the CPU.
//
// fixtures/scale_bias.pt is a TorchScript file (torch.jit.save):
//   def forward(self, x, bias):
//     assert x.size(0) != 13, 'thirteen rows are unlucky'
//     return x * 2.0 + bias

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "tests/integration/daemon_fixture.h"
#include "tests/support/temp_dir.h"
#include "tests/support/zip_file.h"

namespace traza {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kManifest[] = R"({
  "name": "scale_bias",
  "title": "Scales rows and adds a bias.",
  "file": "scale_bias.pt",
  "format": "torchscript",
  "dims": {"rows": {"max": 65536, "default": 1024, "default_cpu": 16,
                    "unit": "rows"}},
  "inputs": [{"name": "x", "shape": ["rows", 8], "dtype": "fp32"},
             {"name": "bias", "shape": [8], "dtype": "fp32"}]})";

class OwnModels : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    dir_ = new TempDir();
    auto daemon = TestDaemon::Start({.data_dir = dir_->path() / "data",
                                     .args = {"--standby-workers=1"},
                                     .environment = {},
                                     .log = dir_->path() / "log"});
    ASSERT_TRUE(daemon.ok()) << daemon.status();
    daemon_ = daemon->release();
  }
  static void TearDownTestSuite() {
    delete daemon_;
    daemon_ = nullptr;
    delete dir_;
    dir_ = nullptr;
  }
  // Every test begins with an empty folder.
  OwnModels() {
    for (const auto& entry : std::filesystem::directory_iterator(models())) {
      std::filesystem::remove_all(entry.path());
    }
  }

  static std::filesystem::path models() { return dir_->path() / "data/models"; }
  static void Write(const std::string& name, const std::string& bytes) {
    std::ofstream(models() / name, std::ios::binary) << bytes;
  }
  static void Register() {
    // Tests read the environment before they start threads.
    const char* root =
        std::getenv("TRAZA_SOURCE_DIR");  // NOLINT(concurrency-mt-unsafe)
    std::filesystem::copy(std::filesystem::path(root == nullptr ? "." : root) /
                              "tests/integration/fixtures/scale_bias.pt",
                          models() / "scale_bias.pt");
    Write("scale_bias.json", kManifest);
  }
  static json Run(std::vector<std::string> args) {
    args.insert(args.begin(), {"run", "scale_bias", "--json"});
    const ProgramOutput output = daemon_->Cli(args);
    EXPECT_EQ(output.exit.code, 0) << output.err << daemon_->Log();
    const json reply = json::parse(output.out, nullptr, false);
    EXPECT_FALSE(reply.is_discarded()) << output.out;
    return reply;
  }

  static TempDir* dir_;
  static TestDaemon* daemon_;
};
TempDir* OwnModels::dir_ = nullptr;
TestDaemon* OwnModels::daemon_ = nullptr;

TEST_F(OwnModels, IsRunWithoutARestartOfTheDaemon) {
  EXPECT_EQ(daemon_->Cli({"run", "scale_bias"}).exit.code, 2);

  Register();
  const ProgramOutput listed = daemon_->Cli({"workloads", "scale_bias"});
  const json reply = Run({});

  EXPECT_EQ(listed.exit.code, 0) << listed.err;
  EXPECT_THAT(listed.out, AllOf(HasSubstr("Scales rows and adds a bias."),
                                HasSubstr("torchscript"), HasSubstr("rows")));
  EXPECT_EQ(reply["job"]["state"], "SUCCEEDED");
  EXPECT_EQ(reply["answer"]["steps"]["traced"]["count"], 30);
}

TEST_F(OwnModels, RecordsItsRangeAndEveryOperator) {
  Register();
  const std::string trace = Run({})["job"]["trace"];

  const ProgramOutput ops = daemon_->Cli({"table", trace, "--phase", "traced"});
  const ProgramOutput ranges = daemon_->Cli({"table", trace, "--by", "range"});

  EXPECT_THAT(ops.out, AllOf(HasSubstr("aten::mul"), HasSubstr("aten::add")));
  EXPECT_THAT(ranges.out, HasSubstr("model_fwd"));
}

TEST_F(OwnModels, PredictsTheMemoryOfTheirInputsOnly) {
  Register();

  const json job = Run({})["job"];

  const json prediction = job.value("prediction", json::object());
  EXPECT_TRUE(prediction.contains("memory_bytes")) << prediction;
  for (const char* name : {"step", "trace_bytes"}) {
    EXPECT_FALSE(prediction.contains(name)) << prediction;
  }
  const ProgramOutput text = daemon_->Cli({"job", job["name"]});
  EXPECT_THAT(text.out, HasSubstr("of memory"));
}

TEST_F(OwnModels, DimensionsAreParametersWithLimits) {
  Register();

  const json job = Run({"-p", "rows=32"})["job"];
  const ProgramOutput refused =
      daemon_->Cli({"run", "scale_bias", "-p", "rows=70000"});

  EXPECT_EQ(job["spec"]["params"]["rows"], "32") << job;
  EXPECT_EQ(refused.exit.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("from 1 to 65536"));
}

TEST_F(OwnModels, AScriptThatThrowsFailsTheJobWithItsWords) {
  Register();

  const ProgramOutput output =
      daemon_->Cli({"run", "scale_bias", "-p", "rows=13"});

  EXPECT_EQ(output.exit.code, 1);
  EXPECT_THAT(output.err, HasSubstr("thirteen rows are unlucky"));
}

TEST_F(OwnModels, ABrokenManifestIsListedAndRefusedWithItsReason) {
  Write("half.json", R"({"name": "half")");

  const ProgramOutput listed = daemon_->Cli({"workloads", "half.json"});
  const ProgramOutput run = daemon_->Cli({"run", "half.json"});

  EXPECT_THAT(listed.out, HasSubstr("not JSON at byte"));
  EXPECT_EQ(run.exit.code, 4) << run.err;
  EXPECT_THAT(run.err, AllOf(HasSubstr("WORKLOAD_UNAVAILABLE"),
                             HasSubstr("not JSON at byte")));
}

TEST_F(OwnModels, APackageIsNotForTheCpu) {
  Write("p.pt2", PackageOf(R"({"AOTI_DEVICE_KEY": "cuda"})"));
  Write("p.json", R"({"name": "pack", "file": "p.pt2", "format": "aoti",
    "inputs": [{"name": "x", "shape": [4], "dtype": "fp32"}]})");

  const ProgramOutput run = daemon_->Cli({"run", "pack", "--device", "cpu"});

  EXPECT_EQ(run.exit.code, 4) << run.err;
  EXPECT_THAT(run.err, HasSubstr("libtorch_cuda.so"));
}

TEST_F(OwnModels, AModelThatIsTakenAwayIsGone) {
  Register();
  EXPECT_EQ(daemon_->Cli({"workloads", "scale_bias"}).exit.code, 0);

  std::filesystem::remove(models() / "scale_bias.json");

  const ProgramOutput listed = daemon_->Cli({"workloads"});
  EXPECT_THAT(listed.out,
              AllOf(HasSubstr("matmul_add"), Not(HasSubstr("scale_bias"))));
}

}  // namespace
}  // namespace traza
