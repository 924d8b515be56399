// SPDX-License-Identifier: Apache-2.0
#include "base/status_macros.h"

#include <memory>
#include <utility>

#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"

namespace traza {
namespace {

absl::StatusOr<std::unique_ptr<int>> Box(int value) {
  if (value < 0) return absl::OutOfRangeError("negative");
  return std::make_unique<int>(value);
}

absl::Status Check(int value) {
  RETURN_IF_ERROR(Box(value).status());
  return absl::OkStatus();
}

absl::StatusOr<int> Sum(int a, int b) {
  ASSIGN_OR_RETURN(const std::unique_ptr<int> first, Box(a));
  std::unique_ptr<int> second;
  ASSIGN_OR_RETURN(second, Box(b));
  return *first + *second;
}

TEST(ReturnIfError, ReturnsTheErrorAndNothingElse) {
  EXPECT_THAT(Check(1), IsOk());
  EXPECT_THAT(Check(-1), StatusIs(absl::StatusCode::kOutOfRange));
}

TEST(AssignOrReturn, DeclaresOrAssignsMoveOnlyValues) {
  EXPECT_THAT(Sum(2, 3), IsOkAndHolds(5));
}

TEST(AssignOrReturn, ReturnsTheFirstError) {
  EXPECT_THAT(Sum(-2, 3), StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_THAT(Sum(2, -3), StatusIs(absl::StatusCode::kOutOfRange));
}

}  // namespace
}  // namespace traza
