// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/answer.h"

#include "gtest/gtest.h"

namespace traza {
namespace {

TEST(Answer, LevelsAreFoundByTheirNames) {
  for (const ValidityLevel level :
       {ValidityLevel::kValid, ValidityLevel::kUnstable,
        ValidityLevel::kInvalid}) {
    EXPECT_EQ(ValidityLevelFromName(ValidityLevelName(level)), level);
  }
  EXPECT_EQ(ValidityLevelName(ValidityLevel::kUnstable), "UNSTABLE");
  EXPECT_EQ(ValidityLevelFromName("valid"), std::nullopt);
}

TEST(Answer, VerdictsAreFoundByTheirNames) {
  for (int i = 0; i <= static_cast<int>(VerdictKind::kCpuOnly); ++i) {
    const auto kind = static_cast<VerdictKind>(i);
    EXPECT_EQ(VerdictKindFromName(VerdictKindName(kind)), kind);
  }
  EXPECT_EQ(VerdictKindName(VerdictKind::kCpuOnly), "cpu-only");
  EXPECT_EQ(VerdictKindName(VerdictKind::kOverheadBound), "overhead-bound");
  EXPECT_EQ(VerdictKindFromName(""), std::nullopt);
}

}  // namespace
}  // namespace traza
