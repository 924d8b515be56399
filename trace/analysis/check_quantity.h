// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_CHECK_QUANTITY_H_
#define TRACE_ANALYSIS_CHECK_QUANTITY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "trace/analysis/check_observation.h"

namespace traza {

// What is written between the parentheses of a quantity.
enum class CheckArgument : uint8_t {
  kNone,
  kNames,      // optional: /regex/, or a part of a name
  kOp,         // optional: /regex/, or a whole name
  kCopyKind,   // optional: dtod, htod, ...
  kDevice,     // optional: its number
  kIdleClass,  // host, launch, ..., and optionally a device after a comma
  kFinding,    // the id of a finding
  kTrace,      // another trace
};

// What a quantity is compared with.
enum class CheckUnit : uint8_t {
  kCount,
  kTime,   // ns inside
  kBytes,  // bytes inside
  kRatio,  // of 1; written 0.8 or 80%
  kVerdict,
  kValidity,
  kFinding,  // absent, present, or a severity
  kBool,     // may stand alone: "stable" means "stable == true"
};
constexpr bool IsNumeric(CheckUnit unit) { return unit <= CheckUnit::kRatio; }

// Which of many values.
enum class CheckStatistic : uint8_t {
  kNone,
  kP50,
  kP90,
  kP99,
  kMean,
  kMin,
  kMax
};

class CheckSubject;
struct CheckExpression;

// A quantity that expressions can name.
struct CheckQuantity {
  const char* name;
  CheckArgument argument;
  CheckUnit unit;
  const char* help;  // one line for docs/checks.md
  Observation (*observe)(const CheckSubject& trace,
                         const CheckExpression& check);
  CheckStatistic statistic = CheckStatistic::kNone;
  // Of a quantity that is about two traces, in place of `observe`.
  Observation (*compare)(const CheckSubject& trace,
                         const CheckSubject& baseline) = nullptr;
};

// All of them, in the order of docs/checks.md.
absl::Span<const CheckQuantity> CheckQuantities();
// Null when there is none of that name.
const CheckQuantity* FindCheckQuantity(absl::string_view name);

// "kernels_per_step(/REGEX/ or PART)": the quantity as the documentation
// writes it.
std::string CheckSignature(const CheckQuantity& quantity);

// The words that a quantity of that unit is compared with; empty for numbers.
std::vector<std::string> CheckWords(CheckUnit unit);

// Words of arguments.
std::vector<std::string> CopyKindWords();
std::vector<std::string> IdleClassWords();

}  // namespace traza

#endif  // TRACE_ANALYSIS_CHECK_QUANTITY_H_
