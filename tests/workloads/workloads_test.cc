// SPDX-License-Identifier: Apache-2.0
// What must hold for every workload of the registry that runs on the CPU.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/check.h"
#include "spec/cost.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "trace/analysis/answer.h"
#include "trace/file/parquet_file.h"
#include "worker/job.h"
#include "worker/null_collector.h"
#include "worker/op_recorder.h"
#include "worker/torch_runtime.h"
#include "worker/workload_errors.h"
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
    if (param.type == traza::ParamType::kInt && std::stoll(value) > max) {
      value = std::to_string(max);
    }
  }
  return params;
}

std::unique_ptr<Workload> Create(const std::string& name,
                                 const std::string& variant,
                                 const Params& params, int64_t seed = 0) {
  auto workload = CreateWorkload(name, {.params = ParamValues(params),
                                        .variant = variant,
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
  EXPECT_THAT(recorder->Reserve(5000, shapes), IsOk());
  recorder->Start();
  workload.Step();
  recorder->Stop();
  RawRecords records;
  Completeness completeness;
  recorder->Drain(&records, &completeness);
  EXPECT_EQ(completeness.dropped_ops, 0);
  return records;
}

// "aten::add x2, ...", in the order of their names.
std::string RowNames(const RawRecords& records) {
  std::map<std::string, int> counts;
  for (const RawHostEvent& event : records.host) {
    ++counts[records.names.at(event.name)];
  }
  std::string text;
  for (const auto& [name, count] : counts) {
    absl::StrAppend(&text, name, " x", count, ", ");
  }
  return text;
}

// An operator that calls another of its name, in place or not, is one.
int64_t FlopsOfRows(const RawRecords& records) {
  const auto name_of = [&records](const RawHostEvent& event) {
    return absl::StripSuffix(records.names.at(event.name), "_");
  };
  int64_t flops = 0;
  const RawHostEvent* outer = nullptr;
  for (const RawHostEvent& event : records.host) {
    if (event.flops == kNull<int64_t>) continue;
    if (outer != nullptr && name_of(*outer) == name_of(event) &&
        event.end_ns <= outer->end_ns) {
      continue;
    }
    flops += event.flops;
    outer = &event;
  }
  return flops;
}

const WorkloadSchema& SchemaOf(const std::string& name) {
  for (const WorkloadEntry& entry : AllWorkloads()) {
    if (entry.schema.name == name) return entry.schema;
  }
  TRAZA_CHECK(false);
}

struct Runnable {
  std::string workload;
  std::string variant;

  friend void PrintTo(const Runnable& runnable, std::ostream* out) {
    *out << runnable.workload << " " << runnable.variant;
  }
};

std::vector<Runnable> RunnableVariants() {
  std::vector<Runnable> all;
  for (const WorkloadEntry& entry : AllWorkloads()) {
    for (const VariantSchema& variant : entry.schema.variants) {
      if (!variant.unavailable.contains("cpu")) {
        all.push_back({entry.schema.name, variant.name});
      }
    }
  }
  return all;
}

// What the operators' FLOP leave out, because PyTorch's operator does not say
// what it computes: attention, convolution, and what is fused.
bool HasUncountedFlops(const Runnable& runnable) {
  static const auto* const uncounted =
      new std::set<std::string>{"attention flash",
                                "conv_block channels_last",
                                "conv_block contiguous",
                                "decode eager",
                                "rms_norm fused",
                                "rotary complex",
                                "train_step fused",
                                "transformer_block eager",
                                "transformer_block split_qkv"};
  return uncounted->contains(
      absl::StrCat(runnable.workload, " ", runnable.variant));
}

class VariantsTest : public testing::TestWithParam<Runnable> {
 protected:
  const WorkloadSchema& schema() const { return SchemaOf(GetParam().workload); }

  std::unique_ptr<Workload> CreateWith(const Params& params, int64_t seed = 0) {
    return Create(GetParam().workload, GetParam().variant, params, seed);
  }

  double EvaluateWith(const CostSum& sum, const Params& params) const {
    return Evaluate(sum, CostInputs({.variant = GetParam().variant,
                                     .device = "cpu",
                                     .params = params}));
  }

  // The defaults, each value of each choice that a CPU has, and 2 for what the
  // number of rows depends on: {}, {"dtype", "bf16"}, {"batch", "2"}.
  std::vector<Params> Choices() const {
    std::vector<Params> all = {{}};
    for (const ParamSchema& param : schema().params) {
      for (const std::string& choice : param.choices) {
        if (!param.gpu_only.contains(choice)) {
          all.push_back({{param.name, choice}});
        }
      }
      for (const CostTerm& term : schema().cost.ops) {
        if (param.type == traza::ParamType::kInt &&
            term.only_if.contains(param.name)) {
          all.push_back({{param.name, "2"}});
          all.push_back({{param.name, "2"}, {"dtype", "fp16"}});
        }
      }
    }
    return all;
  }
};

TEST_P(VariantsTest, CostOfOpsIsTheRowsOfAStep) {
  for (const Params& choice : Choices()) {
    const Params params = ParamsOf(schema(), choice, 48);
    const std::unique_ptr<Workload> workload = CreateWith(params);

    const RawRecords records = RecordStep(*workload, false);

    EXPECT_EQ(records.host.size(), EvaluateWith(schema().cost.ops, params))
        << testing::PrintToString(choice) << ": " << RowNames(records);
  }
}

// A matrix with one row has other strides: PyTorch takes another way through.
TEST_P(VariantsTest, CostOfOpsIsNearAtTheSmallestSizes) {
  const Params params = ParamsOf(schema(), {}, 1);
  const std::unique_ptr<Workload> workload = CreateWith(params);

  const RawRecords records = RecordStep(*workload, false);

  const double ops = EvaluateWith(schema().cost.ops, params);
  EXPECT_NEAR(static_cast<double>(records.host.size()), ops, 0.25 * ops)
      << RowNames(records);
}

TEST_P(VariantsTest, CostOfFlopsIsTheSumOverTheOperators) {
  for (const Params& choice : Choices()) {
    const Params params = ParamsOf(schema(), choice, 40);
    const std::unique_ptr<Workload> workload = CreateWith(params);

    const RawRecords records = RecordStep(*workload, true);

    const int64_t flops = FlopsOfRows(records);
    const double cost = EvaluateWith(schema().cost.flops, params);
    if (HasUncountedFlops(GetParam())) {
      EXPECT_LE(flops, cost) << testing::PrintToString(choice);
    } else {
      EXPECT_EQ(flops, cost) << testing::PrintToString(choice);
    }
  }
}

TEST_P(VariantsTest, TheRangeOfTheSchemaIsAroundTheStep) {
  const std::unique_ptr<Workload> workload =
      CreateWith(ParamsOf(schema(), {}, 32));

  const RawRecords records = RecordStep(*workload, false);

  ASSERT_FALSE(records.host.empty());
  EXPECT_EQ(records.host[0].kind, EventKind::kRange);
  EXPECT_EQ(records.names.at(records.host[0].name),
            schema().RangeOf(GetParam().variant));
  for (const RawHostEvent& event : records.host) {
    EXPECT_LE(event.end_ns, records.host[0].end_ns);
  }
}

TEST_P(VariantsTest, TheSeedDecidesTheOutput) {
  const Params params = ParamsOf(schema(), {}, 32);
  const auto summary_of = [&](int64_t seed) {
    const std::unique_ptr<Workload> workload = CreateWith(params, seed);
    workload->Step();
    return workload->Output();
  };

  EXPECT_EQ(summary_of(1).sum, summary_of(1).sum);
  EXPECT_NE(summary_of(1).sum, summary_of(2).sum);
}

TEST_P(VariantsTest, EveryDtypeGivesAFiniteOutputThatIsNotZero) {
  for (const Params& choice : Choices()) {
    const std::unique_ptr<Workload> workload =
        CreateWith(ParamsOf(schema(), choice, 32));

    workload->Step();
    const OutputSummary output = workload->Output();

    EXPECT_TRUE(output.finite) << testing::PrintToString(choice);
    EXPECT_GT(output.norm, 0) << testing::PrintToString(choice);
    EXPECT_GT(output.elements, 0) << testing::PrintToString(choice);
  }
}

// Whatever is compared is the same work: the output does not depend on the
// variant, nor on how many steps there were.
TEST_P(VariantsTest, ComputesWhatTheFirstVariantDoes) {
  const Params params = ParamsOf(schema(), {}, 32);
  std::string first;
  for (const Runnable& runnable : RunnableVariants()) {
    if (runnable.workload == GetParam().workload) {
      first = runnable.variant;
      break;
    }
  }
  const std::unique_ptr<Workload> expected =
      Create(GetParam().workload, first, params);
  expected->Step();
  const std::unique_ptr<Workload> workload = CreateWith(params);
  for (int step = 0; step < 3; ++step) workload->Step();

  const OutputSummary output = workload->Output();

  EXPECT_NEAR(output.norm, expected->Output().norm,
              1e-4 * expected->Output().norm);
  EXPECT_NEAR(output.sum, expected->Output().sum,
              1e-3 * expected->Output().norm);
}

class NoProgress : public StepProgress {
 public:
  void OnPhase(Phase /*phase*/, std::optional<int64_t> /*total*/) override {}
};

// A whole job, from the specification to the answer.
TEST_P(VariantsTest, ATraceOfItMeetsItsExpectations) {
  const TorchRuntime runtime;
  WindowClock clock;
  const std::unique_ptr<OpRecorder> recorder = MakeTorchOpRecorder(clock);
  NullCollector collector("a test");
  NoProgress progress;
  const std::atomic<bool> stop{false};
  const TempDir dir;
  const std::string out = (dir / "out.parquet").native();

  const JobOutcome outcome =
      RunJob({.spec = {.workload = GetParam().workload,
                       .variant = GetParam().variant,
                       .device = "cpu",
                       .params = ParamsOf(schema(), {}, 32),
                       .warmup = {.automatic = false, .steps = 3},
                       .timed_steps = 3,
                       .traced_steps = 10},
              .out = out},
             {.runtime = runtime,
              .clock = clock,
              .recorder = *recorder,
              .collector = collector,
              .progress = progress,
              .stop = stop});

  ASSERT_THAT(outcome.status, IsOk());
  const absl::StatusOr<Trace> trace = ReadParquet(out);
  ASSERT_THAT(trace, IsOk());
  const std::vector<ExpectationAnswer> answers = Explain(*trace).expectations;
  EXPECT_FALSE(answers.empty());
  for (const ExpectationAnswer& answer : answers) {
    EXPECT_EQ(answer.check.outcome, CheckOutcome::kPassed)
        << answer.check.message;
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, VariantsTest,
                         testing::ValuesIn(RunnableVariants()),
                         [](const auto& runnable) {
                           return absl::StrCat(runnable.param.workload, "_",
                                               runnable.param.variant);
                         });

// The worker compiles before it makes tensors: both have to agree.
TEST(CompiledVariants, SayWhatTheyTake) {
  for (const WorkloadEntry& entry : AllWorkloads()) {
    const bool listed = std::ranges::any_of(
        entry.schema.variants, [](const VariantSchema& variant) {
          return variant.name == kCompiledVariant;
        });
    ASSERT_EQ(listed, entry.compiled != nullptr) << entry.schema.name;
    if (!listed) continue;
    std::vector<FieldViolation> violations;
    const CompiledStep step = entry.compiled(ParamValues(
        FillParams(entry.schema.params, /*on_cpu=*/false, {}, &violations)));

    EXPECT_FALSE(step.module.empty());
    std::set<std::string> names;
    for (const TensorSpec& input : step.inputs) {
      EXPECT_TRUE(names.insert(input.name).second) << input.name;
      EXPECT_FALSE(input.shape.empty());
      EXPECT_FALSE(input.dtype.empty());
    }
  }
}

TEST(CreateWorkload, APackageThatIsNoneSaysSo) {
  const auto workload =
      CreateWorkload("linear", {.variant = kCompiledVariant,
                                .device = "cpu",
                                .package_file = "/nonexistent/linear.pt2"});

  EXPECT_THAT(workload, StatusIs(absl::StatusCode::kFailedPrecondition,
                                 HasReason(Reason::kModelUnusable)));
  EXPECT_THAT(std::string(workload.status().message()),
              testing::HasSubstr("/nonexistent/linear.pt2"));
}

// The daemon does not let it run there; a worker that is asked all the same
// says what PyTorch said.
TEST(Attention, ABackendThatCannotComputeItSaysSo) {
  const std::unique_ptr<Workload> workload =
      Create("attention", "efficient", ParamsOf(SchemaOf("attention"), {}, 16));

  const absl::Status status = CatchErrors([&workload] {
    workload->Step();
    return absl::OkStatus();
  });

  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition,
                               HasReason(Reason::kWorkloadUnavailable)));
  EXPECT_THAT(std::string(status.message()),
              testing::HasSubstr("The backend efficient cannot compute"));
}

}  // namespace
}  // namespace traza
