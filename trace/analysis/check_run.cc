// SPDX-License-Identifier: Apache-2.0
// Compares what was expected with what a trace has.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "base/check.h"
#include "base/status_macros.h"
#include "base/utf8.h"
#include "trace/analysis/check.h"
#include "trace/analysis/check_observation.h"
#include "trace/analysis/check_observe.h"
#include "trace/analysis/check_quantity.h"
#include "trace/analysis/check_subject.h"
#include "trace/analysis/check_units.h"
#include "trace/analysis/finding_parts.h"

namespace traza {
namespace {

// Values that differ by the rounding of their last digits are one.
constexpr double kRounding = 1e-12;
// Longer titles and names would hide the rest of a message.
constexpr size_t kMaxNoteBytes = 400;

bool Near(double a, double b) {
  return std::abs(a - b) <= kRounding * std::max(std::abs(a), std::abs(b));
}

// Every step has to comply: the one with the most is held against an upper
// bound, the one with the least against a lower one.
bool Complies(CheckOp op, const Observation& seen, const Observation& bound) {
  const bool same = Near(seen.least, bound.least) &&
                    Near(seen.most, bound.most) &&
                    Near(seen.value, bound.value);
  switch (op) {
    case CheckOp::kEqual:
      return same;
    case CheckOp::kNotEqual:
      return !same;
    case CheckOp::kLess:
      return seen.most < bound.most && !Near(seen.most, bound.most);
    case CheckOp::kLessOrEqual:
      return seen.most <= bound.most || Near(seen.most, bound.most);
    case CheckOp::kGreater:
      return seen.least > bound.least && !Near(seen.least, bound.least);
    case CheckOp::kGreaterOrEqual:
      return seen.least >= bound.least || Near(seen.least, bound.least);
  }
  return false;
}

bool CompliesWord(const CheckExpression& check, const std::string& seen) {
  const bool same = check.expected_word == "present"
                        ? seen != "absent"
                        : seen == check.expected_word;
  return same == (check.op == CheckOp::kEqual);
}

// "5", or "5 on average, 4 to 6 by step".
std::string ValueText(const Observation& seen, CheckUnit unit) {
  std::string text = CheckValueText(seen.value, unit);
  if (seen.least == seen.most) return text;
  return absl::StrCat(text, " on average, ", CheckValueText(seen.least, unit),
                      " to ", CheckValueText(seen.most, unit), " by step");
}

Observation Scaled(Observation baseline, double factor) {
  baseline.value *= factor;
  baseline.least *= factor;
  baseline.most *= factor;
  if (baseline.least > baseline.most) {
    std::swap(baseline.least, baseline.most);
  }
  return baseline;
}

std::string MissedCriteria(const Validity& validity) {
  std::vector<std::string> ids;
  for (const Criterion& criterion : validity.criteria) {
    if (!criterion.met) ids.push_back(criterion.id);
  }
  return absl::StrJoin(ids, ", ");
}

// What has to be known of a trace to read a value of it.
void AddTrust(const Answer& answer, absl::string_view which,
              std::vector<std::string>* notes) {
  if (answer.validity.level == ValidityLevel::kUnstable) {
    notes->push_back(absl::StrCat(which, " is UNSTABLE (",
                                  MissedCriteria(answer.validity), ")."));
  }
  if (answer.partial) {
    notes->push_back(
        absl::StrCat(which, " is partial: its job was stopped early."));
  }
}

Observation Observe(const CheckSubject& subject, const CheckExpression& check) {
  if (check.quantity->unit != CheckUnit::kValidity && subject.invalid()) {
    return Observation::Missing(absl::StrCat(
        "The trace is INVALID (", MissedCriteria(subject.answer().validity),
        "): nothing in it can be relied on."));
  }
  return check.quantity->observe(subject, check);
}

// A check on its way: what the trace says, and what the baseline does.
struct Pending {
  Observation seen;
  Observation baseline;
  std::vector<std::string> baseline_notes;
};

CheckResult Unknown(CheckResult result, const CheckExpression& check,
                    absl::string_view why) {
  result.outcome = CheckOutcome::kUnknown;
  result.message = absl::StrCat(check.quantity_text, " is unknown, expected ",
                                check.expected_text, ". ", why);
  return result;
}

// Fills in what was observed.
void SetObserved(const Observation& seen, CheckUnit unit, CheckResult* result) {
  result->event_ids = seen.event_ids;
  if (result->event_ids.size() > kMaxEventIds) {
    result->event_ids.resize(kMaxEventIds);
  }
  if (IsNumeric(unit)) {
    result->number = Number{seen.value, CheckUnitName(unit), seen.numerator,
                            seen.denominator};
  } else {
    result->word = seen.word;
  }
}

CheckResult Decide(const CheckExpression& check, const Pending& pending,
                   const Answer& answer) {
  const CheckUnit unit = check.quantity->unit;
  const Observation& seen = pending.seen;
  CheckResult result;
  result.expression = check.text;
  result.quantity = check.quantity_text;
  if (!seen.known()) return Unknown(std::move(result), check, seen.missing);
  SetObserved(seen, unit, &result);
  std::string expected = check.expected_text;
  bool passed = false;
  if (!IsNumeric(unit)) {
    passed = CompliesWord(check, seen.word);
  } else if (!check.baseline.has_value()) {
    passed = Complies(check.op, seen, Observation::Of(check.value));
  } else {
    const Observation& baseline = pending.baseline;
    if (!baseline.known()) {
      return Unknown(std::move(result), check,
                     absl::StrCat("In the baseline: ", baseline.missing));
    }
    if (seen.basis != baseline.basis) {
      return Unknown(
          std::move(result), check,
          absl::StrCat("It was measured on ", seen.basis, "s here and on ",
                       baseline.basis,
                       "s in the baseline, which do not compare; use "
                       "traced_step_time_p50 or traced_step_time_p99."));
    }
    const Observation bound = Scaled(baseline, check.factor);
    passed = Complies(check.op, seen, bound);
    absl::StrAppend(&expected, " = ", ValueText(bound, unit));
    if (check.factor != 1) {
      absl::StrAppend(&expected, " (it is ", ValueText(baseline, unit), ")");
    }
  }
  result.outcome = passed ? CheckOutcome::kPassed : CheckOutcome::kFailed;
  result.message =
      absl::StrCat(check.quantity_text, " is ",
                   IsNumeric(unit) ? ValueText(seen, unit) : seen.word,
                   passed ? ", as expected: " : ", expected ", expected, ".");
  std::vector<std::string> notes = seen.notes;
  if (unit != CheckUnit::kValidity) AddTrust(answer, "The trace", &notes);
  notes.insert(notes.end(), pending.baseline_notes.begin(),
               pending.baseline_notes.end());
  for (const std::string& note : notes) {
    absl::StrAppend(&result.message, " ", CutUtf8(note, kMaxNoteBytes));
  }
  return result;
}

void ObserveBaseline(const CheckSubject& subject, const CheckSubject& baseline,
                     const CheckExpression& check, Pending* pending) {
  AddTrust(baseline.answer(), "The baseline", &pending->baseline_notes);
  if (IsNumeric(check.quantity->unit)) {
    pending->baseline = Observe(baseline, check);
  } else if (subject.invalid() || baseline.invalid()) {
    const bool ours = subject.invalid();
    pending->seen = Observation::Missing(absl::StrCat(
        ours ? "The trace" : "The baseline", " is INVALID (",
        MissedCriteria((ours ? subject : baseline).answer().validity),
        "): nothing in it can be relied on."));
  } else {
    pending->seen = check.quantity->compare(subject, baseline);
  }
}

}  // namespace

absl::string_view CheckOutcomeName(CheckOutcome outcome) {
  switch (outcome) {
    case CheckOutcome::kPassed:
      return "PASS";
    case CheckOutcome::kFailed:
      return "FAIL";
    case CheckOutcome::kUnknown:
      break;
  }
  return "UNKNOWN";
}

CheckResult RunCheck(const CheckSubject& subject,
                     const CheckExpression& check) {
  TRAZA_CHECK(!check.baseline.has_value());
  return Decide(check, {.seen = Observe(subject, check)}, subject.answer());
}

absl::StatusOr<std::vector<CheckResult>> RunChecks(
    const Trace& trace, const std::vector<CheckExpression>& checks,
    const BaselineLoader& load) {
  const CheckSubject subject(trace);
  std::vector<Pending> pending(checks.size());
  std::map<std::string, std::vector<size_t>> by_baseline;
  for (size_t i = 0; i < checks.size(); ++i) {
    if (checks[i].quantity->observe != nullptr) {
      pending[i].seen = Observe(subject, checks[i]);
    }
    if (checks[i].baseline.has_value()) {
      by_baseline[*checks[i].baseline].push_back(i);
    }
  }
  for (const auto& [name, indices] : by_baseline) {
    ASSIGN_OR_RETURN(const Trace other, load(name));
    const CheckSubject baseline(other);
    for (const size_t i : indices) {
      ObserveBaseline(subject, baseline, checks[i], &pending[i]);
    }
  }
  std::vector<CheckResult> results;
  results.reserve(checks.size());
  for (size_t i = 0; i < checks.size(); ++i) {
    results.push_back(Decide(checks[i], pending[i], subject.answer()));
  }
  return results;
}

}  // namespace traza
