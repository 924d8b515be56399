// SPDX-License-Identifier: Apache-2.0
#include "spec/worker_description.h"

#include <functional>
#include <string>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "tests/support/sample_description.h"
#include "tests/support/status_matchers.h"

namespace traza {
namespace {

using nlohmann::json;

TEST(WorkerDescription, ComesBackFromJson) {
  EXPECT_THAT(WorkerDescriptionFromJson(ToJson(SampleDescription()).dump()),
              IsOkAndHolds(SampleDescription()));
}

TEST(WorkerDescription, KeepsTheMeasuredBandwidthOfADevice) {
  WorkerDescription host = SampleDescription();

  EXPECT_THAT(WorkerDescriptionFromJson(ToJson(host).dump()),
              IsOkAndHolds(host));
}

TEST(WorkerDescription, KeepsWhatAWorkloadShowsAndWhatToExpect) {
  WorkerDescription host = SampleDescription();
  WorkloadSchema& workload = host.workloads[0];
  workload.shows = "What a launch costs.";
  workload.variants[1].range = "matmul_add_compiled";
  workload.params[1].gpu_only = {{"fp16", "Its CPU has no such product."}};
  workload.expectations = {{.variant = "eager",
                            .device = DeviceKind::kGpu,
                            .only_if = {{"size", "64"}},
                            .expr = "kernels_per_step == 2",
                            .why = "Two operators."}};

  EXPECT_THAT(WorkerDescriptionFromJson(ToJson(host).dump()),
              IsOkAndHolds(host));
  EXPECT_EQ(workload.RangeOf("compiled"), "matmul_add_compiled");
  EXPECT_EQ(workload.RangeOf("eager"), "matmul_add");
}

// Whether they apply is asked without looking.
TEST(WorkerDescription, AnExpectationMayNameOnlyWhatTheWorkloadHas) {
  json document = ToJson(SampleDescription());
  json& expectations = document["workloads"][0]["expectations"];

  expectations = {{{"expr", "stable"}, {"variant", "fused"}}};
  EXPECT_THAT(WorkerDescriptionFromJson(document.dump()),
              HasViolation("workloads[0].expectations[0]"));
  expectations = {{{"expr", "stable"}, {"only_if", {{"batch", "1"}}}}};
  EXPECT_THAT(WorkerDescriptionFromJson(document.dump()),
              HasViolation("workloads[0].expectations[0]"));
  expectations = {{{"why", "?"}}};
  EXPECT_THAT(WorkerDescriptionFromJson(document.dump()),
              HasViolation("workloads[0].expectations[0].expr"));
}

TEST(WorkerDescription, KeepsWhyADeviceCannotRun) {
  WorkerDescription host = SampleDescription();
  host.devices[1].unavailable = "another process uses it";

  EXPECT_THAT(WorkerDescriptionFromJson(ToJson(host).dump()),
              IsOkAndHolds(host));
}

// Workers of earlier versions, and headers of their traces, do not have it.
TEST(WorkerDescription, LimitsOfMultiprocessorsMayBeAbsent) {
  WorkerDescription host = SampleDescription();
  json document = ToJson(host);
  document["devices"][1].erase("multiprocessor");
  host.devices[1].multiprocessor.reset();

  EXPECT_THAT(WorkerDescriptionFromJson(document.dump()), IsOkAndHolds(host));
}

TEST(WorkerDescription, BlocksOfAMultiprocessorMayBeUnknown) {
  WorkerDescription host = SampleDescription();
  host.devices[1].multiprocessor->max_blocks.reset();

  EXPECT_THAT(WorkerDescriptionFromJson(ToJson(host).dump()),
              IsOkAndHolds(host));
}

TEST(WorkerDescription, FindsByName) {
  const WorkerDescription host = SampleDescription();

  EXPECT_EQ(host.FindDevice("gpu0")->model, "Sample GPU");
  EXPECT_EQ(host.FindDevice("gpu1"), nullptr);
  EXPECT_EQ(host.FindWorkload("matmul_add")->params.size(), 2);
  EXPECT_EQ(host.FindWorkload("matmul"), nullptr);
}

TEST(WorkerDescription, AnotherProtocolHasItsReason) {
  json document = ToJson(SampleDescription());
  document["protocol"] = kWorkerProtocol + 1;

  EXPECT_THAT(WorkerDescriptionFromJson(document.dump()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasReason(Reason::kWorkerProtocol)));
}

TEST(WorkerDescription, EveryTruncationIsRefused) {
  const std::string text = ToJson(SampleDescription()).dump();
  for (size_t size = 0; size < text.size(); ++size) {
    EXPECT_THAT(WorkerDescriptionFromJson(text.substr(0, size)),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
}

struct Damage {
  std::string path;  // of the violation
  std::function<void(json&)> apply;

  friend void PrintTo(const Damage& damage, std::ostream* out) {
    *out << damage.path;
  }
};

class DamagedDescription : public testing::TestWithParam<Damage> {};

TEST_P(DamagedDescription, IsRefusedAtThePlace) {
  json document = ToJson(SampleDescription());
  GetParam().apply(document);

  EXPECT_THAT(WorkerDescriptionFromJson(document.dump()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasViolation(GetParam().path)));
}

INSTANTIATE_TEST_SUITE_P(
    All, DamagedDescription,
    testing::Values(
        Damage{"protocol", [](json& d) { d["protocol"] = "1"; }},
        Damage{"versions[torch]",
               [](json& d) { d["versions"]["torch"] = 2.11; }},
        Damage{"capabilities", [](json& d) { d["capabilities"] = "ops"; }},
        Damage{"devices[0]", [](json& d) { d["devices"][0] = nullptr; }},
        Damage{"devices[0].id",
               [](json& d) { d["devices"][0]["id"] = "../etc"; }},
        Damage{"devices[1].kind",
               [](json& d) { d["devices"][1]["kind"] = "tpu"; }},
        Damage{"devices[0].memory_bytes",
               [](json& d) { d["devices"][0]["memory_bytes"] = -1; }},
        Damage{"devices[0].cores",
               [](json& d) { d["devices"][0]["cores"] = 1LL << 40; }},
        Damage{"devices[1].multiprocessor",
               [](json& d) { d["devices"][1]["multiprocessor"] = 132; }},
        Damage{"devices[1].multiprocessor.count",
               [](json& d) {
                 d["devices"][1]["multiprocessor"] = json::object();
               }},
        Damage{"devices[1].multiprocessor.registers",
               [](json& d) {
                 d["devices"][1]["multiprocessor"]["registers"] = -1;
               }},
        Damage{"devices[1].multiprocessor.shared_bytes",
               [](json& d) {
                 d["devices"][1]["multiprocessor"]["shared_bytes"] = 1LL << 31;
               }},
        Damage{"devices[1].multiprocessor.max_blocks",
               [](json& d) {
                 d["devices"][1]["multiprocessor"]["max_blocks"] = "many";
               }},
        Damage{
            "devices[0].flops_per_second",
            [](json& d) { d["devices"][0]["flops_per_second"]["fp32"] = 0; }},
        Damage{"devices", [](json& d) { d["devices"][1]["id"] = "cpu"; }},
        Damage{"workloads",
               [](json& d) { d["workloads"].push_back(d["workloads"][0]); }},
        Damage{"workloads[0].name",
               [](json& d) { d["workloads"][0]["name"] = "a b"; }},
        Damage{"workloads[0].variants",
               [](json& d) { d["workloads"][0]["variants"] = json::array(); }},
        Damage{
            "workloads[0].params[0].type",
            [](json& d) { d["workloads"][0]["params"][0]["type"] = "float"; }},
        Damage{"workloads[0].params",
               [](json& d) {
                 d["workloads"][0]["params"][1] =
                     d["workloads"][0]["params"][0];
               }},
        Damage{"workloads[0].cost",
               [](json& d) { d["workloads"][0].erase("cost"); }},
        Damage{"workloads[0].cost.flops[0].coefficient", [](json& d) {
                 d["workloads"][0]["cost"]["flops"][0]["coefficient"] = "2";
               }}));

// Evaluate() trusts that these exist and have the right type.
TEST(WorkerDescription, ACostMayNameOnlyItsOwnParameters) {
  json document = ToJson(SampleDescription());
  json& term = document["workloads"][0]["cost"]["flops"][0];

  term["exponents"] = {{"batch", 1}};
  EXPECT_THAT(WorkerDescriptionFromJson(document.dump()),
              HasViolation("workloads[0].cost"));
  term["exponents"] = json::object();
  term["only_if"] = {{"batch", "64"}};
  EXPECT_THAT(WorkerDescriptionFromJson(document.dump()),
              HasViolation("workloads[0].cost"));
  term["only_if"] = {{"variant", "fused"}};
  EXPECT_THAT(WorkerDescriptionFromJson(document.dump()),
              HasViolation("workloads[0].cost"));
}

}  // namespace
}  // namespace traza
