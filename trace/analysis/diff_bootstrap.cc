// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/diff_bootstrap.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace traza {
namespace {

// xorshift64*: the same numbers on every machine, unlike the distributions of
// the standard library.
class Uniform {
 public:
  explicit Uniform(uint64_t seed) : state_(seed) {}

  // In (0, 1).
  double Next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    const uint64_t bits = (state_ * 0x2545f4914f6cdd1d) >> 11;
    return (static_cast<double>(bits) + 0.5) * 0x1p-53;
  }

 private:
  uint64_t state_;
};

// Marsaglia and Tsang, A Simple Method for Generating Gamma Variables, ACM
// Transactions on Mathematical Software 26 (2000); for shape >= 1.
double Gamma(double shape, Uniform* uniform) {
  constexpr double kTwoPi = 6.283185307179586;
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  while (true) {
    // A normal number by Box and Muller.
    const double x = std::sqrt(-2 * std::log(uniform->Next())) *
                     std::cos(kTwoPi * uniform->Next());
    const double root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (std::log(uniform->Next()) < 0.5 * x * x + d - d * v + d * std::log(v)) {
      return d * v;
    }
  }
}

size_t PlaceOf(double uniform, size_t size) {
  return std::min(size - 1,
                  static_cast<size_t>(uniform * static_cast<double>(size)));
}

// Where the values at `sorted` come to `share` of them, between places by their
// distance (Hyndman and Fan's definition 7).
double Quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] +
         (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

StepValues::StepValues(std::vector<double> values, size_t size)
    : values_(std::move(values)), size_(size) {
  std::erase(values_, 0.0);
  std::ranges::sort(values_);
  zeros_ = size_ - std::min(size_, values_.size());
}

double StepValues::Median() const {
  const double middle = at(size_ / 2);
  return size_ % 2 == 1 ? middle : (at(size_ / 2 - 1) + middle) / 2;
}

MedianBootstrap::MedianBootstrap(size_t before, size_t after, double confidence)
    : sizes_({before, after}), confidence_(confidence) {
  Uniform uniform(0x9e3779b97f4a7c15);
  for (int side = 0; side < 2; ++side) {
    const size_t size = sizes_[side];
    middles_[side].reserve(kResamples);
    // The middle value is the k-th smallest; of an even number, the k-th and
    // the one after it.
    const size_t k = (size + 1) / 2;
    const size_t above = size - k;
    for (int i = 0; i < kResamples; ++i) {
      const double low = Gamma(static_cast<double>(k), &uniform);
      const double high = Gamma(static_cast<double>(above + 1), &uniform);
      const double u = low / (low + high);
      const size_t place = PlaceOf(u, size);
      if (size % 2 == 1) {
        middles_[side].push_back({place, place});
        continue;
      }
      // The least of the `above` numbers that are left in (u, 1).
      const double next =
          u + (1 - u) * (1 - std::pow(uniform.Next(),
                                      1 / static_cast<double>(above)));
      middles_[side].push_back({place, PlaceOf(next, size)});
    }
  }
}

MedianBootstrap::Interval MedianBootstrap::Of(const StepValues& before,
                                              const StepValues& after) const {
  const auto median = [](const StepValues& values, const Middle& middle) {
    return (values.at(middle.low) + values.at(middle.high)) / 2;
  };
  std::vector<double> differences;
  differences.reserve(kResamples);
  for (size_t i = 0; i < kResamples; ++i) {
    differences.push_back(median(after, middles_[1][i]) -
                          median(before, middles_[0][i]));
  }
  std::ranges::sort(differences);
  const double tail = (1 - confidence_) / 2;
  return {Quantile(differences, tail), Quantile(differences, 1 - tail)};
}

Delta MakeDelta(const std::optional<StepValues>& before,
                const std::optional<StepValues>& after, std::string unit,
                const MedianBootstrap* bootstrap) {
  Delta delta;
  delta.unit = std::move(unit);
  if (before.has_value() && before->size() > 0) delta.before = before->Median();
  if (after.has_value() && after->size() > 0) delta.after = after->Median();
  if (!delta.before.has_value() || !delta.after.has_value()) return delta;
  delta.difference = *delta.after - *delta.before;
  if (bootstrap == nullptr) return delta;
  const MedianBootstrap::Interval interval = bootstrap->Of(*before, *after);
  delta.low = interval.low;
  delta.high = interval.high;
  delta.significant = interval.low > 0 || interval.high < 0;
  return delta;
}

}  // namespace traza
