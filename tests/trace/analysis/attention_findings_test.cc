// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/trace/analysis/steps_of_work.h"

namespace traza {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST(AttentionBackend, PartsAreToldWithTheScoresAndTheCopyOfTheMask) {
  // 8 x 16 x 1024 x 1024 scores of 2 bytes.
  Steps steps;
  steps.Kernel("aten::bmm", kGemmKernel, 83'000)
      .Kernel("aten::mul", kMulKernel, 126'000, 131'072)
      .Copy("aten::masked_fill", 128'000, 268'435'456)
      .Kernel("aten::masked_fill_", kMaskedFillKernel, 357'000, 262'144)
      .Kernel("aten::_softmax", kSoftmaxKernel, 283'000, 32'768)
      .Kernel("aten::bmm", kGemmKernel, 84'000);
  const Finding finding = Find(steps.Explain(), "attention-backend");

  EXPECT_EQ(finding.severity, "warning");
  EXPECT_THAT(
      finding.title,
      AllOf(HasSubstr("Attention ran in parts (written out), 3 times"),
            HasSubstr("256 MiB"), HasSubstr("masked_fill"),
            HasSubstr("Memcpy DtoD (Device -> Device) of aten::masked_fill")));
  EXPECT_EQ(NumberOf(finding, "kernels_between"), 12);
  EXPECT_EQ(NumberOf(finding, "time_between"), 3 * 894'000.);
}

TEST(AttentionBackend, TheMathBackendIsNotToldToCallWhatWasCalled) {
  const char* math = "aten::_scaled_dot_product_attention_math";
  const Finding finding =
      Find(Steps()
               .Kernel(math, kGemmKernel, 83'000)
               .Kernel(math, kSoftmaxKernel, 283'000, 32'768)
               .Kernel(math, kGemmKernel, 84'000)
               .Explain(),
           "attention-backend");

  EXPECT_THAT(finding.title, HasSubstr("(the math backend)"));
  EXPECT_THAT(finding.suggestion,
              AllOf(HasSubstr("torch.nn.attention.sdpa_kernel"),
                    Not(HasSubstr("masked_fill"))));
}

TEST(AttentionBackend, FusedOnesAreNamed) {
  const Finding finding =
      Find(Steps()
               .Kernel("aten::_flash_attention_forward",
                       "void pytorch_flash::flash_fwd_kernel<int>(int)", 95'000)
               .Explain(),
           "attention-backend");

  EXPECT_EQ(finding.severity, "info");
  EXPECT_THAT(finding.title, HasSubstr("Attention ran as flash: 3 kernels"));
}

// One kernel between two products.
std::vector<std::string> FindingsOfBetween(const std::string& kernel) {
  return Ids(Steps()
                 .Kernel("aten::bmm", kGemmKernel, 60'000)
                 .Kernel("CompiledFunction", kernel, 100'000)
                 .Kernel("aten::bmm", kGemmKernel, 60'000)
                 .Explain());
}

TEST(AttentionBackend, ACompilerFusesOtherOperatorsIntoItsSoftmax) {
  for (const char* name : {"triton_per_fused__softmax_0",
                           "triton_per_fused__softmax_masked_fill_mul_0",
                           "triton_red_fused__softmax_div_0",
                           "triton_red_fused__to_copy__softmax_add_2",
                           "triton_per_fused__safe_softmax_add_1"}) {
    EXPECT_THAT(FindingsOfBetween(name), Contains("attention-backend")) << name;
  }
}

TEST(AttentionBackend, LossesNormsAndBackwardOfACompilerAreNone) {
  for (const char* name :
       {"triton_red_fused__log_softmax_nll_loss_forward_0",
        "triton_per_fused__softmax_backward_data_mul_0",
        "triton_per_fused__softmax_native_layer_norm_0",
        "triton_poi_fused_softmaxish_0", "triton_poi_fused_gelu_0"}) {
    EXPECT_THAT(FindingsOfBetween(name), Not(Contains("attention-backend")))
        << name;
  }
}

TEST(AttentionBackend, AProductThatAnotherDeviceWaitsForIsOfSomethingElse) {
  const Answer answer =
      Steps()
          .Kernel("aten::mm", kGemmKernel, 60'000)
          .Kernel("c10d::allreduce_",
                  "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)", 50'000)
          .Kernel("aten::_softmax", kSoftmaxKernel, 100'000)
          .Kernel("aten::mm", kGemmKernel, 60'000)
          .Explain();

  EXPECT_THAT(Ids(answer), Not(Contains("attention-backend")));
}

TEST(AttentionBackend, ALossBetweenProductsIsNoAttention) {
  const Answer answer =
      Steps()
          .Kernel("aten::mm", kGemmKernel, 83'000)
          .Kernel("aten::_log_softmax",
                  "void softmax_warp_forward<float, float, float, 10, true, "
                  "false>(int)",
                  10'000)
          .Kernel("aten::mm", kGemmKernel, 84'000)
          .Explain();

  EXPECT_THAT(Ids(answer), Not(Contains("attention-backend")));
}

}  // namespace
}  // namespace traza
