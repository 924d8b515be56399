// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/diff_names.h"

#include <string>

#include "gtest/gtest.h"

#include "trace/analysis/work_order.h"

namespace traza {
namespace {

TEST(MatrixCore, LeavesOutTheEpilogueOfHoppersProducts) {
  EXPECT_EQ(MatrixCore("nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT"),
            "nvjet_sm90_tst_256x128_64x4_1x2_h_coopA_NNT");
  EXPECT_EQ(MatrixCore("nvjet_sm90_tst_256x128_64x4_1x2_h_badd_coopA_NNT"),
            "nvjet_sm90_tst_256x128_64x4_1x2_h_coopA_NNT");
  EXPECT_EQ(MatrixCore("nvjet_sm90_tst_64x8_64x16_1x2_h_bz_bias_TNT"),
            "nvjet_sm90_tst_64x8_64x16_1x2_h_TNT");
  EXPECT_EQ(MatrixCore("my_bias_kernel"), "my_bias_kernel");
}

TEST(ShortWorkName, IsTheOperatorOfAKernelOfPyTorch) {
  const std::string gelu =
      "void at::native::vectorized_elementwise_kernel<8, Gelu>(int, Gelu)";
  EXPECT_EQ(ShortWorkName(gelu, "aten::gelu"), "gelu");
  EXPECT_EQ(ShortWorkName(gelu, ""),
            "at::native::vectorized_elementwise_kernel");
}

TEST(ShortWorkName, LeavesOutArguments) {
  EXPECT_EQ(ShortWorkName("void flash::flash_fwd_kernel<Traits<64>, 1>(P)",
                          "aten::_flash_attention_forward"),
            "flash::flash_fwd_kernel");
  EXPECT_EQ(ShortWorkName("Memcpy DtoD (Device -> Device)", "aten::copy_"),
            "Memcpy DtoD");
  EXPECT_EQ(ShortWorkName("(anonymous namespace)::k(int)", ""),
            "(anonymous namespace)::k");
  EXPECT_EQ(ShortWorkName("void a::(anonymous namespace)::k<int>(int)", ""),
            "a::(anonymous namespace)::k");
  EXPECT_EQ(ShortWorkName("", ""), "");
  EXPECT_EQ(ShortWorkName(std::string(500, 'k'), "").size(), 75u);
}

TEST(IsPointwise, IsAboutTheFunctionAlone) {
  EXPECT_TRUE(IsPointwise(
      "void at::native::unrolled_elementwise_kernel<at::native::Cos>(int)"));
  EXPECT_TRUE(IsPointwise("triton_poi_fused_mul_0"));
  EXPECT_FALSE(IsPointwise("gemm<elementwise_kernel>"));
  EXPECT_FALSE(IsPointwise("triton_red_fused_sum_0"));
}

TEST(StableScopeName, LeavesOutWhatDiffersFromProcessToProcess) {
  EXPECT_EQ(std::string(StableScopeName("## Call CompiledFxGraph fdg ##")),
            "## Call CompiledFxGraph");
  EXPECT_EQ(std::string(StableScopeName("Torch-Compiled Region: 0/1")),
            "Torch-Compiled Region");
  EXPECT_EQ(std::string(StableScopeName("aten::mm")), "aten::mm");
}

}  // namespace
}  // namespace traza
