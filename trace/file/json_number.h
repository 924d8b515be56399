// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_FILE_JSON_NUMBER_H_
#define TRACE_FILE_JSON_NUMBER_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace traza {

// `token`, a decimal number as JSON writes it or such a number in quotes, times
// 10^scale (0 to 9), rounded to the nearest integer, halves away from zero. So
// microseconds become nanoseconds with scale 3, and no digit is lost on a way
// through floating point. Nothing for NaN, Infinity, what is no number, and
// what has no room in an int64_t.
std::optional<int64_t> ScaledInteger(absl::string_view token, int scale);

}  // namespace traza

#endif  // TRACE_FILE_JSON_NUMBER_H_
