// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/row_names.h"

#include "gtest/gtest.h"

namespace traza {
namespace {

TEST(RowNames, TensorCoreKernelsAreKnownByTheirLibraries) {
  for (const char* name : {
           "nvjet_sm90_tst_64x8_64x16_1x4_h_bz_NNT",
           "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn",
           "cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_32x1_tn",
           "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm>(int)",
           "sm80_xmma_fprop_implicit_gemm_indexed_bf16",
           "void flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128>>()",
           "fmha_cutlassF_bf16_aligned_64x64_rf_sm80(Params)",
           "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16",
           "triton_tem_fused_mm_0",
       }) {
    EXPECT_EQ(ClassifyKernel(name), KernelClass::kMatrix) << name;
  }
}

TEST(RowNames, WhatATemplateIsGivenSaysNothing) {
  for (const char* name : {
           "void at::native::vectorized_elementwise_kernel<8, "
           "at::native::CUDAFunctor_add<c10::BFloat16>>(int)",
           "void at::native::reduce_kernel<512, cutlass::half_t>(int)",
           "void gemv2T_kernel_val<int, int, float>()",
           "triton_poi_fused__unsafe_view_gelu_mul_0",
           "void cublasLt::splitKreduce_kernel<32, 16>()",
           "Memset (Device)",
           "",
       }) {
    EXPECT_EQ(ClassifyKernel(name), KernelClass::kOther) << name;
  }
}

TEST(RowNames, CommunicationComesFirst) {
  EXPECT_EQ(ClassifyKernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)"),
            KernelClass::kCommunication);
  EXPECT_EQ(ClassifyKernel("void vllm::cross_device_reduce_1stage<bf16, 8>()"),
            KernelClass::kCommunication);
}

TEST(RowNames, TheTracersOverheadIsNotTheDrivers) {
  EXPECT_TRUE(IsTracersOverhead("Activity Buffer Request"));
  EXPECT_TRUE(IsTracersOverhead("Buffer Flush"));
  EXPECT_FALSE(IsTracersOverhead("Lazy Function Loading"));
  EXPECT_FALSE(IsTracersOverhead("Command Buffer Full"));
  EXPECT_TRUE(IsModuleLoading("Runtime Triggered Module Loading"));
  EXPECT_FALSE(IsModuleLoading("Buffer Flush"));
}

TEST(RowNames, AllocationsInStreamOrderAreNone) {
  EXPECT_TRUE(IsAllocation("cudaMalloc"));
  EXPECT_TRUE(IsAllocation("cuMemFree"));
  EXPECT_TRUE(IsAllocation("cuMemAlloc_v2"));
  EXPECT_FALSE(IsAllocation("cudaMallocAsync"));
  EXPECT_FALSE(IsAllocation("cudaMemcpyAsync"));
}

TEST(RowNames, HipHasTheCallsOfCudaAndItsOwn) {
  for (const char* name :
       {"hipMalloc", "hipFree", "hipHostMalloc", "hipHostFree",
        "hipMallocPitch", "hipExtMallocWithFlags", "hipMemCreate",
        "hipMemUnmap"}) {
    EXPECT_TRUE(IsAllocation(name)) << name;
  }
  EXPECT_FALSE(IsAllocation("hipMallocAsync"));
  EXPECT_FALSE(IsAllocation("hipMemcpyAsync"));
  EXPECT_TRUE(LoadsModule("hipModuleLoadData"));
  EXPECT_FALSE(LoadsModule("hipModuleLaunchKernel"));
}

}  // namespace
}  // namespace traza
