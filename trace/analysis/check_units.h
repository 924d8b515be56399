// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_CHECK_UNITS_H_
#define TRACE_ANALYSIS_CHECK_UNITS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "trace/analysis/answer.h"
#include "trace/analysis/check_quantity.h"

namespace traza {

// The largest number that may be written: more than any quantity has, and its
// products are finite.
inline constexpr double kMaxCheckNumber = 1e18;

// `number` with `unit` ("us", "KiB", "%", or nothing) in ns, bytes, count or of
// 1. INVALID_ARGUMENT when the quantity has other units.
absl::StatusOr<double> CheckValueOf(double number, absl::string_view unit,
                                    const CheckQuantity& quantity);

// A value as messages show it, with enough digits to tell two close ones apart:
// "262.41 us", "1,048,576 B", "81.25 %", "5".
std::string CheckValueText(double value, CheckUnit unit);
std::string CheckValueText(const Number& number);

// What "==" could be followed by, for an error: "5", "250us", "absent".
std::string CheckExample(const CheckQuantity& quantity);

// "ns", "bytes", "count", "ratio": as in Number.
const char* CheckUnitName(CheckUnit unit);

}  // namespace traza

#endif  // TRACE_ANALYSIS_CHECK_UNITS_H_
