// SPDX-License-Identifier: Apache-2.0
// What an expert reads in traces of torch.profiler from an H200
// (tests/trace/fixtures/torch-profiler), explain has to say.
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "trace/analysis/answer.h"
#include "trace/analysis/diff.h"
#include "trace/file/kineto_file.h"

namespace traza {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

Trace ReadFixture(const std::string& name) {
  const char* root = std::getenv("TRAZA_SOURCE_DIR");
  absl::StatusOr<Trace> trace = ReadKinetoFile(
      std::filesystem::path(root == nullptr ? "." : root) /
      "tests/trace/fixtures/torch-profiler" / absl::StrCat(name, ".json.gz"));
  if (!trace.ok()) {
    ADD_FAILURE() << trace.status();
    return {};
  }
  return *std::move(trace);
}

Answer ExplainFixture(const std::string& name) {
  return Explain(ReadFixture(name));
}

std::string VerdictOf(const Answer& answer) {
  if (!answer.verdict.has_value()) return "none";
  return std::string(VerdictKindName(answer.verdict->kind));
}

const Finding* Find(const Answer& answer, const std::string& id) {
  for (const Finding& finding : answer.findings) {
    if (finding.id == id) return &finding;
  }
  return nullptr;
}

// The title of the finding; empty where there is none.
std::string TitleOf(const Answer& answer, const std::string& id) {
  const Finding* const finding = Find(answer, id);
  return finding == nullptr ? "" : finding->title;
}

TEST(TorchProfiler, ASmallMatmulIsOverheadBound) {
  const Answer answer = ExplainFixture("mm64_cold");

  EXPECT_EQ(VerdictOf(answer), "overhead-bound");
  EXPECT_NE(Find(answer, "graph-candidate"), nullptr);
  EXPECT_NE(Find(answer, "small-grid"), nullptr);
  EXPECT_EQ(answer.structure.per_step.size(), 2U);
}

TEST(TorchProfiler, TheFirstStepOfAProcessIsBrokenDown) {
  const Answer answer = ExplainFixture("mm64_first_steps");

  const Finding* const cold = Find(answer, "cold-step");
  ASSERT_NE(cold, nullptr);
  EXPECT_THAT(cold->title,
              AllOf(HasSubstr("first-call set-up"), HasSubstr("loading code"),
                    HasSubstr("context of the device"),
                    HasSubstr("the profiler's own buffers")));
  // Each ns counts once.
  double parts = 0;
  for (const auto& [name, number] : cold->numbers) {
    if (name.starts_with("cold_") && name != "cold_step") parts += number.value;
  }
  EXPECT_NEAR(parts, 106.75e6, 0.1e6);
  // The numbers are those of a cold start, and the verdict says so.
  EXPECT_THAT(TitleOf(answer, "overhead-bound"), HasSubstr("first step"));
}

TEST(TorchProfiler, ALargeMatmulIsComputeBound) {
  const Answer answer = ExplainFixture("mm4096_warm");

  EXPECT_EQ(VerdictOf(answer), "compute-bound");
  EXPECT_EQ(Find(answer, "overhead-bound"), nullptr);
}

TEST(TorchProfiler, CompiledAddmmCopiesItsTwoDimensionalBias) {
  const Answer answer = ExplainFixture("mm4096_compiled");

  EXPECT_THAT(TitleOf(answer, "copy-before-gemm"),
              AllOf(HasSubstr("aten::addmm"), HasSubstr("32.0 MiB")));
}

TEST(TorchProfiler, ALinearLayerAddsItsBiasInTheProduct) {
  const Answer answer = ExplainFixture("linear_eager");

  EXPECT_THAT(TitleOf(answer, "epilogue-fused"), HasSubstr("_bias_"));
  EXPECT_EQ(Find(answer, "copy-before-gemm"), nullptr);
  EXPECT_THAT(TitleOf(answer, "metadata-only-op"), HasSubstr("aten::t"));
  EXPECT_THAT(TitleOf(answer, "layout"), HasSubstr("tn"));
}

// Between gelu and mul lie 64 x 128 x 3072 elements of bf16, written and read:
// 2 x 50.3 MB.
TEST(TorchProfiler, AnEagerMlpLeavesGeluAndMulUnfused) {
  const Answer answer = ExplainFixture("mlp_eager");

  const Finding* const unfused = Find(answer, "unfused-pointwise");
  ASSERT_NE(unfused, nullptr);
  EXPECT_THAT(unfused->title,
              AllOf(HasSubstr("gelu + mul"), HasSubstr("101 MB"),
                    HasSubstr("estimated")));
  EXPECT_FALSE(unfused->event_ids.empty());
}

TEST(TorchProfiler, NaiveAttentionWritesItsScoresAndCopiesForTheMask) {
  const Answer answer = ExplainFixture("attn_naive");

  EXPECT_THAT(TitleOf(answer, "attention-backend"),
              AllOf(HasSubstr("masked_fill"), HasSubstr("softmax"),
                    HasSubstr("Memcpy DtoD"), HasSubstr("256 MiB")));
  EXPECT_EQ(VerdictOf(answer), "gpu-bound") << "no FLOP, no bytes";
}

TEST(TorchProfiler, FlashAttentionIsNamed) {
  const Answer answer = ExplainFixture("sdpa_flash");

  EXPECT_THAT(TitleOf(answer, "attention-backend"), HasSubstr("flash"));
  EXPECT_EQ(Find(answer, "unfused-pointwise"), nullptr);
}

TEST(TorchProfiler, AReplayedGraphIsOneLaunchWithItsNodes) {
  const Answer answer = ExplainFixture("cudagraph");

  EXPECT_THAT(TitleOf(answer, "graph-replayed"),
              AllOf(HasSubstr("3 launches"), HasSubstr("7 nodes")));
  ASSERT_EQ(answer.breakdown.size(), 1U);
  EXPECT_EQ(answer.breakdown[0].launches->launches, 3);
  EXPECT_EQ(Find(answer, "graph-candidate"), nullptr);
}

TEST(TorchProfiler, TrainingSpendsItsDeviceTimeOnTheOptimizer) {
  const Answer answer = ExplainFixture("train");

  EXPECT_THAT(TitleOf(answer, "dominant-kernels"),
              AllOf(HasSubstr("optimizer steps 25"),
                    HasSubstr("multi_tensor_apply_kernel")));
  EXPECT_EQ(VerdictOf(answer), "overhead-bound");
}

TEST(TorchProfiler, ACopyBackIsPageableAndWaits) {
  const Answer answer = ExplainFixture("hostcopy");

  EXPECT_THAT(TitleOf(answer, "pageable-copy"), HasSubstr("12.0 MiB"));
  EXPECT_THAT(TitleOf(answer, "sync-in-step"),
              HasSubstr("aten::to > aten::copy_"));
}

// Three steps, of a profiler that cannot prove that it lost nothing.
TEST(TorchProfiler, ItsTracesAreNeverTakenForProven) {
  for (const char* name : {"mm64_cold", "mm4096_warm", "train"}) {
    const Answer answer = ExplainFixture(name);
    EXPECT_EQ(answer.validity.level, ValidityLevel::kUnstable) << name;
    EXPECT_EQ(answer.completeness.dropped, std::nullopt) << name;
    EXPECT_LE(answer.verdict->confidence, 0.7) << name;
    for (const Criterion& criterion : answer.validity.criteria) {
      EXPECT_THAT(criterion.advice, Not(HasSubstr("--traced-steps"))) << name;
    }
  }
}

TEST(TorchProfiler, CompilingAMatmulTradesTheAddForACopy) {
  const absl::StatusOr<Diff> diff =
      DiffTraces(ReadFixture("mm4096_warm"), ReadFixture("mm4096_compiled"));

  ASSERT_TRUE(diff.ok()) << diff.status();
  EXPECT_THAT(diff->changes, Contains(HasSubstr("Memcpy DtoD")));
  EXPECT_THAT(diff->changes,
              Contains(AnyOf(HasSubstr("add"), HasSubstr("badd"))));
  EXPECT_NE(diff->fingerprint_before, diff->fingerprint_after);
}

TEST(TorchProfiler, EachBackendOfAttentionIsNamed) {
  EXPECT_THAT(TitleOf(ExplainFixture("sdpa_math"), "attention-backend"),
              AllOf(HasSubstr("the math backend"), HasSubstr("2 times")));
  EXPECT_THAT(TitleOf(ExplainFixture("sdpa_efficient"), "attention-backend"),
              HasSubstr("memory-efficient"));
  EXPECT_THAT(TitleOf(ExplainFixture("sdpa_cudnn"), "attention-backend"),
              HasSubstr("cuDNN"));
}

TEST(TorchProfiler, MathAttentionDoesWithoutTensorCores) {
  EXPECT_THAT(TitleOf(ExplainFixture("sdpa_math"), "tensor-cores-unused"),
              HasSubstr("aten::bmm"));
}

TEST(TorchProfiler, AnItemInALoopSynchronises) {
  EXPECT_THAT(TitleOf(ExplainFixture("sync_items"), "sync-in-step"),
              AllOf(HasSubstr("9 times in 3 traced steps"),
                    HasSubstr("aten::item > aten::_local_scalar_dense")));
}

TEST(TorchProfiler, AutocastLeavesWorkInFp32) {
  EXPECT_THAT(TitleOf(ExplainFixture("autocast_encoder"), "dtype-upcast"),
              HasSubstr("products run in bf16"));
}

TEST(TorchProfiler, ConvolutionsDominateTheirTraining) {
  EXPECT_THAT(TitleOf(ExplainFixture("conv_train"), "dominant-kernels"),
              HasSubstr("convolutions"));
}

TEST(TorchProfiler, StreamsAreToldApart) {
  const Answer answer = ExplainFixture("two_streams");

  ASSERT_EQ(answer.breakdown.size(), 1U);
  EXPECT_EQ(answer.breakdown[0].streams.size(), 2U);
}

TEST(TorchProfiler, AFileWithoutStepsTellsOfLoadingWaitsAndCopies) {
  const Answer misc = ExplainFixture("misc_ops");
  const Answer copies = ExplainFixture("copies_no_steps");

  EXPECT_THAT(TitleOf(misc, "module-loading-in-step"),
              HasSubstr("in the trace, which has no steps"));
  EXPECT_THAT(TitleOf(copies, "sync-in-step"), HasSubstr("aten::copy_"));
  EXPECT_THAT(TitleOf(copies, "pageable-copy"), HasSubstr("6 copies"));
  EXPECT_EQ(Find(misc, "attention-backend"), nullptr)
      << "a softmax whose gradient follows is no attention";
}

TEST(TorchProfiler, TheDiffOfACompiledMlpSaysWhatFused) {
  const absl::StatusOr<Diff> diff =
      DiffTraces(ReadFixture("mlp_eager"), ReadFixture("mlp_compiled"));

  ASSERT_TRUE(diff.ok()) << diff.status();
  EXPECT_THAT(
      diff->changes,
      Contains(AllOf(HasSubstr("2 pointwise kernels (gelu, mul) became 1"),
                     HasSubstr("triton_poi_fused__unsafe_view_gelu_mul_0"),
                     HasSubstr("96.0 MiB less"))));
}

}  // namespace
}  // namespace traza
