// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_CHECK_H_
#define TRACE_ANALYSIS_CHECK_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "trace/analysis/answer.h"
#include "trace/analysis/check_result.h"
#include "trace/analysis/name_pattern.h"
#include "trace/trace.h"

namespace traza {

// Expectations about a trace, as a gate for a build: "kernels_per_step == 5",
// "step_time_p50 <= 1.05 * baseline(B)". docs/checks.md is the language.

inline constexpr size_t kMaxCheckBytes = 1024;  // of one expression
inline constexpr size_t kMaxChecks = 100;       // of one call
// Of one call: each is a trace to read.
inline constexpr size_t kMaxCheckBaselines = 10;

enum class CheckOp : uint8_t {
  kEqual,
  kNotEqual,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual,
};
// "==", ...
absl::string_view CheckOpText(CheckOp op);

class CheckSubject;    // check_subject.h
struct CheckQuantity;  // check_quantity.h

// One expectation, parsed.
struct CheckExpression {
  std::string text;                         // as it was written
  const CheckQuantity* quantity = nullptr;  // of a table; never null
  std::string quantity_text;  // with its argument: "kernels_per_step(/gemm/)"

  // Its argument, of which at most one is set but for the device.
  std::optional<NamePattern> names;
  std::string word;  // a copy kind, idle class or finding
  std::optional<int32_t> device;

  CheckOp op = CheckOp::kEqual;
  std::string expected_text;  // "== 5", "<= 1.05 * baseline(B)"

  // What it is compared with: a value, in ns, bytes, count or of 1; a word; or
  // `factor` times the same quantity of the trace `baseline`.
  double value = 0;
  std::string expected_word;
  double factor = 1;
  // Also the argument of same_kernels and same_output, which compare nothing
  // else.
  std::optional<std::string> baseline;
  // Where the name of the baseline stands in `text`, with its quotes: first
  // byte, and the one after the last.
  size_t baseline_begin = 0;
  size_t baseline_end = 0;
};

// INVALID_ARGUMENT with the character where it goes wrong, and what to write.
// Hostile input.
absl::StatusOr<CheckExpression> ParseCheck(absl::string_view text);
// All of them. INVALID_ARGUMENT also when there are none or too many, and when
// they name too many baselines. Violations are of the field "expressions[i]".
absl::StatusOr<std::vector<CheckExpression>> ParseChecks(
    const std::vector<std::string>& texts);

inline bool AllPassed(const std::vector<CheckResult>& results) {
  return std::ranges::all_of(results, [](const CheckResult& result) {
    return result.outcome == CheckOutcome::kPassed;
  });
}

// Reads the trace that an expression names.
using BaselineLoader =
    std::function<absl::StatusOr<Trace>(const std::string& name)>;

// What came of each, in the order of `checks`. Each baseline is loaded once,
// and one is held at a time. Fails only as `load` does. O(rows) a check.
//
// Of an INVALID trace, or against one, everything is unknown but `validity`.
absl::StatusOr<std::vector<CheckResult>> RunChecks(
    const Trace& trace, const std::vector<CheckExpression>& checks,
    const BaselineLoader& load);

// What came of one that names no other trace.
CheckResult RunCheck(const CheckSubject& subject, const CheckExpression& check);

}  // namespace traza

#endif  // TRACE_ANALYSIS_CHECK_H_
