// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/diff_output.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace traza {

// Chosen: some roundings of the type (its unit is 2^-8, 2^-11, 2^-24, 2^-53),
// since intermediate results are rounded too. Of float, products of 10-bit
// operands (TF32) are let pass.
double OutputTolerance(absl::string_view dtype) {
  if (absl::StrContains(dtype, "bfloat16")) return 1e-2;
  if (absl::StrContains(dtype, "half") || absl::StrContains(dtype, "float16")) {
    return 2e-3;
  }
  if (absl::StrContains(dtype, "double") ||
      absl::StrContains(dtype, "float64")) {
    return 1e-9;
  }
  return absl::StrContains(dtype, "float") ? 1e-3 : 0;  // integers are exact
}

double ToleranceOf(const Fingerprint& a, const Fingerprint& b) {
  if (!a.tolerance.has_value() && !b.tolerance.has_value()) {
    return OutputTolerance(a.dtype);
  }
  return std::max(a.tolerance.value_or(0), b.tolerance.value_or(0));
}

std::optional<bool> SameOutput(const std::optional<Fingerprint>& before,
                               const std::optional<Fingerprint>& after) {
  if (!before.has_value() || !after.has_value()) return std::nullopt;
  if (!before->finite && !after->finite) return std::nullopt;
  if (before->finite != after->finite || before->dtype != after->dtype ||
      before->shape != after->shape || before->elements != after->elements) {
    return false;
  }
  const double tolerance = ToleranceOf(*before, *after);
  const double norm = std::max(before->norm, after->norm);
  // Errors of the elements are random: their sum is about as large as their
  // norm, here taken four times.
  return std::abs(before->norm - after->norm) <= tolerance * norm &&
         std::abs(before->sum - after->sum) <= 4 * tolerance * norm;
}

}  // namespace traza
