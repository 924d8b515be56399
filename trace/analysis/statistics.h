// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_STATISTICS_H_
#define TRACE_ANALYSIS_STATISTICS_H_

#include <cstdint>
#include <limits>
#include <vector>

namespace traza {

// Sums of times come from foreign files: they stop at the end of the range
// instead of overflowing.
inline int64_t AddSaturating(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? std::numeric_limits<int64_t>::max()
               : std::numeric_limits<int64_t>::min();
}

// All of these want at least one value and may reorder them.

// Of an even number of values: the mean of the middle two, rounded down.
int64_t Median(std::vector<int64_t>* values);
// The median of the distances to `median`.
int64_t MedianDeviation(const std::vector<int64_t>& values, int64_t median);
// The smallest value that at least `percent` of the values do not exceed.
int64_t NearestRank(std::vector<int64_t>* values, int percent);
int64_t Mean(const std::vector<int64_t>& values);

}  // namespace traza

#endif  // TRACE_ANALYSIS_STATISTICS_H_
