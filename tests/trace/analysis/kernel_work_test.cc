// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/kernel_work.h"

#include <string>

#include "gtest/gtest.h"

namespace traza {
namespace {

TEST(KernelWork, GeneratedKernelsRepeatOperatorsTheyAreNot) {
  for (const char* name : {
           "triton_poi_fused__scaled_dot_product_flash_attention_3",
           "triton_poi_fused__scaled_dot_product_efficient_attention_clone_eq_"
           "masked_fill_13",
           "triton_poi_fused_matmul_0",
           "triton_poi_fused_convolution_relu_0",
           "triton_poi_fused_attention_mask_0",
           "triton_red_fused__scaled_dot_product_flash_attention_backward_"
           "native_layer_norm_2",
           "triton_per_fused_conv2d_native_batch_norm_1",
           "triton_for_fused_wgrad_0",
           "triton_spl_fused_attention_cumsum_0",
           "triton_unk_fused_matmul_0",
       }) {
    EXPECT_EQ(WorkOf(name), NamedWork::kOther) << name;
  }
}

TEST(KernelWork, TemplatesAreWhatTheyAreTemplatesOf) {
  EXPECT_EQ(WorkOf("triton_tem_fused_addmm_relu_0"), NamedWork::kProduct);
  EXPECT_EQ(WorkOf("triton_tem_fused__scaled_dot_product_flash_attention_mm_2"),
            NamedWork::kProduct)
      << "what else is fused into it is no template";
  EXPECT_EQ(WorkOf("triton_tem_fused_convolution_relu_1"),
            NamedWork::kConvolution);
  EXPECT_EQ(WorkOf("triton_tem_fused_flex_attention_0"), NamedWork::kAttention);
}

TEST(KernelWork, KernelsThatOthersWroteInTritonAreKnownByTheirWords) {
  EXPECT_EQ(WorkOf("triton_permuted_matmul"), NamedWork::kProduct);
  EXPECT_EQ(WorkOf("triton_flash_attention_fwd"), NamedWork::kAttention);
  EXPECT_EQ(WorkOf("_attn_fwd"), NamedWork::kAttention);
}

TEST(KernelWork, ALibrarysNameIsNoWork) {
  for (const char* name : {
           "void fbgemm_gpu::permute_2D_data_kernel<long, int, float, false>"
           "(int, int, int)",
           "void fbgemm_gpu::(anonymous namespace)::"
           "_FP8rowwise_to_float_cuda_kernel<float>(unsigned char const*)",
           "void flashinfer::norm::FusedAddRMSNormKernel<8u, __nv_bfloat16>"
           "(__nv_bfloat16*)",
           "void flashinfer::activation::act_and_mul_kernel<__nv_bfloat16, "
           "&silu>(__nv_bfloat16*)",
           "void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, "
           "__nv_bfloat16, (vllm::Fp8KVCacheDataType)0>(__nv_bfloat16 const*)",
           "void cask_plugin__5x_cudnn::xmma__5x_cudnn::"
           "init_device_workspace_kernel<4>(int)",
           "cask_cudnn_train::computeWgradSplitKOffsetsKernel(int)",
           "at::cuda::philox::unpack_cudnn(at::PhiloxCudaState, long*, long*)",
       }) {
    EXPECT_EQ(WorkOf(name), NamedWork::kOther) << name;
  }
  EXPECT_EQ(WorkOf("void flashinfer::BatchPrefillWithPagedKVCacheKernel<1>(x)"),
            NamedWork::kAttention);
  EXPECT_EQ(WorkOf("void c10d::nvshmem_extension::allToAllV<1>(x)"),
            NamedWork::kCommunication)
      << "whatever is in that library communicates";
}

TEST(KernelWork, CudnnNamesTheUnitThatMultiplies) {
  for (const char* name : {
           "ampere_scudnn_128x64_relu_xregs_large_nn_v1",
           "cudnn_infer_volta_scudnn_128x128_stridedB_small_nn_v1",
           "volta_fp16_s884cudnn_fp16_256x128_ldg8_relu_f2f_exp_interior_nhwc_"
           "tn_v1",
           "turing_h1688cudnn_256x64_ldg8_relu_exp_small_nhwc_tn_v1",
           "ampere_fp16_s16816cudnn_fp16_128x128_ldg8_relu_nhwc_tn_v1",
           "turing_int8_i8816cudnn_int8_256x128_ldg16_relu_nhwc_tn_v1",
       }) {
    EXPECT_EQ(WorkOf(name), NamedWork::kConvolution) << name;
  }
}

TEST(KernelWork, AmdsLibrariesHaveTheirOwnWords) {
  EXPECT_EQ(WorkOf("Cijk_Alik_Bljk_SB_Bias_AS_SAV_UserArgs_MT64x16x32_"
                   "MI16x16x1_SN"),
            NamedWork::kProduct);
  EXPECT_EQ(WorkOf("Cijk_SB_BiasS_HAS_ScaleAlphaVec_PostGSU8_VW4"),
            NamedWork::kOther)
      << "it only adds up what others multiplied";
  EXPECT_EQ(WorkOf("void ck::kernel_gemm_xdl_cshuffle_v3<x>(y)"),
            NamedWork::kProduct);
  EXPECT_EQ(WorkOf("void ck_tile::kentry<256, 2, ck_tile::FmhaFwdKernel<x> >"
                   "(y)"),
            NamedWork::kAttention);
  EXPECT_EQ(WorkOf("miopenSp3AsmConv_v30_3_1_gfx9_fp32_f2x3_stride1"),
            NamedWork::kConvolution);
  EXPECT_EQ(WorkOf("igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1"),
            NamedWork::kConvolution);
  EXPECT_EQ(WorkOf("ampere_igemm_int8_128x128_ldg4_nn"), NamedWork::kProduct);
}

TEST(KernelWork, AWrapperDoesWhatItIsGiven) {
  EXPECT_EQ(WorkOf("void cutlass::device_kernel<flash::enable_sm90<"
                   "flash::FlashAttnFwdSm90<flash::CollectiveMainloopFwdSm90<"
                   "2, cutlass::bfloat16_t, float> > > >(flash::Params)"),
            NamedWork::kAttention);
  EXPECT_EQ(WorkOf("void cutlass__5x_cudnn::Kernel<cutlass_tensorop_s1688fprop"
                   "_optimized_tf32_128x64_16x6_nhwc_align4>(int)"),
            NamedWork::kConvolution);
  EXPECT_EQ(WorkOf("void cutlass::Kernel2<cutlass::conv::kernel::"
                   "ImplicitGemmConvolution<x> >(y)"),
            NamedWork::kConvolution);
  EXPECT_EQ(WorkOf("void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x128_"
                   "16x4_nn_align4>(int)"),
            NamedWork::kProduct);
  EXPECT_EQ(WorkOf("void cutlass::device_kernel<at::cuda::detail::"
                   "enable_3x_kernel_for_sm9x<cutlass::gemm::kernel::"
                   "GemmUniversal<x> > >(y)"),
            NamedWork::kProduct);
  EXPECT_EQ(WorkOf("void cutlass__5x_cudnn::Kernel<cutlass__5x_cudnn::"
                   "reduction::kernel::ReduceSplitK<x> >(y)"),
            NamedWork::kOther);
  EXPECT_EQ(WorkOf("std::enable_if<!(false), void>::type internal::gemvx::"
                   "kernel<int, int, float>(x)"),
            NamedWork::kOther);
}

TEST(KernelWork, AFunctionStandsWithoutItsReturnType) {
  EXPECT_EQ(FunctionOf("void at::native::(anonymous namespace)::f<1>(int)"),
            "f");
  EXPECT_EQ(FunctionOf("std::enable_if<!(false), void>::type internal::gemvx::"
                       "kernel<int, int>(x)"),
            "internal::gemvx::kernel");
  EXPECT_EQ(FunctionOf("<"), "<");
}

TEST(KernelWork, HostileNamesAreOnlyNames) {
  for (const std::string& name :
       {std::string(), std::string("::"), std::string("kernel"),
        std::string("kernel<"), std::string("kernel<1,,2,"),
        std::string("std::enable_if<>::type "),
        std::string("kernel<") + std::string(1 << 20, ','),
        std::string(1 << 20, '<')}) {
    EXPECT_EQ(WorkOf(name), NamedWork::kOther);
  }
}

}  // namespace
}  // namespace traza
