// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace traza {

int64_t Median(std::vector<int64_t>* values) {
  const size_t half = values->size() / 2;
  const auto middle = values->begin() + static_cast<ptrdiff_t>(half);
  std::nth_element(values->begin(), middle, values->end());
  if (values->size() % 2 == 1) return *middle;
  const int64_t below = *std::max_element(values->begin(), middle);
  return below + (*middle - below) / 2;
}

int64_t MedianDeviation(const std::vector<int64_t>& values, int64_t median) {
  std::vector<int64_t> distances;
  distances.reserve(values.size());
  for (const int64_t value : values) {
    distances.push_back(value < median ? median - value : value - median);
  }
  return Median(&distances);
}

int64_t NearestRank(std::vector<int64_t>* values, int percent) {
  const size_t rank =
      (values->size() * static_cast<size_t>(percent) + 99) / 100;
  const auto place =
      values->begin() + static_cast<ptrdiff_t>(std::max<size_t>(rank, 1) - 1);
  std::nth_element(values->begin(), place, values->end());
  return *place;
}

int64_t Mean(const std::vector<int64_t>& values) {
  long double sum = 0;
  for (const int64_t value : values) sum += static_cast<long double>(value);
  return static_cast<int64_t>(
      std::floor(sum / static_cast<long double>(values.size()) + 0.5L));
}

}  // namespace traza
