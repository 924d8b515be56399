// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_DIFF_OUTPUT_H_
#define TRACE_ANALYSIS_DIFF_OUTPUT_H_

#include <optional>

#include "absl/strings/string_view.h"

#include "trace/header.h"

namespace traza {

// Half the width of what two ways to compute one value in that type may differ
// by, as a share of it; 0 for integers. docs/checks.md has the table.
double OutputTolerance(absl::string_view dtype);
// Of two outputs: the larger one that a side was given, else by dtype.
double ToleranceOf(const Fingerprint& a, const Fingerprint& b);

// Whether two runs computed the same thing, as far as their fingerprints say:
// same type and shape, and sum and norm that agree to what rounding in that
// type lets expect of two ways to compute one thing. Absent where a side has no
// fingerprint, or both have values that are not finite.
//
// |norm - norm'| <= t N and |sum - sum'| <= 4 N max(t, u sqrt(r)), where t is
// ToleranceOf, N the larger norm, u the unit roundoff of the type and r the
// rows, all extents but the last. With errors of the elements x of about t |x|
// and any sign, the sum of n of them is about t sqrt(x1^2 + ... + xn^2) = t N,
// whatever n is. What is added to every row (a bias) may be rounded alike in
// all of them: then errors of u |x| add up over the rows, to u N sqrt(r).
std::optional<bool> SameOutput(const std::optional<Fingerprint>& before,
                               const std::optional<Fingerprint>& after);

}  // namespace traza

#endif  // TRACE_ANALYSIS_DIFF_OUTPUT_H_
