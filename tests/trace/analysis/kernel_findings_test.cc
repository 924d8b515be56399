// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/trace/analysis/steps_of_work.h"

namespace traza {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST(SmallGrid, NamesThatLookTheSameAreShownOnce) {
  const std::string apply =
      "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<";
  const Finding finding = Find(Steps()
                                   .Kernel("a", apply + "1>(int)", 4'000, 8)
                                   .Kernel("b", apply + "2>(int)", 3'000, 8)
                                   .Kernel("c", kAddKernel, 2'000, 4)
                                   .Kernel("d", kMulKernel, 1'000, 4)
                                   .Kernel("e", kGeluKernel, 500, 4)
                                   .Explain(),
                               "small-grid");

  EXPECT_THAT(finding.title,
              HasSubstr(": multi_tensor_apply_kernel 8 blocks, add "
                        "(vectorized_elementwise_kernel) 4 blocks, mul "
                        "(vectorized_elementwise_kernel) 4 blocks, 1 more."));
  EXPECT_EQ(NumberOf(finding, "kernels"), 5);
}

TEST(SmallGrid, NamesWhatTheKernelsDo) {
  const Finding finding = Find(Steps()
                                   .Kernel("aten::mm", kGemmKernel, 2'000, 8)
                                   .Kernel("aten::add", kAddKernel, 1'000, 4)
                                   .Explain(),
                               "small-grid");

  EXPECT_THAT(finding.title,
              HasSubstr("add (vectorized_elementwise_kernel) 4 blocks"));
}

TEST(DominantKernels, OptimizersAreNamedWithTheirOperators) {
  const Finding finding =
      Find(Steps()
               .Kernel("aten::_foreach_lerp_",
                       "void at::native::(anonymous namespace)::"
                       "multi_tensor_apply_kernel<int>(int)",
                       60'000)
               .Kernel("aten::mm", kGemmKernel, 40'000)
               .Explain(),
           "dominant-kernels");

  EXPECT_THAT(finding.title,
              HasSubstr("optimizer steps 60.0 % (multi_tensor_apply_kernel in "
                        "aten::_foreach_lerp_), matrix products 40.0 %"));
  EXPECT_NEAR(NumberOf(finding, "share_optimizer"), 0.6, 1e-9);
  EXPECT_NEAR(NumberOf(finding, "share_gemm"), 0.4, 1e-9);
  EXPECT_NEAR(NumberOf(finding, "kernel_1_share"), 0.6, 1e-9);
  EXPECT_EQ(NumberOf(finding, "kernel_1_launches"), 3);
}

TEST(MetadataOnlyOp, NestedOnesTakeTheirTimeOnce) {
  Steps steps(1);
  steps.Kernel("aten::mm", kGemmKernel, 50'000);
  steps.builder()
      .Op("aten::t", 900'000, 910'000)
      .Op("aten::transpose", 902'000, 908'000);
  const Finding finding = Find(steps.Explain(), "metadata-only-op");

  EXPECT_EQ(NumberOf(finding, "operators"), 2);
  EXPECT_EQ(NumberOf(finding, "cpu_time"), 10'000);
  EXPECT_THAT(finding.title, HasSubstr("2 operators a step launch nothing"));
}

TEST(MetadataOnlyOp, AReshapeThatCopiesIsNone) {
  const Answer answer = Steps()
                            .Copy("aten::reshape", 15'000, 1 << 20)
                            .Kernel("aten::mm", kGemmKernel, 50'000)
                            .Explain();

  EXPECT_THAT(Ids(answer), Not(Contains("metadata-only-op")));
}

TEST(CompiledRegion, SaysWhyThereAreNoOperators) {
  Steps steps(2);
  steps.Kernel("aten::mm", kGemmKernel, 50'000);
  steps.builder().Range("compiled_region", 500, 5'000);
  const Finding finding = Find(steps.Explain(), "compiled-region");

  EXPECT_EQ(NumberOf(finding, "compiled_calls"), 1);
  EXPECT_EQ(NumberOf(finding, "device_time"), 50'000);
  EXPECT_THAT(finding.title, HasSubstr("50 % of the device's work"));
  EXPECT_THAT(finding.title,
              HasSubstr("bypasses PyTorch's dispatcher, so inside only what "
                        "allocates or views has operator rows"));
}

TEST(CompiledRegion, IsNotFoundWhereNothingWasCompiled) {
  const Answer answer =
      Steps(2).Kernel("aten::mm", kGemmKernel, 50'000).Explain();

  EXPECT_THAT(Ids(answer), Not(Contains("compiled-region")));
}

TEST(GraphReplayed, NodesAreCountedByTheirLaunch) {
  RecordBuilder builder;
  for (int i = 0; i < 3; ++i) {
    const int64_t at = i * int64_t{100'000};
    builder.Step(Phase::kTraced, i, at, at + 99'000)
        .Call("cudaGraphLaunch", at + 1'000, at + 21'000, i + 1)
        .Kernel(kGemmKernel, at + 30'000, at + 60'000, i + 1)
        .Kernel(kGeluKernel, at + 61'000, at + 80'000, i + 1);
  }
  const Answer answer = Explain(builder.Build(MakeGpuTrace(1).header));

  const Finding finding = Find(answer, "graph-replayed");
  EXPECT_THAT(finding.title,
              HasSubstr("3 launches of a CUDA graph replay 2 nodes each: 100 % "
                        "of the device work for 20.0 us of a call"));
  EXPECT_EQ(NumberOf(finding, "nodes_per_launch"), 2);
  EXPECT_EQ(answer.breakdown[0].launches->launches, 3)
      << "one launch each, though the nodes do not name their graph";
  EXPECT_THAT(Ids(answer), Not(Contains("graph-candidate")));
}

TEST(DeviceState, WhatWasSeenIsAFinding) {
  Header header = MakeGpuTrace(1).header;
  header.collector = "cupti";
  header.state_before = DeviceState{.clock_hz = 1'980'000'000,
                                    .throttle_reasons = {"none"},
                                    .other_processes = 0};
  header.state_after = DeviceState{.clock_hz = 1'200'000'000,
                                   .throttle_reasons = {"hw_thermal_slowdown"},
                                   .other_processes = 2};
  Steps steps;
  steps.Kernel("aten::mm", kGemmKernel, 50'000);
  const Answer answer = steps.Explain(header);

  const Finding throttled = Find(answer, "throttled");
  EXPECT_THAT(throttled.title, HasSubstr("hw_thermal_slowdown"));
  EXPECT_EQ(NumberOf(throttled, "clock_after"), 1.2e9);
  EXPECT_EQ(NumberOf(Find(answer, "contended"), "other_processes"), 2);
}

TEST(DeviceState, WhatNobodySawIsNone) {
  Header header = MakeGpuTrace(1).header;
  header.collector = "cupti";
  Steps steps;
  steps.Kernel("aten::mm", kGemmKernel, 50'000);
  const Answer answer = steps.Explain(header);

  EXPECT_THAT(Ids(answer), Not(Contains("throttled")));
  EXPECT_THAT(Ids(answer), Not(Contains("contended")));
}

}  // namespace
}  // namespace traza
