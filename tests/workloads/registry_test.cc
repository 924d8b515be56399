// SPDX-License-Identifier: Apache-2.0
// What must hold for the description of every workload of the registry.

#include "workloads/registry.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "base/check.h"
#include "spec/admission.h"
#include "tests/support/status_matchers.h"
#include "trace/analysis/check.h"

namespace traza {
namespace {

using Params = std::map<std::string, std::string>;

const WorkloadSchema& SchemaOf(const std::string& name) {
  for (const WorkloadEntry& entry : AllWorkloads()) {
    if (entry.schema.name == name) return entry.schema;
  }
  TRAZA_CHECK(false);
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const WorkloadEntry& entry : AllWorkloads()) {
    names.push_back(entry.schema.name);
  }
  return names;
}

class WorkloadsTest : public testing::TestWithParam<std::string> {
 protected:
  const WorkloadSchema& schema() const { return SchemaOf(GetParam()); }

  // A host with a CPU and a GPU, both of known speed.
  static WorkerDescription Host() {
    WorkerDescription host;
    host.devices = {{.id = "cpu",
                     .memory_bytes = int64_t{16} << 30,
                     .roofs = {.flops_per_second = {{"fp32", 1e11}}}},
                    {.id = "gpu0",
                     .kind = DeviceKind::kGpu,
                     .memory_bytes = int64_t{140} << 30,
                     .roofs = {.flops_per_second = {{"bf16", 8e14}}}}};
    for (const WorkloadEntry& entry : AllWorkloads()) {
      host.workloads.push_back(entry.schema);
    }
    return host;
  }

  absl::Status AdmitWith(const std::string& device, const Params& params) {
    return Admit({.workload = GetParam(), .device = device, .params = params},
                 Host(), {})
        .status();
  }
};

TEST_P(WorkloadsTest, DefaultsFitTheSchemaOnBothKindsOfDevice) {
  for (const bool on_cpu : {true, false}) {
    std::vector<FieldViolation> violations;
    FillParams(schema().params, on_cpu, {}, &violations);
    EXPECT_TRUE(violations.empty()) << violations[0].description;
  }
  EXPECT_FALSE(schema().title.empty());
  EXPECT_FALSE(schema().shows.empty());
  EXPECT_FALSE(schema().variants.empty());
}

// That costs and expectations name parameters, values and variants that exist
// is what the daemon looks at when it reads this.
TEST_P(WorkloadsTest, TheDaemonTakesItsDescription) {
  WorkerDescription description;
  description.workloads = {schema()};

  EXPECT_THAT(WorkerDescriptionFromJson(ToJson(description).dump()),
              IsOkAndHolds(description));
}

TEST_P(WorkloadsTest, SaysWhatItMovesHoldsAndRuns) {
  const Cost& cost = schema().cost;
  for (const CostSum* sum :
       {&cost.bytes, &cost.memory_bytes, &cost.ops, &cost.kernels}) {
    EXPECT_FALSE(sum->empty());
  }
}

TEST_P(WorkloadsTest, ExpectationsAreChecksWithAReason) {
  EXPECT_FALSE(schema().expectations.empty());
  for (const Expectation& expectation : schema().expectations) {
    EXPECT_THAT(ParseCheck(expectation.expr), IsOk());
    EXPECT_FALSE(expectation.why.empty()) << expectation.expr;
  }
}

TEST_P(WorkloadsTest, EveryParameterHasItsLimits) {
  for (const ParamSchema& param : schema().params) {
    if (param.type != traza::ParamType::kInt) continue;
    for (const char* device : {"cpu", "gpu0"}) {
      for (const int64_t past : {param.min - 1, param.max + 1}) {
        EXPECT_THAT(AdmitWith(device, {{param.name, std::to_string(past)}}),
                    HasViolation(absl::StrCat("params[", param.name, "]")));
      }
    }
  }
}

// A job is admitted at the limits, or refused before it runs with the numbers.
TEST_P(WorkloadsTest, AtItsLimitsAJobFitsOrIsRefusedWithTheNumbers) {
  for (const ParamSchema& param : schema().params) {
    if (param.type != traza::ParamType::kInt) continue;
    for (const int64_t limit : {param.min, param.max}) {
      const absl::Status status =
          AdmitWith("gpu0", {{param.name, std::to_string(limit)}});
      if (absl::IsFailedPrecondition(status)) continue;  // Not on this device.
      if (!status.ok()) {
        EXPECT_EQ(limit, param.max) << status;
        EXPECT_THAT(
            DetailsOf(status)->reason,
            testing::AnyOf(Reason::kMemoryTooLarge, Reason::kTimeTooLong,
                           Reason::kTraceTooLarge));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, WorkloadsTest, testing::ValuesIn(Names()),
                         [](const auto& name) { return name.param; });

TEST(MatmulAdd, Tf32NeedsAGpu) {
  WorkerDescription host;
  host.devices = {{.id = "cpu"}, {.id = "gpu0", .kind = DeviceKind::kGpu}};
  host.workloads = {MatmulAddEntry().schema};
  const auto admit = [&host](const char* device) {
    return Admit({.workload = "matmul_add",
                  .device = device,
                  .params = {{"dtype", "tf32"}}},
                 host, {})
        .status();
  };

  EXPECT_THAT(admit("gpu0"), IsOk());
  EXPECT_THAT(admit("cpu"), HasViolation("params[dtype]"));
}

TEST(CreateWorkload, NamesWhatExists) {
  EXPECT_THAT(CreateWorkload("nonsense", {}),
              StatusIs(absl::StatusCode::kNotFound,
                       HasReason(Reason::kWorkloadNotFound)));
  EXPECT_THAT(CreateWorkload("linear", {.variant = "nonsense"}),
              StatusIs(absl::StatusCode::kNotFound,
                       HasReason(Reason::kVariantNotFound)));
}

TEST(Registry, NamesAreDistinct) {
  const std::vector<std::string> names = Names();

  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(),
            names.size());
}

}  // namespace
}  // namespace traza
