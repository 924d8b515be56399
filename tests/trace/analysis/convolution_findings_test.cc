// SPDX-License-Identifier: Apache-2.0
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/trace/analysis/steps_of_work.h"

namespace traza {
namespace {

using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::Not;

constexpr char kToNhwc[] =
    "void cudnn::engines_precompiled::nchwToNhwcKernel<float, float, float, "
    "false, true>(int)";
constexpr char kToNchw[] =
    "void cudnn::engines_precompiled::nhwcToNchwKernel<float, float, float, "
    "true, false>(int)";

TEST(LayoutConversion, WhatComesFirstTellsWhatTheConvolutionWasGiven) {
  Steps contiguous;
  contiguous.Kernel("aten::cudnn_convolution", kToNhwc, 2'000)
      .Kernel("aten::mm", kGemmKernel, 94'000)
      .Kernel("aten::cudnn_convolution", kToNchw, 4'000);
  const Finding last = Find(contiguous.Explain(), "layout-conversion");
  Steps channels_last;
  channels_last.Kernel("aten::cudnn_convolution", kToNchw, 2'000)
      .Kernel("aten::mm", kGemmKernel, 96'000)
      .Kernel("aten::cudnn_convolution", kToNhwc, 2'000);
  const Finding first = Find(channels_last.Explain(), "layout-conversion");

  EXPECT_EQ(last.severity, "warning");
  EXPECT_EQ(NumberOf(last, "kernels"), 6);
  EXPECT_EQ(NumberOf(last, "conversion_time"), 18'000);
  EXPECT_EQ(NumberOf(last, "conversion_share"), 0.06);
  EXPECT_THAT(last.suggestion, HasSubstr("torch.channels_last"));
  EXPECT_EQ(first.severity, "info");
  EXPECT_THAT(first.title, HasSubstr("given channels side by side (NHWC)"));
  EXPECT_THAT(first.suggestion, HasSubstr("Leave images and weights"));
}

// A recording may begin inside of a convolution.
TEST(LayoutConversion, TheMoreFrequentWayTells) {
  Steps steps;
  steps.Kernel("aten::cudnn_convolution", kToNchw, 4'000);
  for (int i = 0; i < 3; ++i) {
    steps.Kernel("aten::cudnn_convolution", kToNhwc, 4'000)
        .Kernel("aten::cudnn_convolution", kToNhwc, 1'000)
        .Kernel("aten::mm", kGemmKernel, 94'000)
        .Kernel("aten::cudnn_convolution", kToNchw, 4'000);
  }

  EXPECT_THAT(Find(steps.Explain(), "layout-conversion").title,
              HasSubstr("given channels apart (NCHW)"));
}

TEST(LayoutConversion, IsNotFoundBelowOnePercent) {
  Steps steps;
  steps.Kernel("aten::cudnn_convolution", kToNhwc, 900)
      .Kernel("aten::mm", kGemmKernel, 99'100);

  EXPECT_THAT(steps.Explain().findings,
              Not(Contains(Field(&Finding::id, "layout-conversion"))));
}

}  // namespace
}  // namespace traza
