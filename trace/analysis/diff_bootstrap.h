// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_DIFF_BOOTSTRAP_H_
#define TRACE_ANALYSIS_DIFF_BOOTSTRAP_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/analysis/diff.h"

namespace traza {

// Values of the steps of one trace, none below 0. Zeros are counted, not kept:
// what few steps do costs little.
class StepValues {
 public:
  StepValues() = default;
  // `values` may leave out zeros; there are `size` values with them.
  StepValues(std::vector<double> values, size_t size);

  size_t size() const { return size_; }
  // The value at that place by size, from 0.
  double at(size_t rank) const {
    return rank < zeros_ ? 0 : values_[rank - zeros_];
  }
  // Of an even number of values the mean of the middle two. Not of none.
  double Median() const;

 private:
  std::vector<double> values_;  // sorted
  size_t zeros_ = 0;
  size_t size_ = 0;
};

// Percentile bootstrap of the difference of two medians: Efron and Tibshirani,
// An Introduction to the Bootstrap (1993), chapter 13; for medians of two
// groups, ties among the values included, Wilcox, Introduction to Robust
// Estimation and Hypothesis Testing (2012), section 5.4. kResamples resamples.
//
// Resampling n values and taking the middle one is drawing its place by size:
// place k of n draws from n places has the law floor(n U) with U ~ Beta(k,
// n + 1 - k), the k-th smallest of n uniform numbers. So a resample costs the
// same for 30 steps and for a million, and the places can be drawn once for all
// quantities of two traces.
//
// The seed is fixed: equal traces get equal answers. The interval speaks of the
// steps of these two runs; what differs from run to run is not in it, and
// neither is it corrected for looking at many quantities.
class MedianBootstrap {
 public:
  static constexpr int kResamples = 4000;

  // For samples of those sizes, which must not be 0.
  MedianBootstrap(size_t before, size_t after, double confidence);

  struct Interval {
    double low;
    double high;
  };
  // Of median(after) - median(before).
  Interval Of(const StepValues& before, const StepValues& after) const;

 private:
  struct Middle {
    size_t low;   // places of the middle two values of a resample, or
    size_t high;  // of the middle one twice
  };

  std::array<size_t, 2> sizes_;
  double confidence_;
  std::vector<Middle> middles_[2];
};

// Fewer steps on a side get no interval (docs/definitions.md B12), and neither
// do fewer values: steps that were timed in one batch are one value.
inline constexpr int64_t kMinIntervalSteps = 30;
inline constexpr size_t kMinIntervalValues = 10;

// The delta of two quantities. Without a side (unknown) only the other one is
// set. With a bootstrap, which must be of the sizes of the values, an interval.
Delta MakeDelta(const std::optional<StepValues>& before,
                const std::optional<StepValues>& after, std::string unit,
                const MedianBootstrap* bootstrap);

}  // namespace traza

#endif  // TRACE_ANALYSIS_DIFF_BOOTSTRAP_H_
