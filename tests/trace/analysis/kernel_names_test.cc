// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/kernel_names.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace traza {
namespace {

TEST(KernelNames, NvjetTellsTypeLayoutAndEpilogue) {
  const KernelName plain =
      DecodeKernelName("nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT");
  EXPECT_EQ(plain.kind, KernelKind::kGemm);
  EXPECT_EQ(plain.type, KernelType::kBf16);
  EXPECT_EQ(plain.layout, "nn");
  EXPECT_EQ(plain.epilogue, "");
  EXPECT_EQ(plain.tensor_cores, true);
  EXPECT_EQ(KernelLabel(plain),
            "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT");

  const KernelName bias =
      DecodeKernelName("nvjet_sm90_tst_64x8_64x16_1x2_h_bz_bias_TNT");
  EXPECT_EQ(bias.layout, "tn");
  EXPECT_EQ(bias.epilogue, "bias");
  EXPECT_EQ(DecodeKernelName("nvjet_sm90_tst_256x128_64x4_1x2_h_badd_coopA_NNT")
                .epilogue,
            "add");
  EXPECT_EQ(DecodeKernelName("nvjet_sm90_tst_64x128_64x8_2x1_v_bz_NTN").layout,
            "nt");
  EXPECT_EQ(DecodeKernelName("nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_TNN").type,
            KernelType::kF16);
}

TEST(KernelNames, NvjetOfFp32SaysTf32OrLeavesTensorCoresOpen) {
  const KernelName tf32 = DecodeKernelName("nvjet_sss_tf32_128x256_TNT");
  EXPECT_EQ(tf32.type, KernelType::kTf32);
  EXPECT_EQ(tf32.tensor_cores, true);
  const KernelName plain = DecodeKernelName("nvjet_sss_128x256_TNT");
  EXPECT_EQ(plain.type, KernelType::kF32);
  EXPECT_EQ(plain.tensor_cores, std::nullopt);
}

TEST(KernelNames, ProductsOfOlderDevices) {
  const KernelName ampere = DecodeKernelName(
      "ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_nn");
  EXPECT_EQ(ampere.kind, KernelKind::kGemm);
  EXPECT_EQ(ampere.type, KernelType::kBf16);
  EXPECT_EQ(ampere.layout, "nn");
  EXPECT_EQ(ampere.tensor_cores, true);

  const KernelName wmma = DecodeKernelName(
      "cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_32x1_tn_align8");
  EXPECT_EQ(wmma.type, KernelType::kBf16);
  EXPECT_EQ(wmma.layout, "tn");
  EXPECT_EQ(wmma.tensor_cores, true);

  const KernelName sgemm = DecodeKernelName("ampere_sgemm_128x64_tn");
  EXPECT_EQ(sgemm.type, KernelType::kF32);
  EXPECT_EQ(sgemm.tensor_cores, false);

  const KernelName half = DecodeKernelName("volta_fp16_s884gemm_fp16_64x64_nn");
  EXPECT_EQ(half.tensor_cores, true);
  EXPECT_EQ(half.layout, "nn");
}

TEST(KernelNames, Fp32WithoutTensorCoresSaysFfma) {
  const KernelName name = DecodeKernelName(
      "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize128x64x8_stage3_"
      "warpsize2x2x1_ffma_aligna4_alignc4_execute_kernel__5x_cublas");
  EXPECT_EQ(name.kind, KernelKind::kGemm);
  EXPECT_EQ(name.type, KernelType::kF32);
  EXPECT_EQ(name.layout, "nn");
  EXPECT_EQ(name.tensor_cores, false);
}

TEST(KernelNames, ConvolutionsAreNoProducts) {
  const KernelName name = DecodeKernelName(
      "sm80_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_"
      "tilesize128x64x64_stage3");
  EXPECT_EQ(name.kind, KernelKind::kConvolution);
  EXPECT_EQ(name.type, KernelType::kBf16);
  EXPECT_EQ(name.tensor_cores, true);
  EXPECT_EQ(DecodeKernelName("void implicit_convolve_sgemm<float, float, 128>"
                             "(int)")
                .tensor_cores,
            false);
}

TEST(KernelNames, AttentionTellsItsBackend) {
  const KernelName flash = DecodeKernelName(
      "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, "
      "128, 4, false, false, cutlass::bfloat16_t, Flash_kernel_traits<64, 128, "
      "128, 4, cutlass::bfloat16_t> >, false, true>"
      "(pytorch_flash::Flash_fwd_params)");
  EXPECT_EQ(flash.kind, KernelKind::kAttention);
  EXPECT_EQ(flash.backend, "flash");
  EXPECT_EQ(flash.type, KernelType::kBf16);
  EXPECT_EQ(flash.function, "pytorch_flash::flash_fwd_kernel");

  EXPECT_EQ(DecodeKernelName("fmha_cutlassF_bf16_aligned_64x64_rf_sm80"
                             "(PyTorchMemEffAttention::AttentionKernel<int>)")
                .backend,
            "memory-efficient");
  const KernelName cudnn = DecodeKernelName(
      "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_"
      "64x128x64_4x1x1_cga1x1x1_kernel0_0");
  EXPECT_EQ(cudnn.kind, KernelKind::kAttention);
  EXPECT_EQ(cudnn.backend, "cuDNN");
  EXPECT_EQ(cudnn.type, KernelType::kUnknown) << "it says f16 of bf16 too";
}

// 8192 x 3072 elements ran in 24,576 blocks of 128 threads: 8 a thread.
TEST(KernelNames, VectorizedKernelsTellWhatAThreadDoes) {
  const KernelName gelu = DecodeKernelName(
      "void at::native::vectorized_elementwise_kernel<8, "
      "at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, "
      "at::native::GeluType)::{lambda()#1}::operator()() "
      "const::{lambda()#4}::operator()() const::{lambda(c10::BFloat16)#1}, "
      "std::array<char*, 2ul> >(int, int, std::array<char*, 2ul>)");
  EXPECT_EQ(gelu.kind, KernelKind::kPointwise);
  EXPECT_EQ(gelu.action, "gelu");
  EXPECT_EQ(gelu.type, KernelType::kBf16);
  EXPECT_EQ(gelu.operands, 2);
  EXPECT_EQ(gelu.elements_per_thread, 8);
  EXPECT_EQ(KernelLabel(gelu), "gelu (vectorized_elementwise_kernel)");

  const KernelName mul = DecodeKernelName(
      "void at::native::vectorized_elementwise_kernel<8, "
      "at::native::BinaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16, "
      "at::native::binary_internal::MulFunctor<float> >, std::array<char*, 3ul>"
      " >(int)");
  EXPECT_EQ(mul.action, "mul");
  EXPECT_EQ(mul.type, KernelType::kBf16) << "though it computes in fp32";
  EXPECT_EQ(mul.operands, 3);

  // 1024 x 1024 floats ran in 1,024 blocks of 128: 8 a thread, 4 at a time.
  const KernelName clamp = DecodeKernelName(
      "void at::native::vectorized_elementwise_kernel<4, "
      "at::native::(anonymous "
      "namespace)::launch_clamp_scalar(at::TensorIteratorBase&)::{lambda()#1}::"
      "operator()() const::{lambda(float)#1}, std::array<char*, 2ul> >(int)");
  EXPECT_EQ(clamp.type, KernelType::kF32);
  EXPECT_EQ(clamp.elements_per_thread, 8);

  const KernelName old = DecodeKernelName(
      "void at::native::vectorized_elementwise_kernel<4, "
      "at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3> >(int)");
  EXPECT_EQ(old.elements_per_thread, 4);
  EXPECT_EQ(old.operands, 3);
}

// 8 x 16 x 1024 x 1024 elements ran in 262,144 blocks of 128: 4 a thread.
TEST(KernelNames, OtherElementwiseKernelsTellTheirUnrolling) {
  const KernelName name = DecodeKernelName(
      "void at::native::elementwise_kernel<128, 4, "
      "at::native::gpu_kernel_impl_nocast<at::native::(anonymous namespace)::"
      "masked_fill_kernel(at::TensorIterator&, c10::Scalar const&)::"
      "{lambda()#1}::operator()() const::{lambda()#12}::operator()() "
      "const::{lambda(c10::BFloat16, bool)#1}>(at::TensorIteratorBase&)::"
      "{lambda(int)#1}>(int)");
  EXPECT_EQ(name.action, "masked_fill");
  EXPECT_EQ(name.elements_per_thread, 4);
  EXPECT_EQ(name.operands, 2) << "the mask is small beside the values";
  EXPECT_EQ(name.type, KernelType::kBf16);
}

TEST(KernelNames, OperandsAreCountedFromTheArgumentsOfALambda) {
  EXPECT_EQ(DecodeKernelName("void at::native::elementwise_kernel<128, 2, "
                             "at::native::where_kernel_impl::{lambda()#1}::"
                             "{lambda(bool, float, float)#1}>(int)")
                .operands,
            4);
}

// As libtorch 2.11 has them, cut to what is read.
std::string ActionOfLambda(const std::string& lambda) {
  return DecodeKernelName(
             absl::StrCat("void at::native::vectorized_elementwise_kernel<4, ",
                          lambda, ", std::array<char*, 2ul> >(int, ", lambda,
                          ", std::array<char*, 2ul>)"))
      .action;
}

TEST(KernelNames, WhatLaunchesAnyIndexingIsNoOperator) {
  EXPECT_EQ(DecodeKernelName(
                "void at::native::index_elementwise_kernel<128, 4, "
                "at::native::gpu_index_kernel<at::native::index_kernel_impl<"
                "at::native::OpaqueType<4> >(at::TensorIteratorBase&, "
                "c10::ArrayRef<long>)::{lambda(char*, char const*, long)#1}>"
                "(int)::{lambda(int)#1}>(long, int)")
                .action,
            "index");
}

TEST(KernelNames, MostFunctorsAreCalledAfterTheirOperator) {
  for (const auto& [function, action] :
       std::vector<std::pair<std::string, std::string>>{
           {"(anonymous namespace)::softplus_kernel", "softplus"},
           {"(anonymous namespace)::leaky_relu_kernel", "leaky_relu"},
           {"(anonymous namespace)::hardtanh_backward_kernel",
            "hardtanh_backward"},
           {"(anonymous namespace)::log_sigmoid_backward_kernel",
            "log_sigmoid_backward"},
           {"(anonymous namespace)::launch_log_sigmoid_forward_kernel",
            "log_sigmoid"},
           {"(anonymous namespace)::silu_backward_kernel", "silu_backward"},
           {"(anonymous namespace)::where_kernel_impl", "where"},
           {"(anonymous namespace)::mse_backward_cuda_kernel", "mse_backward"},
           {"(anonymous namespace)::lerp_scalar_kernel", "lerp"},
           {"(anonymous namespace)::addcmul_cuda_scalar_tensor2_kernel",
            "addcmul"},
           {"(anonymous namespace)::isneginf_kernel_impl", "isneginf"},
           {"(anonymous namespace)::batch_norm_calc_invstd",
            "batch_norm_invstd"},
           {"(anonymous namespace)::pow_scalar_tensor_impl<float>", "pow"},
           {"(anonymous namespace)::compare_scalar_kernel<float>", "compare"},
           {"binary_internal::div_floor_kernel_cuda", "div_floor"},
           {"mse_kernel_cuda", "mse"},
           {"maximum_kernel_cuda", "maximum"},
           {"clamp_min_kernel_cuda", "clamp_min"},
           {"reciprocal_kernel_cuda", "reciprocal"},
           {"bitwise_not_kernel_cuda", "bitwise_not"},
           {"erf_kernel_cuda", "erf"},
           {"sin_kernel_cuda", "sin"},
           // Not sigmoid, tanh, exp and log.
           {"(anonymous namespace)::hardsigmoid_kernel", "hardsigmoid"},
           {"atanh_kernel_cuda", "atanh"},
           {"ldexp_kernel_cuda", "ldexp"},
           {"logaddexp_kernel_cuda", "logaddexp"},
           {"rsqrt_kernel_cuda", "rsqrt"}}) {
    EXPECT_EQ(ActionOfLambda(absl::StrCat(
                  "at::native::", function,
                  "(at::TensorIteratorBase&)::{lambda()#1}::operator()() "
                  "const::{lambda()#2}::operator()() "
                  "const::{lambda(float)#1}")),
              action)
        << function;
  }
}

TEST(KernelNames, FunctorsOfTheirOwnNameAreKnown) {
  EXPECT_EQ(ActionOfLambda("at::native::AbsFunctor<float>"), "abs");
  EXPECT_EQ(ActionOfLambda("at::native::BinaryFunctor<int, int, int, "
                           "at::native::BitwiseAndFunctor<int> >"),
            "bitwise_and");
  EXPECT_EQ(ActionOfLambda("at::native::BinaryFunctor<float, float, bool, "
                           "at::native::(anonymous namespace)::"
                           "CompareEqFunctor<float> >"),
            "compare");
  EXPECT_EQ(ActionOfLambda("at::native::SomethingNew<float>"), "")
      << "no name is guessed";
}

TEST(KernelNames, WhatLaunchesAnyLambdaIsNoAction) {
  const std::string lambda =
      "at::native::(anonymous namespace)::lerp_scalar_kernel("
      "at::TensorIteratorBase&, c10::Scalar const&)::{lambda()#2}::"
      "operator()() const::{lambda(float, float)#1}";
  EXPECT_EQ(
      DecodeKernelName(
          absl::StrCat("void at::native::elementwise_kernel<128, 4, "
                       "at::native::gpu_kernel_impl<",
                       lambda, ">(at::TensorIteratorBase&)::{lambda(int)#1}>",
                       "(int)"))
          .action,
      "lerp");
  EXPECT_EQ(DecodeKernelName("void at::native::elementwise_kernel<128, 4, "
                             "at::native::gpu_kernel_impl_nocast<New>>(int)")
                .action,
            "");
}

TEST(KernelNames, ReductionsSayWhatTheyReduceBy) {
  for (const auto& [functor, action] :
       std::vector<std::pair<std::string, std::string>>{
           {"func_wrapper_t<float, at::native::sum_functor<float, float, "
            "float>::operator()(at::TensorIterator&)::{lambda(float, float)#1}"
            ">",
            "sum"},
           {"MeanOps<float, float, float, float>", "mean"},
           {"MaxOps<float>", "max"},
           {"func_wrapper_t<float, at::native::MinNanFunctor<float> >", "min"},
           {"ArgMaxOps<float>", "argmax"},
           {"NormTwoOps<float, float, float, false>", "norm"},
           {"WelfordOps<float, float, int, cuda::std::__4::pair<float, float> "
            ">",
            "var"},
           {"func_wrapper_t<bool, at::native::and_kernel_cuda("
            "at::TensorIterator&)::{lambda()#1}::operator()() "
            "const::{lambda(bool, bool)#1}>",
            "all"},
           {"SomethingNew<float>", ""}}) {
    const KernelName name = DecodeKernelName(absl::StrCat(
        "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
        "at::native::",
        functor, ", unsigned int, float, 4, 4> >(int)"));
    EXPECT_EQ(name.kind, KernelKind::kReduction);
    EXPECT_EQ(name.action, action) << functor;
  }
}

TEST(KernelNames, CopiesIntoAnotherLayoutAreCopies) {
  EXPECT_EQ(DecodeKernelName("void cudnn::engines_precompiled::"
                             "nchwToNhwcKernel<__nv_bfloat16, __nv_bfloat16, "
                             "float, false, true>(int)")
                .kind,
            KernelKind::kCopy);
}

TEST(KernelNames, FlagsAndWhatACastWritesAreNotOfTheTypeOfTheRest) {
  const KernelName where = DecodeKernelName(
      "void at::native::elementwise_kernel<128, 2, "
      "at::native::where_kernel_impl(at::TensorIterator&)::{lambda()#1}::"
      "{lambda(bool, float, float)#1}>(int)");
  EXPECT_EQ(where.operands, 4);
  EXPECT_EQ(where.flags, 1);

  const KernelName cast = DecodeKernelName(
      "void at::native::vectorized_elementwise_kernel<8, "
      "at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::"
      "{lambda(float)#1}, std::array<char*, 2ul> >(int)");
  EXPECT_EQ(cast.action, "cast");
  EXPECT_EQ(cast.type, KernelType::kF32);
  EXPECT_EQ(cast.writes, KernelType::kBf16);
}

TEST(KernelNames, CopiesFillsAndCastsAreToldFromWork) {
  const KernelName copy = DecodeKernelName(
      "void at::native::elementwise_kernel<128, 4, "
      "at::native::gpu_kernel_impl_nocast<at::native::direct_copy_kernel_cuda("
      "at::TensorIteratorBase&)::{lambda()#3}::operator()() "
      "const::{lambda(c10::BFloat16)#1}>(int)");
  EXPECT_EQ(copy.kind, KernelKind::kCopy);
  EXPECT_FALSE(copy.casts);
  EXPECT_EQ(copy.operands, 2);

  const KernelName up = DecodeKernelName(
      "void at::native::unrolled_elementwise_kernel<"
      "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::"
      "{lambda(float)#1}, std::array<char*, 2ul>, 4, "
      "TrivialOffsetCalculator<1, unsigned int>, "
      "at::native::memory::LoadWithCast<1>, "
      "at::native::memory::StoreWithCast<1> >(int)");
  EXPECT_TRUE(up.casts);
  EXPECT_EQ(up.action, "cast");
  EXPECT_EQ(up.type, KernelType::kF32);
  EXPECT_EQ(up.elements_per_thread, 4);

  const KernelName down = DecodeKernelName(
      "void at::native::vectorized_elementwise_kernel<8, "
      "at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::"
      "{lambda(float)#1}, std::array<char*, 2ul> >(int)");
  EXPECT_TRUE(down.casts);
  EXPECT_EQ(down.kind, KernelKind::kCopy);

  EXPECT_EQ(DecodeKernelName(
                "void at::native::vectorized_elementwise_kernel<8, "
                "at::native::FillFunctor<c10::BFloat16>, std::array<char*, "
                "1ul> >(int)")
                .kind,
            KernelKind::kFill);
}

TEST(KernelNames, ASoftmaxOfHalvesIsOneThoughItSumsInFloat) {
  const KernelName name = DecodeKernelName(
      "void (anonymous namespace)::softmax_warp_forward<c10::BFloat16, "
      "c10::BFloat16, float, 10, false, false>(c10::BFloat16*, int)");
  EXPECT_EQ(name.kind, KernelKind::kSoftmax);
  EXPECT_EQ(name.action, "softmax");
  EXPECT_EQ(name.type, KernelType::kBf16);
  EXPECT_EQ(name.softmax_row, 1024);
  EXPECT_EQ(name.function, "softmax_warp_forward");
  EXPECT_EQ(DecodeKernelName("void softmax_warp_forward<float, float, float, "
                             "99, true, false>(int)")
                .softmax_row,
            0)
      << "no row is that long";
  EXPECT_EQ(DecodeKernelName("void softmax_warp_forward<float, float, float, "
                             "5, true, false>(int)")
                .action,
            "log_softmax");
}

TEST(KernelNames, OptimizersNormsAndReductionsHaveTheirKinds) {
  EXPECT_EQ(DecodeKernelName(
                "void at::native::(anonymous namespace)::"
                "multi_tensor_apply_kernel<at::native::TensorListMetadata"
                "<2>, at::native::LerpFunctor<float> >(int)")
                .kind,
            KernelKind::kOptimizer);
  EXPECT_EQ(DecodeKernelName("void at::native::(anonymous namespace)::"
                             "vectorized_layer_norm_kernel<c10::BFloat16, "
                             "float, false>(int)")
                .kind,
            KernelKind::kNormalization);
  const KernelName reduce = DecodeKernelName(
      "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
      "at::native::MeanOps<float, float, float, float>, unsigned int, float, "
      "4, "
      "4> >(int)");
  EXPECT_EQ(reduce.kind, KernelKind::kReduction);
  EXPECT_EQ(reduce.type, KernelType::kF32);
  EXPECT_EQ(
      DecodeKernelName("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(int)").kind,
      KernelKind::kCommunication);
}

TEST(KernelNames, TritonNamesWhatItFused) {
  const KernelName name =
      DecodeKernelName("triton_poi_fused__unsafe_view_gelu_mul_0");
  EXPECT_EQ(name.kind, KernelKind::kPointwise);
  EXPECT_TRUE(name.generated);
  EXPECT_EQ(name.action, "unsafe_view_gelu_mul");
  EXPECT_EQ(KernelLabel(name), "triton_poi_fused__unsafe_view_gelu_mul_0");
  EXPECT_EQ(DecodeKernelName("triton_per_fused_native_layer_norm_3").kind,
            KernelKind::kReduction);
  EXPECT_EQ(DecodeKernelName("triton_tem_fused_mm_1").kind, KernelKind::kGemm);
}

TEST(KernelNames, GeneratedKernelsAreOfNoKindThatTheirOperatorsAre) {
  const KernelName flash = DecodeKernelName(
      "triton_poi_fused__scaled_dot_product_flash_attention_3");
  EXPECT_EQ(flash.kind, KernelKind::kPointwise);
  EXPECT_EQ(flash.backend, "");
  EXPECT_EQ(flash.action, "scaled_dot_product_flash_attention");
  EXPECT_EQ(DecodeKernelName("triton_red_fused__scaled_dot_product_flash_"
                             "attention_backward_native_layer_norm_2")
                .kind,
            KernelKind::kReduction);
  EXPECT_EQ(DecodeKernelName("triton_for_fused_0").kind,
            KernelKind::kPointwise);
  const KernelName flex = DecodeKernelName("triton_tem_fused_flex_attention_0");
  EXPECT_EQ(flex.kind, KernelKind::kAttention);
  EXPECT_EQ(flex.backend, "FlexAttention");
}

TEST(KernelNames, WhatAWrapperIsGivenTells) {
  const KernelName flash = DecodeKernelName(
      "void cutlass::device_kernel<flash::enable_sm90<flash::FlashAttnFwdSm90<"
      "flash::CollectiveMainloopFwdSm90<2, cutlass::bfloat16_t, float> > > >"
      "(flash::Params)");
  EXPECT_EQ(flash.kind, KernelKind::kAttention);
  EXPECT_EQ(flash.backend, "flash");
  EXPECT_EQ(flash.type, KernelType::kBf16);

  const KernelName convolution = DecodeKernelName(
      "void cutlass__5x_cudnn::Kernel<cutlass_tensorop_s1688fprop_optimized_"
      "tf32_128x64_16x6_nhwc_align4>(int)");
  EXPECT_EQ(convolution.kind, KernelKind::kConvolution);
  EXPECT_EQ(convolution.type, KernelType::kTf32);
  EXPECT_EQ(convolution.tensor_cores, true);

  EXPECT_EQ(DecodeKernelName("void cutlass__5x_cudnn::Kernel<cutlass__5x_cudnn"
                             "::reduction::kernel::ReduceSplitK<x> >(y)")
                .kind,
            KernelKind::kReduction);
}

TEST(KernelNames, OlderConvolutionsTellTheirUnit) {
  const KernelName threads =
      DecodeKernelName("cudnn_infer_volta_scudnn_128x64_relu_small_nn_v1");
  EXPECT_EQ(threads.kind, KernelKind::kConvolution);
  EXPECT_EQ(threads.type, KernelType::kF32);
  EXPECT_EQ(threads.tensor_cores, false);
  const KernelName volta = DecodeKernelName(
      "volta_fp16_s884cudnn_fp16_256x128_ldg8_relu_f2f_exp_interior_nhwc_tn_"
      "v1");
  EXPECT_EQ(volta.kind, KernelKind::kConvolution);
  EXPECT_EQ(volta.type, KernelType::kF16);
  EXPECT_EQ(volta.tensor_cores, true);
}

TEST(KernelNames, ProductsOfAmdTellTypesAndLayout) {
  const KernelName name = DecodeKernelName(
      "Cijk_Alik_Bljk_SB_Bias_AS_SAV_UserArgs_MT64x16x32_MI16x16x1_SN_LDSB0");
  EXPECT_EQ(name.kind, KernelKind::kGemm);
  EXPECT_EQ(name.type, KernelType::kF32);
  EXPECT_EQ(name.layout, "tn");
  EXPECT_EQ(name.tensor_cores, true);
  EXPECT_EQ(name.epilogue, "") << "it can add a bias, and may not";
  const KernelName half = DecodeKernelName("Cijk_Ailk_Bjlk_BBS_BH_MT128x64x32");
  EXPECT_EQ(half.type, KernelType::kBf16);
  EXPECT_EQ(half.layout, "nt");
  EXPECT_EQ(half.tensor_cores, std::nullopt);
}

TEST(KernelNames, WhatIsNotKnownIsNotSaid) {
  const KernelName name = DecodeKernelName("my_kernel(int)");
  EXPECT_EQ(name.kind, KernelKind::kOther);
  EXPECT_EQ(name.function, "my_kernel");
  EXPECT_EQ(name.type, KernelType::kUnknown);
  EXPECT_EQ(name.tensor_cores, std::nullopt);
  EXPECT_EQ(name.layout, "");
  EXPECT_EQ(name.action, "");
}

TEST(KernelNames, HostileNamesAreOnlyNames) {
  for (const std::string& name :
       {std::string(), std::string("("), std::string("<"), std::string("void "),
        std::string("_"), std::string("triton_"), std::string("nvjet_"),
        std::string("nvjet__"), std::string("lambda("),
        std::string("elementwise_kernel<128, 99999999999999999999"),
        std::string("softmax_warp_forward<"), std::string("\xff\xfe"),
        std::string(1 << 20, '_'), std::string(1 << 20, '<'),
        std::string("at::native::") + std::string(1 << 20, 'x')}) {
    EXPECT_LE(DecodeKernelName(name).function.size(), 512u);
  }
  EXPECT_EQ(DecodeKernelName(std::string("nvjet_tst_") +
                             std::string(10'000, '1') + "_TNT")
                .layout,
            "tn")
      << "the letters close the name";
}

}  // namespace
}  // namespace traza
