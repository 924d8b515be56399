// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_NUMBER_H_
#define TRACE_ANALYSIS_NUMBER_H_

#include <string>

namespace traza {

// A value with its unit and, for a ratio, what was divided by what.
struct Number {
  double value = 0;
  std::string unit;         // "ns", "count", "bytes", "ratio", ...
  std::string numerator;    // of a ratio: "device busy"
  std::string denominator;  // of a ratio: "window"

  friend bool operator==(const Number&, const Number&) = default;
};

}  // namespace traza

#endif  // TRACE_ANALYSIS_NUMBER_H_
