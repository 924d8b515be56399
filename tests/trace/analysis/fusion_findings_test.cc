// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/trace/analysis/steps_of_work.h"

namespace traza {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Key;
using testing::Not;

// 24,576 blocks of 128 threads with 8 elements each: 25,165,824 elements of
// 2 bytes, 50,331,648 bytes. gelu moves 2 of these, mul 3; what is between
// them is written and read once: 2 of 5. 5 x 50,331,648 B in 70,000 ns is
// 3.6 TB/s, at which 2 of them take 28,000 ns.
TEST(UnfusedPointwise, NamesTheChainItsBytesAndTheirTime) {
  const Answer answer = Steps()
                            .Kernel("aten::gelu", kGeluKernel, 32'000, 24'576)
                            .Kernel("aten::mul", kMulKernel, 38'000, 24'576)
                            .Explain();

  const Finding finding = Find(answer, "unfused-pointwise");
  EXPECT_EQ(finding.severity, "warning");
  EXPECT_THAT(
      finding.title,
      AllOf(HasSubstr("gelu + mul run one after the other"),
            HasSubstr("101 MB of 252 MB (estimated)"),
            HasSubstr("about 28.0 us of 70.0 us"), HasSubstr("3.60 TB/s")));
  EXPECT_EQ(NumberOf(finding, "estimated_bytes_saved"), 3 * 2 * 50'331'648.);
  EXPECT_NEAR(NumberOf(finding, "estimated_time_saved"), 3 * 28'000, 1);
  EXPECT_NEAR(NumberOf(finding, "estimated_saved_share"), 0.4, 1e-6);
  EXPECT_EQ(NumberOf(finding, "launches_saved"), 3);
  EXPECT_EQ(finding.event_ids.size(), 2u) << "the first chain";
}

TEST(UnfusedPointwise, AGatedUnitFusesAcrossItsSecondProduct) {
  const Answer answer = Steps()
                            .Kernel("aten::mm", kGemmKernel, 50'000)
                            .Kernel("aten::gelu", kGeluKernel, 32'000, 24'576)
                            .Kernel("aten::mm", kGemmKernel, 50'000)
                            .Kernel("aten::mul", kMulKernel, 38'000, 24'576)
                            .Explain();

  EXPECT_THAT(Find(answer, "unfused-pointwise").title,
              HasSubstr("gelu + mul run one after the other"));
}

TEST(UnfusedPointwise, OtherwiseAProductEndsAChain) {
  const Answer answer = Steps()
                            .Kernel("aten::mm", kGemmKernel, 50'000)
                            .Kernel("aten::add", kAddKernel, 32'000, 24'576)
                            .Kernel("aten::mm", kGemmKernel, 50'000)
                            .Kernel("aten::add", kAddKernel, 38'000, 24'576)
                            .Explain();

  EXPECT_THAT(Ids(answer), Not(Contains("unfused-pointwise")));
}

TEST(UnfusedPointwise, OtherSizesAreNoChain) {
  const Answer answer = Steps()
                            .Kernel("aten::gelu", kGeluKernel, 32'000, 24'576)
                            .Kernel("aten::mul", kMulKernel, 38'000, 24'574)
                            .Explain();

  EXPECT_THAT(Ids(answer), Not(Contains("unfused-pointwise")));
}

TEST(UnfusedPointwise, ACopyOfAsManyBytesBelongsToTheChain) {
  // 262,144 x 128 x 4 = 131,072 x 128 x 8 elements of 2 bytes.
  const Answer answer =
      Steps()
          .Kernel("aten::mul", kMulKernel, 126'000, 131'072)
          .Copy("aten::copy_", 128'000, 268'435'456)
          .Kernel("aten::masked_fill_", kMaskedFillKernel, 357'000, 262'144)
          .Explain();

  const Finding finding = Find(answer, "unfused-pointwise");
  EXPECT_THAT(finding.title, HasSubstr("mul + Memcpy DtoD (Device -> Device) + "
                                       "masked_fill"));
  EXPECT_EQ(NumberOf(finding, "estimated_bytes_saved"),
            3 * 2 * 2 * 268'435'456.);
}

// Additions of a few elements take as long as a kernel does at least.
TEST(UnfusedPointwise, KernelsTooSmallForBandwidthAreCounted) {
  Steps steps;
  for (int i = 0; i < 100; ++i) steps.Kernel("aten::add", kAddKernel, 1'000, 1);
  const Finding finding = Find(steps.Explain(), "unfused-pointwise");

  EXPECT_EQ(finding.severity, "warning");
  EXPECT_EQ(finding.title,
            "add x100 run one after the other on as many elements, 3 times; at "
            "1.00 us a kernel (mean) they are too small for bandwidth to "
            "matter: fused, they would be one launch in place of 100, which "
            "saves at most 99.0 us of 100 us a time.");
  EXPECT_EQ(NumberOf(finding, "chains"), 3);
  EXPECT_EQ(NumberOf(finding, "launches_saved"), 3 * 99);
  EXPECT_EQ(NumberOf(finding, "time_saved"), 3 * 99'000);
  EXPECT_NEAR(NumberOf(finding, "saved_share"), 0.99, 1e-9);
  EXPECT_THAT(finding.numbers, Not(Contains(Key("bandwidth"))));
  EXPECT_THAT(finding.numbers, Not(Contains(Key("estimated_bytes_saved"))));
}

// 64 elements each; on another GPU they take longer.
TEST(UnfusedPointwise, SmallKernelsAreSmallHoweverLongTheyTake) {
  Steps steps;
  for (int i = 0; i < 40; ++i) steps.Kernel("aten::add", kAddKernel, 5'000, 1);

  EXPECT_THAT(Find(steps.Explain(), "unfused-pointwise").title,
              HasSubstr("at 5.00 us a kernel (mean) they are too small"));
}

// The chain of long kernels saves most, and alone has bytes.
TEST(UnfusedPointwise, ShortChainsAddAtMostTheirTime) {
  const Answer answer = Steps()
                            .Kernel("aten::gelu", kGeluKernel, 32'000, 24'576)
                            .Kernel("aten::mul", kMulKernel, 38'000, 24'576)
                            .Kernel("aten::mm", kGemmKernel, 30'000)
                            .Kernel("aten::add", kAddKernel, 1'000, 2)
                            .Kernel("aten::mul", kMulKernel, 1'000, 2)
                            .Explain();

  const Finding finding = Find(answer, "unfused-pointwise");
  EXPECT_THAT(finding.title,
              AllOf(HasSubstr("at their own 3.60 TB/s. With 1 other kind of "
                              "chain: at most 87.0 us")));
  EXPECT_EQ(NumberOf(finding, "estimated_bytes_saved"), 3 * 2 * 50'331'648.);
  EXPECT_NEAR(NumberOf(finding, "estimated_time_saved"), 3 * 29'000, 1);
}

TEST(UnfusedPointwise, AKernelWithoutANameOfItsOwnIsItsOperator) {
  const std::string other =
      "void at::native::vectorized_elementwise_kernel<8, "
      "at::native::SomethingNew<c10::BFloat16>, std::array<char*, 2ul> >(int)";
  const Answer answer = Steps()
                            .Kernel("aten::lerp_", other, 32'000, 24'576)
                            .Kernel("aten::mul", kMulKernel, 38'000, 24'576)
                            .Kernel("my::op", other, 32'000, 24'576)
                            .Explain();

  EXPECT_THAT(Find(answer, "unfused-pointwise").title,
              HasSubstr("lerp_ + mul + my::op run one after the other"));
  EXPECT_THAT(Find(answer, "dominant-kernels").title,
              HasSubstr("(lerp_ (vectorized_elementwise_kernel), mul "
                        "(vectorized_elementwise_kernel)"));
}

// 24,576 blocks of 128 threads with 8 elements each, of which the cast reads 4
// and writes 2 bytes, and the product 2 x 2 and 2: 12 an element, 4 in vain.
TEST(UnfusedPointwise, ACastHandsOnWhatItWrites) {
  const std::string cast =
      "void at::native::vectorized_elementwise_kernel<8, "
      "at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::"
      "{lambda(float)#1}, std::array<char*, 2ul> >(int)";
  const Answer answer = Steps()
                            .Kernel("aten::copy_", cast, 40'000, 24'576)
                            .Kernel("aten::mul", kMulKernel, 40'000, 24'576)
                            .Explain();

  const Finding finding = Find(answer, "unfused-pointwise");
  EXPECT_THAT(finding.title, HasSubstr("fused, 101 MB of 302 MB (estimated)"));
  EXPECT_EQ(NumberOf(finding, "estimated_bytes_saved"), 3 * 4 * 25'165'824.);
}

// A change of layout copies, but not element by element.
TEST(UnfusedPointwise, ACopyIntoAnotherLayoutIsNoMember) {
  const std::string layout =
      "void cudnn::engines_precompiled::nchwToNhwcKernel<float>(int)";
  const Answer answer = Steps()
                            .Kernel("aten::cudnn_convolution", layout, 40'000)
                            .Kernel("aten::cudnn_convolution", layout, 40'000)
                            .Kernel("aten::mul", kMulKernel, 40'000, 24'576)
                            .Explain();

  EXPECT_THAT(Ids(answer), Not(Contains("unfused-pointwise")));
}

TEST(UnfusedPointwise, AnOptimizerCanBeFusedByItself) {
  const std::string addcdiv =
      "void at::native::vectorized_elementwise_kernel<4, "
      "at::native::(anonymous "
      "namespace)::addcdiv_cuda_kernel(at::TensorIteratorBase&, c10::Scalar "
      "const&)::{lambda(float, float, float)#1}, std::array<char*, 4ul> >(int)";
  const auto advice = [](const std::string& second) {
    return Find(Steps()
                    .Kernel("aten::mul_", kMulKernel, 30'000, 24'576)
                    .Kernel("aten::op", second, 30'000, 24'576)
                    .Explain(),
                "unfused-pointwise")
        .suggestion;
  };

  EXPECT_THAT(advice(addcdiv),
              AllOf(HasSubstr("fused=True"), HasSubstr("torch.compile")));
  EXPECT_THAT(advice(kAddKernel), Not(HasSubstr("fused=True")));
}

}  // namespace
}  // namespace traza
