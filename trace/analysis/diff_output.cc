// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/diff_output.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace traza {
namespace {

// Half a unit in the last place, as a share; of float that of TF32.
double UnitRoundoff(absl::string_view dtype) {
  if (absl::StrContains(dtype, "bfloat16")) return 0x1p-9;
  if (absl::StrContains(dtype, "double") ||
      absl::StrContains(dtype, "float64")) {
    return 0x1p-53;
  }
  const bool any =
      absl::StrContains(dtype, "float") || absl::StrContains(dtype, "half");
  return any ? 0x1p-11 : 0;
}

// Rows of "[64,128,768]": all extents but the last.
double RowsOf(const Fingerprint& output) {
  const absl::string_view shape = output.shape;
  int64_t last = 0;
  const size_t comma = shape.rfind(',');
  if (comma == absl::string_view::npos ||
      !absl::SimpleAtoi(absl::StripSuffix(shape.substr(comma + 1), "]"),
                        &last) ||
      last <= 0) {
    return 1;
  }
  return std::max(
      1.0, static_cast<double>(output.elements) / static_cast<double>(last));
}

}  // namespace

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
  const double rows = RowsOf(*before);
  const double of_sum =
      4 * norm *
      std::max(tolerance, UnitRoundoff(before->dtype) * std::sqrt(rows));
  return std::abs(before->norm - after->norm) <= tolerance * norm &&
         std::abs(before->sum - after->sum) <= of_sum;
}

}  // namespace traza
