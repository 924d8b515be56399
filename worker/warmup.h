// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_WARMUP_H_
#define WORKER_WARMUP_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "spec/job_spec.h"
#include "trace/header.h"

namespace traza {

// Decides how long steps are repeated before they are measured.
//
// A fixed warm-up runs its number of steps. An automatic one runs at least 3,
// until the middle half of the last 8 agrees or its time is over: 20 ms for
// steps below 1 ms, which are bound by launches and have nothing to warm for
// longer, 500 ms for others, whose clocks rise under load. The time starts
// after the first step.
//
// Thread-compatible.
class WarmupSteps {
 public:
  // On a CPU the steps agree within 10 %, on a GPU within 2 %: a CPU's clock
  // and neighbours move more.
  WarmupSteps(const Warmup& warmup, bool on_cpu);

  bool wants_more() const { return wants_more_; }
  // The steps that are wanted in all; absent when that is not known.
  std::optional<int64_t> total() const;

  // Adds a step that has run. One in which the device had to find memory is not
  // warm: the 8 that have to agree begin behind it.
  void Add(int64_t step_ns, bool allocated = false);

  const WarmupResult& result() const { return result_; }
  // Median of the last 8 steps (of all below that); 0 without any.
  int64_t median_ns() const;

 private:
  double Spread() const;
  void Judge();

  const Warmup warmup_;
  const double tolerance_;
  bool wants_more_;
  int64_t elapsed_ns_ = 0;
  std::vector<int64_t> last_;  // at most 8, oldest first
  WarmupResult result_;
};

}  // namespace traza

#endif  // WORKER_WARMUP_H_
