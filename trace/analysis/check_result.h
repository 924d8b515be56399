// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_CHECK_RESULT_H_
#define TRACE_ANALYSIS_CHECK_RESULT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

#include "trace/analysis/number.h"

namespace traza {

enum class CheckOutcome : uint8_t {
  kPassed,
  kFailed,
  kUnknown,  // the trace does not hold what would be needed; never a pass
};
// "PASS", "FAIL", "UNKNOWN".
absl::string_view CheckOutcomeName(CheckOutcome outcome);

// What came of one check (trace/analysis/check.h).
struct CheckResult {
  std::string expression;  // as it was written
  CheckOutcome outcome = CheckOutcome::kUnknown;
  std::string quantity;            // with its argument
  std::optional<Number> number;    // its value, where it has a unit
  std::string word;                // its value, where that is a word
  std::string message;             // one or more sentences, with the numbers
  std::vector<int64_t> event_ids;  // rows that show it, at most 16

  friend bool operator==(const CheckResult&, const CheckResult&) = default;
};

}  // namespace traza

#endif  // TRACE_ANALYSIS_CHECK_RESULT_H_
