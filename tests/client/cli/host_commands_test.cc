// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "tests/client/cli/cli_fixture.h"
#include "tests/client/cli/golden.h"

namespace traza {
namespace {

using testing::HasSubstr;

class HostCommandsTest : public CliTest {
 protected:
  HostCommandsTest() {
    v1::Device& cpu = *replies_.devices.add_devices();
    cpu.set_name("cpu");
    cpu.set_kind(v1::DEVICE_KIND_CPU);
    cpu.set_model("A CPU");
    cpu.set_memory_bytes(int64_t{64} << 30);
    cpu.set_cores(4);
    (*cpu.mutable_flops_per_second())["fp32"] = 1.23e11;
    v1::Device& gpu = *replies_.devices.add_devices();
    gpu.set_name("gpu0");
    gpu.set_kind(v1::DEVICE_KIND_GPU);
    gpu.set_model("NVIDIA H200");
    gpu.set_memory_bytes(int64_t{140} << 30);
    gpu.set_cores(132);
    gpu.set_unavailable("Another process uses it.");
    AddWorkload();
  }

  void AddWorkload() {
    v1::Workload& workload = *replies_.workloads.add_workloads();
    workload.set_name("matmul_add");
    workload.set_title("One matrix product and one addition.");
    workload.set_range("matmul_add");
    v1::Variant& eager = *workload.add_variants();
    eager.set_name("eager");
    eager.set_title("One call for each operator.");
    v1::Variant& fused = *workload.add_variants();
    fused.set_name("fused");
    fused.set_title("One kernel.");
    (*fused.mutable_unavailable())["cpu"] = "It needs a GPU.";
    fused.set_range("fused_add");
    v1::Param& size = *workload.add_params();
    size.set_name("size");
    size.set_type(v1::PARAM_TYPE_INT);
    size.set_help("Rows and columns.");
    size.set_unit("elements");
    size.set_min(1);
    size.set_max(65'536);
    size.set_default_cpu("64");
    size.set_default_gpu("4096");
    v1::Param& dtype = *workload.add_params();
    dtype.set_name("dtype");
    dtype.set_type(v1::PARAM_TYPE_CHOICE);
    dtype.set_help("Type of the elements.");
    dtype.add_choices("fp32");
    dtype.add_choices("bf16");
    dtype.set_default_cpu("fp32");
    dtype.set_default_gpu("bf16");
    (*dtype.mutable_gpu_only())["bf16"] = "The CPU is slow at it.";
    workload.set_shows("What a launch costs.");
    v1::Expectation& kernels = *workload.add_expectations();
    kernels.set_variant("eager");
    kernels.set_device(v1::DEVICE_KIND_GPU);
    (*kernels.mutable_only_if())["dtype"] = "!fp32";
    (*kernels.mutable_only_if())["size"] = "64|4096";
    kernels.set_expr("kernels_per_step == 2");
    kernels.set_why("Two operators.");
    v1::Expectation& stable = *workload.add_expectations();
    stable.set_expr("stable");
    stable.set_why("Every step is the same.");
  }

  FakeReplies replies_;
};

TEST_F(HostCommandsTest, ListsDevices) {
  daemon_.Set(replies_);

  ASSERT_EQ(Run({"devices"}), 0) << err_;

  ExpectGolden("devices.txt", out_);
}

TEST_F(HostCommandsTest, ListsWorkloads) {
  daemon_.Set(replies_);

  ASSERT_EQ(Run({"workloads"}), 0) << err_;

  ExpectGolden("workloads.txt", out_);
}

TEST_F(HostCommandsTest, ShowsAWorkload) {
  daemon_.Set(replies_);

  ASSERT_EQ(Run({"workloads", "matmul_add"}), 0) << err_;

  ExpectGolden("workload.txt", out_);
}

TEST_F(HostCommandsTest, HowToRunItIsNotSaidOfWhatCannotRun) {
  v1::Workload& broken = *replies_.workloads.add_workloads();
  broken.set_name("broken.json");
  v1::Variant& variant = *broken.add_variants();
  variant.set_name("broken");
  for (const char* device : {"cpu", "gpu0"}) {
    (*variant.mutable_unavailable())[device] = "not JSON.";
  }
  daemon_.Set(replies_);

  ASSERT_EQ(Run({"workloads", "broken.json"}), 0) << err_;

  EXPECT_THAT(out_, HasSubstr("broken cannot run on cpu: not JSON."));
  EXPECT_THAT(out_, testing::Not(HasSubstr("Run it with")));

  ASSERT_EQ(Run({"workloads"}), 0) << err_;

  EXPECT_THAT(out_, HasSubstr("(broken)"));
  EXPECT_THAT(out_, HasSubstr("In brackets: cannot run here"));
}

TEST_F(HostCommandsTest, JsonOfWorkloadsHasParamsAndVariants) {
  daemon_.Set(replies_);

  ASSERT_EQ(Run({"workloads", "--json"}), 0) << err_;

  const auto json = nlohmann::json::parse(out_).at("workloads")[0];
  EXPECT_EQ(json.at("name"), "matmul_add");
  EXPECT_EQ(json.at("params")[0].at("max"), 65'536);
  EXPECT_EQ(json.at("variants")[1].at("unavailable").at("cpu"),
            "It needs a GPU.");
}

TEST_F(HostCommandsTest, AnUnknownWorkloadExitsWith2AndASuggestion) {
  daemon_.Set(replies_);

  EXPECT_EQ(Run({"workloads", "matmuladd"}), 2);

  EXPECT_THAT(err_, HasSubstr("Did you mean matmul_add?"));
  EXPECT_THAT(err_, HasSubstr("WORKLOAD_NOT_FOUND"));
}

TEST_F(HostCommandsTest, ShowsTheHost) {
  v1::Host& host = replies_.host;
  host.set_hostname("gpu3");
  host.set_version("0.1.0");
  (*host.mutable_versions())["traza"] = "0.1.0";
  (*host.mutable_versions())["torch"] = "2.11.0";
  host.add_capabilities("ops");
  host.add_capabilities("kernels");
  host.set_ready(false);
  v1::HealthReason& reason = *host.add_unhealthy();
  reason.set_component("store");
  reason.set_message("The data folder has no room.");
  host.mutable_start_time()->set_seconds(1'767'225'600);
  v1::HostLimits& limits = *host.mutable_limits();
  limits.set_max_queued_jobs(1000);
  limits.set_max_trace_bytes(int64_t{1} << 30);
  limits.set_max_memory_share(0.8);
  limits.set_max_steps(1'000'000);
  limits.mutable_max_timeout()->set_seconds(3600);
  limits.set_max_watch_streams(64);
  limits.set_max_read_streams(16);
  daemon_.Set(replies_);

  ASSERT_EQ(Run({"host"}), 0) << err_;

  const size_t address = out_.find(daemon_.address());
  ASSERT_NE(address, std::string::npos);
  ExpectGolden("host.txt",
               out_.replace(address, daemon_.address().size(), "ADDRESS"));
}

}  // namespace
}  // namespace traza
