// SPDX-License-Identifier: Apache-2.0
// Every variant of every workload on a GPU, with the defaults: whole jobs, and
// what their traces were expected to show. compiled_check.py has the compiled
// ones.
#include <algorithm>
#include <atomic>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "spec/cost.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "trace/analysis/answer.h"
#include "trace/file/parquet_file.h"
#include "trace/record.h"
#include "worker/collector.h"
#include "worker/device_collector.h"
#include "worker/job.h"
#include "worker/op_recorder.h"
#include "worker/torch_runtime.h"
#include "workloads/registry.h"

namespace traza {
namespace {

struct Runnable {
  const WorkloadSchema* workload;  // null: the test names it
  std::string variant;

  friend void PrintTo(const Runnable& runnable, std::ostream* out) {
    if (runnable.workload != nullptr) *out << runnable.workload->name << " ";
    *out << runnable.variant;
  }
};

std::vector<Runnable> AllVariants() {
  std::vector<Runnable> all;
  for (const WorkloadEntry& entry : AllWorkloads()) {
    for (const VariantSchema& variant : entry.schema.variants) {
      // A job has to have its package built: compiled_check.py.
      if (variant.name == kCompiledVariant) continue;
      all.push_back({&entry.schema, variant.name});
    }
  }
  return all;
}

class NoProgress : public StepProgress {
 public:
  void OnPhase(Phase /*phase*/, std::optional<int64_t> /*total*/) override {}
};

class GpuWorkloadsTest : public testing::TestWithParam<Runnable> {
 protected:
  void SetUp() override {
    runtime_ = std::make_unique<TorchRuntime>();
    if (!runtime_->no_gpu().empty()) GTEST_SKIP() << runtime_->no_gpu();
    recorder_ = MakeTorchOpRecorder(clock_);
    collector_ = MakeDeviceCollector(*runtime_->FindDevice("gpu0"), clock_);
  }

  // A job with `params` instead of the defaults, traced into trace_.
  absl::Status Run(const std::string& workload, const std::string& variant,
                   const std::map<std::string, std::string>& params) {
    NoProgress progress;
    const std::atomic<bool> stop{false};
    const TempDir dir;
    const std::string out = (dir / "out.parquet").native();
    JobSpec spec;
    spec.workload = workload;
    spec.variant = variant;
    spec.device = "gpu0";
    spec.params = params;
    const JobOutcome outcome =
        RunJob({.spec = spec, .out = out}, {.runtime = *runtime_,
                                            .clock = clock_,
                                            .recorder = *recorder_,
                                            .collector = *collector_,
                                            .progress = progress,
                                            .stop = stop});
    if (outcome.status.ok()) trace_ = *ReadParquet(out);
    return outcome.status;
  }

  double RecordsOfAStep() const {
    return static_cast<double>(
               std::ranges::count_if(trace_.kind, IsDeviceWork)) /
           static_cast<double>(trace_.header.job.traced_steps);
  }

  std::unique_ptr<TorchRuntime> runtime_;
  WindowClock clock_;
  std::unique_ptr<OpRecorder> recorder_;
  std::unique_ptr<Collector> collector_;
  Trace trace_;
};

TEST_P(GpuWorkloadsTest, ATraceOfItMeetsItsExpectations) {
  ASSERT_THAT(Run(GetParam().workload->name, GetParam().variant, {}), IsOk());

  // What was predicted held all that there was.
  EXPECT_EQ(trace_.header.completeness.dropped_ops, 0);
  EXPECT_EQ(trace_.header.completeness.dropped, 0);
  EXPECT_TRUE(trace_.header.fingerprint->finite);
  const double records = RecordsOfAStep();
  std::cout << "device records of a step: " << records << '\n';
  // What is declared is what libraries do on a Hopper.
  if (absl::StartsWith(
          runtime_->FindDevice("gpu0")->compute_capability.value_or(""),
          "9.")) {
    EXPECT_NEAR(Evaluate(GetParam().workload->cost.kernels,
                         CostInputs(trace_.header.job)),
                records, 0.25 * records)
        << "as the workload declares them";
  }
  for (const ExpectationAnswer& answer : Explain(trace_).expectations) {
    EXPECT_EQ(answer.check.outcome, CheckOutcome::kPassed)
        << answer.check.message;
  }
}

// Within what bf16 keeps.
TEST_P(GpuWorkloadsTest, ComputesWhatTheFirstVariantDoes) {
  const WorkloadSchema& workload = *GetParam().workload;
  ASSERT_THAT(Run(workload.name, workload.variants.front().name, {}), IsOk());
  const Fingerprint first = *trace_.header.fingerprint;

  ASSERT_THAT(Run(workload.name, GetParam().variant, {}), IsOk());

  const Fingerprint& mine = *trace_.header.fingerprint;
  EXPECT_EQ(mine.shape, first.shape);
  EXPECT_NEAR(mine.norm, first.norm, 0.02 * first.norm);
}

INSTANTIATE_TEST_SUITE_P(Registry, GpuWorkloadsTest,
                         testing::ValuesIn(AllVariants()),
                         [](const auto& runnable) {
                           return absl::StrCat(runnable.param.workload->name,
                                               "_", runnable.param.variant);
                         });

class GpuAttentionTest : public GpuWorkloadsTest {};

TEST_P(GpuAttentionTest, AHeadThatABackendDoesNotTakeIsRefusedWithTheReason) {
  const absl::Status status = Run(
      "attention", GetParam().variant,
      {{"batch", "1"}, {"heads", "1"}, {"seq", "64"}, {"head_dim", "1000"}});

  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition,
                               HasReason(Reason::kWorkloadUnavailable)));
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("because"));
}

INSTANTIATE_TEST_SUITE_P(Registry, GpuAttentionTest,
                         testing::Values(Runnable{nullptr, "flash"},
                                         Runnable{nullptr, "cudnn"}),
                         [](const auto& runnable) {
                           return runnable.param.variant;
                         });

}  // namespace
}  // namespace traza
