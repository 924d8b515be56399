// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_DIFF_TEXT_H_
#define TRACE_ANALYSIS_DIFF_TEXT_H_

#include <optional>
#include <string>

#include "trace/analysis/diff.h"
#include "trace/analysis/diff_parts.h"
#include "trace/analysis/diff_side.h"

namespace traza {

// A diff in words.

// What happened to the part: "2 pointwise kernels (gelu, mul) became 1
// (triton_poi_fused_gelu_mul_0)", "1 copy (Memcpy DtoD) before nvjet_... is
// gone". Of parts without other work, what they are.
std::string DescribePart(const DiffPart& part, const DiffSide& before,
                         const DiffSide& after);

// "+1.2 us", "-33.6 MB"; "n/a".
std::string SignedText(double value, const std::string& unit);

// One change as a sentence with what it costs; nothing for an entry that is the
// same, or whose times alone differ by less than a hundredth of `step_ns`:
// among many parts some differ by chance.
std::optional<std::string> ChangeSentence(const DiffEntry& entry,
                                          double step_ns);

// The verdict and the step times in one sentence.
std::string SummaryOf(const Diff& diff, int64_t steps_before,
                      int64_t steps_after);

}  // namespace traza

#endif  // TRACE_ANALYSIS_DIFF_TEXT_H_
