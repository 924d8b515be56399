// SPDX-License-Identifier: Apache-2.0
#include "worker/warmup.h"

#include <algorithm>

namespace traza {
namespace {

constexpr int64_t kMinSteps = 3;
constexpr size_t kAgreeing = 8;
constexpr double kCpuTolerance = 0.10;
constexpr double kGpuTolerance = 0.02;
constexpr int64_t kShortStepNs = 1'000'000;
constexpr int64_t kShortCapNs = 20'000'000;
constexpr int64_t kLongCapNs = 500'000'000;

}  // namespace

WarmupSteps::WarmupSteps(const Warmup& warmup, bool on_cpu)
    : warmup_(warmup),
      tolerance_(on_cpu ? kCpuTolerance : kGpuTolerance),
      wants_more_(warmup.automatic || warmup.steps > 0) {
  result_.checked = warmup.automatic;
  last_.reserve(kAgreeing);
}

std::optional<int64_t> WarmupSteps::total() const {
  if (warmup_.automatic) return std::nullopt;
  return warmup_.steps;
}

int64_t WarmupSteps::median_ns() const {
  if (last_.empty()) return 0;
  std::vector<int64_t> sorted = last_;
  std::ranges::sort(sorted);
  return sorted[sorted.size() / 2];
}

// Of the middle half: one disturbed step in eight says nothing about warmth.
double WarmupSteps::Spread() const {
  std::vector<int64_t> sorted = last_;
  std::ranges::sort(sorted);
  const size_t quarter = sorted.size() / 4;
  return static_cast<double>(sorted[sorted.size() - 1 - quarter] -
                             sorted[quarter]) /
         static_cast<double>(std::max<int64_t>(median_ns(), 1));
}

void WarmupSteps::Add(int64_t step_ns, bool allocated) {
  if (last_.size() == kAgreeing) last_.erase(last_.begin());
  if (allocated) {
    last_.clear();
    result_.spread.reset();
  }
  last_.push_back(step_ns);
  // The first step of a process loads what the others use: it may take longer
  // than the time that all have.
  if (result_.steps > 0) elapsed_ns_ += step_ns;
  ++result_.steps;
  if (last_.size() == kAgreeing) result_.spread = Spread();
  if (warmup_.automatic) {
    Judge();
  } else {
    wants_more_ = result_.steps < warmup_.steps;
  }
}

void WarmupSteps::Judge() {
  result_.steady = result_.spread && *result_.spread <= tolerance_;
  const int64_t cap = median_ns() < kShortStepNs ? kShortCapNs : kLongCapNs;
  result_.cap_hit = !result_.steady && elapsed_ns_ >= cap;
  wants_more_ =
      result_.steps < kMinSteps || (!result_.steady && !result_.cap_hit);
}

}  // namespace traza
