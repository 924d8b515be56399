// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/trace/analysis/steps_of_work.h"

namespace traza {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST(DtypeUpcast, AFloatKernelInAStepOfHalvesIsToldASoftmaxIsNot) {
  const char* cast =
      "void at::native::unrolled_elementwise_kernel<"
      "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::"
      "{lambda(float)#1}, std::array<char*, 2ul>, 4, "
      "at::native::memory::LoadWithCast<1> >(int)";
  const Finding finding =
      Find(Steps()
               .Kernel("aten::mm", kGemmKernel, 150'000)
               .Kernel("aten::_softmax", kSoftmaxKernel, 40'000)
               .Kernel("aten::copy_", cast, 10'000)
               .Explain(),
           "dtype-upcast");

  EXPECT_EQ(finding.severity, "warning");
  EXPECT_THAT(finding.title,
              HasSubstr("Matrix products run in bf16, but 3 "
                        "kernels work on fp32, 30.0 us, 5.00 %"));
  EXPECT_EQ(NumberOf(finding, "casts"), 3);
}

TEST(DtypeUpcast, AStepWithoutProductsIsToldByWhatItHas) {
  constexpr char kHalfConvolution[] =
      "sm90_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_"
      "tilesize128x128x64_warpgroupsize1x1x1_g1_execute_segment_k_off_kernel__"
      "5x_cudnn";
  constexpr char kFloatAdd[] =
      "void at::native::vectorized_elementwise_kernel<4, "
      "at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int)";
  const Finding finding =
      Find(Steps()
               .Kernel("aten::cudnn_convolution", kHalfConvolution, 90'000)
               .Kernel("aten::add", kFloatAdd, 10'000)
               .Explain(),
           "dtype-upcast");

  EXPECT_THAT(finding.title, HasSubstr("Convolutions run in bf16, but 3 "
                                       "kernels work on fp32"));
}

TEST(DtypeUpcast, WhatCudnnSumsInFp32IsNoneButItsNormsAre) {
  const Answer norm =
      Steps()
          .Kernel("aten::mm", kGemmKernel, 90'000)
          .Kernel("aten::cudnn_batch_norm",
                  "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, int, "
                  "512, true, 1, true>(float*)",
                  10'000)
          .Explain();
  EXPECT_THAT(Ids(norm), Contains("dtype-upcast"));

  const Answer answer =
      Steps()
          .Kernel("aten::mm", kGemmKernel, 90'000)
          .Kernel("aten::_cudnn_attention_forward",
                  "void cudnn::fusion::lean_reduction_kernel<float>(float*)",
                  10'000)
          .Explain();

  EXPECT_THAT(Ids(answer), Not(Contains("dtype-upcast")));
}

TEST(DtypeUpcast, AStepInFp32HasNone) {
  const Answer answer =
      Steps()
          .Kernel("aten::mm", "ampere_sgemm_128x64_nn", 100'000)
          .Kernel("aten::add",
                  "void at::native::vectorized_elementwise_kernel<4, "
                  "at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> "
                  ">(int)",
                  10'000)
          .Explain();

  EXPECT_THAT(Ids(answer), Not(Contains("dtype-upcast")));
}

TEST(TensorCoresUnused, NeedsADeviceThatHasThem) {
  Header header = MakeGpuTrace(1).header;
  header.device.compute_capability = "9.0";
  Steps steps;
  steps.Kernel("aten::mm", "ampere_sgemm_128x64_nn", 100'000);
  const Finding finding = Find(steps.Explain(header), "tensor-cores-unused");
  EXPECT_EQ(finding.severity, "warning");
  EXPECT_THAT(finding.title, HasSubstr("3 matrix kernels do without the tensor "
                                       "cores of the device, 300 us, 100 %"));

  header.device.compute_capability = "6.1";
  Steps old;
  old.Kernel("aten::mm", "maxwell_sgemm_128x64_nn", 100'000);
  EXPECT_THAT(Ids(old.Explain(header)), Not(Contains("tensor-cores-unused")));
}

// What to try where this kernel is all that runs.
std::string AdviceFor(const std::string& kernel,
                      const std::optional<std::string>& capability) {
  Header header = MakeGpuTrace(1).header;
  header.device.compute_capability = capability;
  header.device.multiprocessor.reset();
  Steps steps;
  steps.Kernel("aten::mm", kernel, 100'000);
  return Find(steps.Explain(header), "tensor-cores-unused").suggestion;
}

TEST(TensorCoresUnused, TheAdviceIsWhatTheDeviceCanTake) {
  for (const char* capability : {"7.0", "7.5"}) {
    EXPECT_THAT(AdviceFor("volta_sgemm_128x64_nn", capability),
                AllOf(HasSubstr("torch.float16"),
                      Not(HasSubstr("set_float32_matmul_precision"))))
        << capability;
  }
  EXPECT_THAT(AdviceFor("volta_dgemm_128x64_nn_simt", "7.0"),
              HasSubstr("torch.float16"));
  EXPECT_THAT(AdviceFor("ampere_sgemm_128x64_nn", "8.0"), HasSubstr("TF32"));
  EXPECT_THAT(AdviceFor("volta_fp16_sgemm_fp16_128x64_nn", "7.0"),
              HasSubstr("multiples of 8"));
}

TEST(TensorCoresUnused, TheMathBackendOfAttentionIsWhyItRunsInFp32) {
  Header header = MakeGpuTrace(1).header;
  header.device.compute_capability = "9.0";
  header.device.multiprocessor.reset();
  Steps steps;
  steps.Kernel("aten::_scaled_dot_product_attention_math",
               "ampere_sgemm_128x64_nn", 100'000);

  EXPECT_THAT(Find(steps.Explain(header), "tensor-cores-unused").suggestion,
              HasSubstr("math backend of attention"));
}

// What the forward pass does decides how the backward pass multiplies.
TEST(TensorCoresUnused, TheMathBackendIsTheReasonOfItsBackwardPassToo) {
  Header header = MakeGpuTrace(1).header;
  header.device.compute_capability = "9.0";
  header.device.multiprocessor.reset();
  Steps both;
  both.Kernel("aten::_scaled_dot_product_attention_math",
              "ampere_sgemm_128x64_nn", 100'000)
      .Kernel("autograd::engine::evaluate_function: BmmBackward0",
              "ampere_sgemm_128x64_nt", 100'000);
  Steps backward;
  backward.Kernel("autograd::engine::evaluate_function: BmmBackward0",
                  "ampere_sgemm_128x64_nt", 100'000);

  EXPECT_THAT(Find(both.Explain(header), "tensor-cores-unused").suggestion,
              HasSubstr("math backend of attention"));
  EXPECT_THAT(Find(backward.Explain(header), "tensor-cores-unused").suggestion,
              Not(HasSubstr("math backend of attention")));
}

TEST(TensorCoresUnused, KernelsTellWhatADeviceIsThatNobodyKnows) {
  EXPECT_THAT(AdviceFor("volta_sgemm_128x64_nn", std::nullopt),
              HasSubstr("torch.float16"));
  EXPECT_THAT(AdviceFor("ampere_sgemm_128x64_nn", std::nullopt),
              HasSubstr("TF32"));
}

}  // namespace
}  // namespace traza
