// SPDX-License-Identifier: Apache-2.0
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/trace/analysis/steps_of_work.h"

namespace traza {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Layout, LettersAreSaidInWords) {
  const Finding finding = Find(
      Steps()
          .Kernel("aten::mm", kGemmKernel, 50'000)
          .Kernel("aten::mm", "ampere_bf16_s16816gemm_bf16_128x128_tn", 50'000)
          .Explain(),
      "layout");

  EXPECT_THAT(finding.title, AllOf(HasSubstr("3 nn (both operands as they lie"),
                                   HasSubstr("3 tn (the second operand "
                                             "transposed in place")));
  EXPECT_EQ(NumberOf(finding, "time_nn"), 150'000);
}

TEST(SameGpuWork, OperatorsThatShareAKernelAreNamed) {
  const Finding finding = Find(Steps()
                                   .Kernel("aten::mm", kGemmKernel, 50'000)
                                   .Kernel("aten::addmm", kGemmKernel, 50'000)
                                   .Explain(),
                               "same-gpu-work");

  EXPECT_THAT(finding.title,
              HasSubstr("aten::mm, aten::addmm run the same kernel"));
  EXPECT_EQ(NumberOf(finding, "launches"), 6);
}

}  // namespace
}  // namespace traza
