// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/expectations.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "trace/analysis/check.h"
#include "trace/analysis/check_subject.h"

namespace traza {
namespace {

CheckResult Undecided(const std::string& expression, std::string why) {
  return {.expression = expression, .message = std::move(why)};
}

CheckResult Check(const CheckSubject& subject, const std::string& expression) {
  const absl::StatusOr<CheckExpression> check = ParseCheck(expression);
  if (!check.ok()) {
    return Undecided(expression,
                     absl::StrCat("The expectation makes no sense here: ",
                                  check.status().message()));
  }
  if (check->baseline.has_value()) {
    return Undecided(expression,
                     "It compares with another trace, which is not at hand; "
                     "ask for it with traza check.");
  }
  return RunCheck(subject, *check);
}

int Rank(CheckOutcome outcome) {
  switch (outcome) {
    case CheckOutcome::kFailed:
      return 0;
    case CheckOutcome::kUnknown:
      return 1;
    case CheckOutcome::kPassed:
      break;
  }
  return 2;
}

}  // namespace

std::vector<ExpectationAnswer> AnswerExpectations(const Trace& trace,
                                                  const Answer& answer) {
  std::vector<ExpectationAnswer> answers;
  if (trace.header.expectations.empty()) return answers;
  const CheckSubject subject(trace, answer);
  for (const JobExpectation& expected : trace.header.expectations) {
    answers.push_back({expected.why, Check(subject, expected.expr)});
  }
  std::ranges::stable_sort(answers, {}, [](const ExpectationAnswer& answered) {
    return Rank(answered.check.outcome);
  });
  return answers;
}

}  // namespace traza
