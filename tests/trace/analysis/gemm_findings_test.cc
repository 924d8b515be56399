// SPDX-License-Identifier: Apache-2.0
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/trace/analysis/steps_of_work.h"

namespace traza {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST(CopyBeforeGemm, ATwoDimensionalBiasIsCopiedFirst) {
  const Answer answer = Steps()
                            .Copy("aten::addmm", 15'000, 33'554'432)
                            .Fill("")
                            .Kernel("", kGemmKernel, 178'000)
                            .Explain();

  const Finding finding = Find(answer, "copy-before-gemm");
  EXPECT_EQ(finding.severity, "warning");
  EXPECT_THAT(finding.title, HasSubstr("3 matrix products of aten::addmm copy "
                                       "what is added into the output first: "
                                       "32.0 MiB a time, 45.0 us in all"));
  EXPECT_EQ(NumberOf(finding, "copy_bytes"), 3 * 33'554'432.);
  EXPECT_EQ(finding.event_ids.size(), 6u) << "each copy and its product";
  EXPECT_THAT(Ids(answer), Not(Contains("epilogue-fused")));
}

TEST(CopyBeforeGemm, ACopyOfAnotherOperatorIsNone) {
  const Answer answer = Steps()
                            .Copy("aten::clone", 15'000, 33'554'432)
                            .Kernel("aten::addmm", kGemmKernel, 178'000)
                            .Explain();

  EXPECT_THAT(Ids(answer), Not(Contains("copy-before-gemm")));
  EXPECT_THAT(Find(answer, "epilogue-fused").title,
              HasSubstr("3 matrix products add their bias in the end"));
}

TEST(CopyBeforeGemm, AProductThatAddsNothingHasNone) {
  const Answer answer = Steps()
                            .Copy("aten::mm", 15'000, 33'554'432)
                            .Kernel("", kGemmKernel, 178'000)
                            .Explain();

  EXPECT_THAT(Ids(answer), Not(Contains("copy-before-gemm")));
}

}  // namespace
}  // namespace traza
