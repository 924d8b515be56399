// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/diff_output.h"

#include <optional>

#include "gtest/gtest.h"

namespace traza {
namespace {

Fingerprint Output(double sum, double norm, const char* dtype) {
  return {true, sum, norm, 4096, dtype, "[64,64]", std::nullopt};
}

TEST(SameOutput, LetsRoundingOfTheTypePass) {
  EXPECT_EQ(
      SameOutput(Output(10, 100, "bfloat16"), Output(13, 100.9, "bfloat16")),
      true);
  EXPECT_EQ(SameOutput(Output(10, 100, "float"), Output(13, 100.9, "float")),
            false);
  EXPECT_EQ(SameOutput(Output(10, 100, "float"), Output(10.1, 100.05, "float")),
            true);
  EXPECT_EQ(SameOutput(Output(10, 100, "long"), Output(10, 100, "long")), true);
  EXPECT_EQ(SameOutput(Output(10, 100, "long"), Output(11, 100, "long")),
            false);
}

TEST(SameOutput, AToleranceThatIsGivenCountsInsteadOfThatOfTheType) {
  Fingerprint wide = Output(10, 100, "float");
  wide.tolerance = 0.05;
  Fingerprint exact = Output(10, 100, "bfloat16");
  exact.tolerance = 0;

  EXPECT_EQ(SameOutput(wide, Output(10, 104, "float")), true);
  EXPECT_EQ(SameOutput(Output(10, 104, "float"), wide), true);
  EXPECT_EQ(SameOutput(wide, Output(10, 106, "float")), false);
  EXPECT_EQ(SameOutput(exact, Output(10, 100.1, "bfloat16")), false);
}

// A product of [4096,4096] in bf16 plus a row: by itself, and with the sum of
// both rounded once, as measured. The other sign is another output.
TEST(SameOutput, LetsARowThatIsRoundedAlikeInAllRowsPass) {
  const auto output = [](double sum, double norm) {
    return Fingerprint{true, sum, norm, 16'777'216, "bfloat16", "[4096,4096]"};
  };

  EXPECT_EQ(SameOutput(output(-238874.414, 262042.389),
                       output(-257051.972, 262042.223)),
            true);
  EXPECT_EQ(SameOutput(output(-238874.414, 262042.389),
                       output(238874.414, 262042.389)),
            false);
}

TEST(SameOutput, AnotherTypeOrShapeIsAnotherOutput) {
  Fingerprint other = Output(10, 100, "float");
  other.shape = "[4096]";
  EXPECT_EQ(SameOutput(Output(10, 100, "float"), other), false);
  EXPECT_EQ(SameOutput(Output(10, 100, "float"), Output(10, 100, "half")),
            false);
}

TEST(SameOutput, IsUnknownWithoutBothOrWithoutNumbers) {
  Fingerprint nan = Output(10, 100, "float");
  nan.finite = false;
  EXPECT_EQ(SameOutput(std::nullopt, Output(1, 1, "float")), std::nullopt);
  EXPECT_EQ(SameOutput(nan, nan), std::nullopt);
  EXPECT_EQ(SameOutput(nan, Output(10, 100, "float")), false);
}

}  // namespace
}  // namespace traza
