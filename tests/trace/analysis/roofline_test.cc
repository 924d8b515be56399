// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/roofline.h"

#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/record_builder.h"

namespace traza {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// Thirty steps of one operator on [4096,4096] bf16 tensors, whose kernel keeps
// the device busy for `ns` of 200,000.
Trace OpTrace(const char* op, const char* kernel, int64_t ns, Header header,
              bool shapes = true) {
  RecordBuilder builder;
  int64_t free = 0;
  for (int i = 0; i < 30; ++i) {
    const int64_t at = i * int64_t{20'000};
    const int64_t start = std::max(free + 1'000, at + 9'000);
    free = start + ns;
    builder.Step(Phase::kTraced, i, at, at + 19'900)
        .Op(op, at + 500, at + 19'500);
    if (shapes) {
      RawHostEvent& event = builder.records().host.back();
      event.shapes =
          builder.records().names.Intern("[[4096,4096],[4096,4096]]");
      event.dtypes =
          builder.records().names.Intern("c10::BFloat16,c10::BFloat16");
    }
    builder.Call("cuLaunchKernel", at + 1'000, at + 5'000, i + 1)
        .Kernel(kernel, start, free, i + 1);
  }
  header.job.traced_steps = 30;
  header.timed.batch_ns.assign(30, ns + 1'500);
  return builder.Build(std::move(header));
}

Header WithRoofs() {
  Header header = MakeGpuTrace(1).header;
  header.device.roofs.flops_per_second = {{"bf16", 788e12}};
  header.device.roofs.memory_bytes_per_second = 4.3e12;
  return header;
}

double NumberOf(const Verdict& verdict, const std::string& name) {
  const auto found = verdict.numbers.find(name);
  return found == verdict.numbers.end() ? -1 : found->second.value;
}

// 2 x 4096^3 FLOP and 3 x 4096^2 x 2 bytes: 4096 / 3 FLOP a byte, right of the
// ridge of 788 / 4.3 = 183. In 190,000 ns: 723 TFLOP/s, 91.8 % of the roof.
TEST(Roofline, AProductRightOfTheRidgeIsComputeBound) {
  const Answer answer =
      Explain(OpTrace("aten::mm", "gemm", 190'000, WithRoofs()));

  ASSERT_TRUE(answer.verdict.has_value());
  const Verdict& verdict = *answer.verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kComputeBound);
  EXPECT_NEAR(NumberOf(verdict, "arithmetic_intensity"), 4096. / 3, 1e-6);
  EXPECT_NEAR(NumberOf(verdict, "ridge"), 788e12 / 4.3e12, 1e-6);
  const double attained = 2. * 4096 * 4096 * 4096 / 190'000 * 1e9;
  EXPECT_NEAR(NumberOf(verdict, "attained_flops"), attained, 1e6);
  EXPECT_NEAR(NumberOf(verdict, "roof_share"), attained / 788e12, 1e-9);
  EXPECT_EQ(NumberOf(verdict, "roofline_cover"), 1);
  EXPECT_THAT(verdict.summary,
              HasSubstr("It does 1,365 FLOP a byte of tensors, above the ridge "
                        "of 183 FLOP, at 91.8 % of the roof."));
  EXPECT_THAT(verdict.reasons, Not(Contains(HasSubstr("by kernel names"))));
}

// 1 FLOP of 6 bytes.
TEST(Roofline, ElementwiseWorkLeftOfTheRidgeIsMemoryBound) {
  const Answer answer =
      Explain(OpTrace("aten::mul", "mul_kernel", 30'000, WithRoofs()));

  ASSERT_TRUE(answer.verdict.has_value());
  EXPECT_EQ(answer.verdict->kind, VerdictKind::kMemoryBound);
  EXPECT_NEAR(NumberOf(*answer.verdict, "arithmetic_intensity"), 1. / 6, 1e-9);
  EXPECT_NEAR(NumberOf(*answer.verdict, "attained_bandwidth"),
              6. * 4096 * 4096 / 30'000 * 1e9, 1e3);
}

TEST(Roofline, WithoutRoofsNamesDecideAndItSaysSo) {
  const Answer answer = Explain(
      OpTrace("aten::mm", "nvjet_tst_NNT", 190'000, MakeGpuTrace(1).header));

  EXPECT_EQ(answer.verdict->kind, VerdictKind::kComputeBound);
  EXPECT_NEAR(NumberOf(*answer.verdict, "arithmetic_intensity"), 4096. / 3,
              1e-6);
  EXPECT_EQ(NumberOf(*answer.verdict, "ridge"), -1);
  EXPECT_THAT(answer.verdict->reasons,
              Contains(HasSubstr("the roofs of this device are not known")));
}

TEST(Roofline, WithoutShapesThereIsNone) {
  const Trace trace =
      OpTrace("aten::mm", "gemm", 190'000, WithRoofs(), /*shapes=*/false);
  const RowTimes times(trace);
  const StepIndex steps(trace);

  EXPECT_FALSE(MeasureRoofline(trace, times, steps).has_value());
  EXPECT_THAT(Explain(trace).verdict->reasons,
              Contains(HasSubstr("neither FLOP nor bytes are known")));
}

// Two products at once on two streams take the time of one.
TEST(Roofline, WorkSideBySideTakesItsTimeOnce) {
  RecordBuilder builder;
  for (int i = 0; i < 30; ++i) {
    const int64_t at = i * int64_t{200'000};
    builder.Step(Phase::kTraced, i, at, at + 199'000);
    for (int j = 0; j < 2; ++j) {
      const int64_t called = at + 2'000 * j;
      builder.Op("aten::mm", called, called + 1'900);
      RawHostEvent& event = builder.records().host.back();
      event.shapes =
          builder.records().names.Intern("[[1024,1024],[1024,1024]]");
      event.dtypes = builder.records().names.Intern("float,float");
      builder.Call("cuLaunchKernel", called + 100, called + 1'000, 2 * i + j)
          .OnDevice(0, 7 + j)
          .Kernel("sgemm", at + 10'000, at + 190'000, 2 * i + j);
    }
  }

  const Answer answer = Explain(builder.Build(WithRoofs()));

  EXPECT_NEAR(NumberOf(*answer.verdict, "attained_flops"),
              2 * 2. * 1024 * 1024 * 1024 / 180e-6, 1e6);
}

// 1,000 FLOP a byte are right of the ridge of 183, 0.2 are left of it.
TEST(Roofline, WithoutShapesWhatTheWorkloadDeclaresDecides) {
  Header header = WithRoofs();
  header.job.params["dtype"] = "bf16";
  header.step_cost = StepCost{.flops = 1e11, .bytes = 1e8};
  const Answer compute =
      Explain(OpTrace("aten::mm", "gemm", 190'000, header, /*shapes=*/false));
  header.step_cost = StepCost{.flops = 1e8, .bytes = 5e8};
  const Answer memory =
      Explain(OpTrace("aten::mm", "gemm", 190'000, header, /*shapes=*/false));

  EXPECT_EQ(compute.verdict->kind, VerdictKind::kComputeBound);
  EXPECT_NEAR(NumberOf(*compute.verdict, "attained_flops"), 1e11 / 190e-6, 1e6);
  EXPECT_THAT(compute.verdict->summary,
              HasSubstr("1,000 FLOP a byte, as its workload declares, above "
                        "the ridge of 183 FLOP"));
  EXPECT_EQ(memory.verdict->kind, VerdictKind::kMemoryBound);
}

// 1,000 FLOP a byte at 6 % of the roof: it moves more than it declares.
TEST(Roofline, FarBelowTheRoofADeclarationMakesNothingComputeBound) {
  Header header = WithRoofs();
  header.job.params["dtype"] = "bf16";
  header.step_cost = StepCost{.flops = 1e10, .bytes = 1e7};

  const Answer pointwise = Explain(
      OpTrace("aten::mul", "mul_kernel", 190'000, header, /*shapes=*/false));
  const Answer product = Explain(
      OpTrace("aten::mm", "nvjet_tst_NNT", 190'000, header, /*shapes=*/false));

  EXPECT_EQ(pointwise.verdict->kind, VerdictKind::kGpuBound);
  EXPECT_EQ(product.verdict->kind, VerdictKind::kComputeBound);
  EXPECT_THAT(product.verdict->reasons,
              Contains(HasSubstr("moves more bytes than its workload "
                                 "declares")));
}

TEST(Roofline, ShapesThatCoverTheWorkCountMoreThanADeclaration) {
  Header header = WithRoofs();
  header.job.params["dtype"] = "bf16";
  header.step_cost = StepCost{.flops = 1, .bytes = 1e9};

  const Answer answer = Explain(OpTrace("aten::mm", "gemm", 190'000, header));

  EXPECT_EQ(answer.verdict->kind, VerdictKind::kComputeBound);
}

TEST(Roofline, CoveringLittleOfTheWorkItDecidesNothing) {
  Roofline roofline{.flops = 100,
                    .bytes = 100,
                    .ns = 79,
                    .all_ns = 100,
                    .type = KernelType::kBf16,
                    .peak_flops = 1000,
                    .peak_bytes = 100};
  EXPECT_FALSE(roofline.memory_bound().has_value());
  roofline.ns = 80;
  EXPECT_EQ(roofline.memory_bound(), true);
}

}  // namespace
}  // namespace traza
