// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_DIFF_OUTPUT_H_
#define TRACE_ANALYSIS_DIFF_OUTPUT_H_

#include <optional>

#include "trace/header.h"

namespace traza {

// Whether two runs computed the same thing, as far as their fingerprints say:
// same type and shape, and sum and norm that agree to what rounding in that
// type lets expect of two ways to compute one thing. Absent where a side has no
// fingerprint, or both have values that are not finite.
std::optional<bool> SameOutput(const std::optional<Fingerprint>& before,
                               const std::optional<Fingerprint>& after);

}  // namespace traza

#endif  // TRACE_ANALYSIS_DIFF_OUTPUT_H_
