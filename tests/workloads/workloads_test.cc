// SPDX-License-Identifier: Apache-2.0
// What must hold for every workload of the registry, on the CPU.

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/check.h"
#include "spec/cost.h"
#include "tests/support/status_matchers.h"
#include "worker/op_recorder.h"
#include "workloads/registry.h"

namespace traza {
namespace {

using Params = std::map<std::string, std::string>;

// The parameters of `schema` on the CPU, with every integer cut to `max`.
Params ParamsOf(const WorkloadSchema& schema, const Params& given,
                int64_t max) {
  std::vector<FieldViolation> violations;
  Params params =
      FillParams(schema.params, /*on_cpu=*/true, given, &violations);
  EXPECT_TRUE(violations.empty()) << violations[0].description;
  for (const ParamSchema& param : schema.params) {
    std::string& value = params[param.name];
    if (param.type == ParamType::kInt && std::stoll(value) > max) {
      value = std::to_string(max);
    }
  }
  return params;
}

std::unique_ptr<Workload> Create(const std::string& name, const Params& params,
                                 int64_t seed = 0) {
  auto workload = CreateWorkload(name, {.params = ParamValues(params),
                                        .variant = "eager",
                                        .device = "cpu",
                                        .seed = seed});
  EXPECT_THAT(workload, IsOk());
  return *std::move(workload);
}

// The rows of one step that is not the first.
RawRecords RecordStep(Workload& workload, bool shapes) {
  const WindowClock clock;
  const std::unique_ptr<OpRecorder> recorder = MakeTorchOpRecorder(clock);
  workload.Step();
  EXPECT_THAT(recorder->Reserve(1000, shapes), IsOk());
  recorder->Start();
  workload.Step();
  recorder->Stop();
  RawRecords records;
  Completeness completeness;
  recorder->Drain(&records, &completeness);
  EXPECT_EQ(completeness.dropped_ops, 0);
  return records;
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
  const WorkloadSchema& schema() const {
    for (const WorkloadEntry& entry : AllWorkloads()) {
      if (entry.schema.name == GetParam()) return entry.schema;
    }
    TRAZA_CHECK(false);
  }

  // The defaults, and each value of each choice: {"", ""}, {"dtype", "bf16"}.
  std::vector<Params> Choices() const {
    std::vector<Params> all = {{}};
    for (const ParamSchema& param : schema().params) {
      for (const std::string& choice : param.choices) {
        all.push_back({{param.name, choice}});
      }
    }
    return all;
  }
};

TEST_P(WorkloadsTest, DefaultsFitTheSchemaOnBothKindsOfDevice) {
  for (const bool on_cpu : {true, false}) {
    std::vector<FieldViolation> violations;
    FillParams(schema().params, on_cpu, {}, &violations);
    EXPECT_TRUE(violations.empty()) << violations[0].description;
  }
  EXPECT_FALSE(schema().title.empty());
  EXPECT_FALSE(schema().variants.empty());
}

TEST_P(WorkloadsTest, CostsNameParametersThatExist) {
  std::set<std::string> names;
  for (const ParamSchema& param : schema().params) names.insert(param.name);
  const Cost& cost = schema().cost;
  for (const CostSum* sum : {&cost.flops, &cost.bytes, &cost.memory_bytes,
                             &cost.ops, &cost.kernels}) {
    EXPECT_FALSE(sum->empty());
    for (const CostTerm& term : *sum) {
      for (const auto& [name, exponent] : term.exponents) {
        EXPECT_TRUE(names.contains(name)) << name;
      }
      for (const auto& [name, value] : term.only_if) {
        EXPECT_TRUE(names.contains(name)) << name;
      }
    }
  }
}

TEST_P(WorkloadsTest, CostOfOpsIsTheRowsOfAStep) {
  for (const Params& choice : Choices()) {
    const Params params = ParamsOf(schema(), choice, 48);
    const std::unique_ptr<Workload> workload = Create(GetParam(), params);

    const RawRecords records = RecordStep(*workload, false);

    EXPECT_EQ(records.host.size(),
              Evaluate(schema().cost.ops, ParamValues(params)))
        << testing::PrintToString(choice);
  }
}

// A matrix with one row has other strides: PyTorch takes another way through.
TEST_P(WorkloadsTest, CostOfOpsIsNearAtTheSmallestSizes) {
  const Params params = ParamsOf(schema(), {}, 1);
  const std::unique_ptr<Workload> workload = Create(GetParam(), params);

  const RawRecords records = RecordStep(*workload, false);

  const double ops = Evaluate(schema().cost.ops, ParamValues(params));
  EXPECT_NEAR(static_cast<double>(records.host.size()), ops, 0.1 * ops);
}

TEST_P(WorkloadsTest, CostOfFlopsIsTheSumOverTheOperators) {
  for (const Params& choice : Choices()) {
    const Params params = ParamsOf(schema(), choice, 40);
    const std::unique_ptr<Workload> workload = Create(GetParam(), params);

    const RawRecords records = RecordStep(*workload, true);

    int64_t flops = 0;
    for (const RawHostEvent& event : records.host) {
      if (event.flops != kNull<int64_t>) flops += event.flops;
    }
    EXPECT_EQ(flops, Evaluate(schema().cost.flops, ParamValues(params)))
        << testing::PrintToString(choice);
  }
}

TEST_P(WorkloadsTest, TheRangeOfTheSchemaIsAroundTheStep) {
  const std::unique_ptr<Workload> workload =
      Create(GetParam(), ParamsOf(schema(), {}, 32));

  const RawRecords records = RecordStep(*workload, false);

  ASSERT_FALSE(records.host.empty());
  EXPECT_EQ(records.host[0].kind, EventKind::kRange);
  EXPECT_EQ(records.names.at(records.host[0].name), schema().range);
  for (const RawHostEvent& event : records.host) {
    EXPECT_LE(event.end_ns, records.host[0].end_ns);
  }
}

TEST_P(WorkloadsTest, TheSeedDecidesTheOutput) {
  const Params params = ParamsOf(schema(), {}, 32);
  const auto summary_of = [&](int64_t seed) {
    const std::unique_ptr<Workload> workload = Create(GetParam(), params, seed);
    workload->Step();
    return workload->Output();
  };

  EXPECT_EQ(summary_of(1).sum, summary_of(1).sum);
  EXPECT_NE(summary_of(1).sum, summary_of(2).sum);
}

TEST_P(WorkloadsTest, EveryDtypeGivesAFiniteOutputThatIsNotZero) {
  for (const char* dtype : {"fp32", "bf16", "fp16"}) {
    const std::unique_ptr<Workload> workload =
        Create(GetParam(), ParamsOf(schema(), {{"dtype", dtype}}, 32));

    workload->Step();
    const OutputSummary output = workload->Output();

    EXPECT_TRUE(output.finite) << dtype;
    EXPECT_GT(output.norm, 0) << dtype;
    EXPECT_GT(output.elements, 0) << dtype;
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, WorkloadsTest, testing::ValuesIn(Names()),
                         [](const auto& name) { return name.param; });

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
