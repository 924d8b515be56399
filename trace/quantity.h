// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_QUANTITY_H_
#define TRACE_QUANTITY_H_

#include <cstdint>
#include <string>

namespace traza {

// Numbers as people read them: a unit that fits, three significant digits,
// never a rounded zero for what is not zero, "n/a" for what is no number.

// "1.23 ms", "45.6 us", "789 ns", "-1.20 us", "0 ns".
std::string NsText(double ns);
// "1.5 MiB", "12 B".
std::string BytesText(double bytes);
// With a unit of powers of a thousand, as rates and what moves at them have it:
// "1.97 MB", "4.10 TB/s", "2.50 TFLOP/s".
std::string DecimalText(double value, const char* unit);
// Of a ratio: "71.2 %", "0.31 %", "100 %". `digits` are significant ones.
std::string PercentText(double ratio, int digits = 3);
// "240,000".
std::string CountText(int64_t count);
// Of a mean of counts: "1.05", "12", "66,100"; `digits` are significant ones,
// whole numbers keep all of theirs.
std::string MeanText(double mean, int digits = 4);
// "1 step", "30 steps".
std::string CountText(int64_t count, const char* noun);

}  // namespace traza

#endif  // TRACE_QUANTITY_H_
