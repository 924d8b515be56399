// SPDX-License-Identifier: Apache-2.0
#include "spec/violations.h"

#include "absl/strings/str_cat.h"

#include "base/check.h"

namespace traza {

absl::Status ViolationsError(
    Reason reason, const std::vector<FieldViolation>& violations,
    const std::vector<std::pair<std::string, int64_t>>& numbers) {
  TRAZA_CHECK(!violations.empty());
  ErrorBuilder builder(absl::StatusCode::kInvalidArgument, reason);
  for (const FieldViolation& violation : violations) {
    builder.Violation(violation.field, violation.description);
  }
  for (const auto& [name, value] : numbers) builder.With(name, value);
  const FieldViolation& first = violations.front();
  const std::string more =
      violations.size() > 1
          ? absl::StrCat(" (and ", violations.size() - 1, " more)")
          : "";
  return builder.Build(
      absl::StrCat(first.field, ": ", first.description, more));
}

}  // namespace traza
