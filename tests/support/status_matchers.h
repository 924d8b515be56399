// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SUPPORT_STATUS_MATCHERS_H_
#define TESTS_SUPPORT_STATUS_MATCHERS_H_

#include <optional>
#include <ostream>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"

#include "base/error.h"

namespace traza {

// Matchers for Status and StatusOr:
//
//   EXPECT_THAT(Write(), IsOk());
//   EXPECT_THAT(store.Get(id), IsOkAndHolds(job));
//   EXPECT_THAT(store.Get(id), StatusIs(absl::StatusCode::kNotFound,
//                                       HasReason("JOB_NOT_FOUND")));
//
// Test the reason, not the prose.

inline absl::Status StatusOf(const absl::Status& status) { return status; }
template <typename T>
absl::Status StatusOf(const absl::StatusOr<T>& result) {
  return result.status();
}

MATCHER(IsOk, "is OK") {
  *result_listener << "which is " << StatusOf(arg).ToString();
  return StatusOf(arg).ok();
}

// The value must equal or match `value`.
MATCHER_P(
    IsOkAndHolds, value,
    "is OK and holds a value that " +
        testing::DescribeMatcher<typename std::decay_t<arg_type>::value_type>(
            value)) {
  if (!arg.ok()) {
    *result_listener << "which is " << arg.status().ToString();
    return false;
  }
  return testing::ExplainMatchResult(value, *arg, result_listener);
}

// The code must equal, and each of the other matchers match, the status.
MATCHER_P(StatusIs, code,
          std::string("has the code ") + absl::StatusCodeToString(code)) {
  *result_listener << "which is " << StatusOf(arg).ToString();
  return StatusOf(arg).code() == code;
}
MATCHER_P2(StatusIs, code, matcher,
           std::string("has the code ") + absl::StatusCodeToString(code) +
               " and " + testing::DescribeMatcher<absl::Status>(matcher)) {
  *result_listener << "which is " << StatusOf(arg).ToString() << " ";
  return StatusOf(arg).code() == code &&
         testing::ExplainMatchResult(matcher, StatusOf(arg), result_listener);
}

// The status carries this reason: a Reason or its UPPER_SNAKE name.
inline std::string ReasonName(Reason reason) {
  return std::string(TextOf(reason).name);
}
inline std::string ReasonName(const std::string& name) { return name; }

MATCHER_P(HasReason, reason, "has the reason " + ReasonName(reason)) {
  const std::optional<ErrorDetails> details = DetailsOf(StatusOf(arg));
  if (!details.has_value()) {
    *result_listener << "which has no details";
    return false;
  }
  *result_listener << "which has the reason " << ReasonName(details->reason);
  return ReasonName(details->reason) == ReasonName(reason);
}

// The status has a violation of exactly this field.
MATCHER_P(HasViolation, field, "has a violation of " + std::string(field)) {
  const std::optional<ErrorDetails> details = DetailsOf(StatusOf(arg));
  if (!details.has_value()) {
    *result_listener << "which has no details";
    return false;
  }
  *result_listener << "which has violations of:";
  bool found = false;
  for (const FieldViolation& violation : details->violations) {
    *result_listener << " " << violation.field;
    found = found || violation.field == field;
  }
  return found;
}

// The status has this metadata entry; `value` may be a matcher of strings.
MATCHER_P2(HasMetadata, key, value, "has metadata " + std::string(key)) {
  const std::optional<ErrorDetails> details = DetailsOf(StatusOf(arg));
  if (!details.has_value()) return false;
  for (const auto& [name, text] : details->metadata) {
    if (name == key) {
      return testing::ExplainMatchResult(value, text, result_listener);
    }
  }
  *result_listener << "which has no such metadata";
  return false;
}

}  // namespace traza

#endif  // TESTS_SUPPORT_STATUS_MATCHERS_H_
