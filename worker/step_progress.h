// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_STEP_PROGRESS_H_
#define WORKER_STEP_PROGRESS_H_

#include <atomic>
#include <cstdint>
#include <optional>

#include "spec/phase.h"

namespace traza {

// Hears how far a session is. OnPhase is called between steps; within a phase
// the session only counts, with one relaxed store a step, and whoever reports
// reads the counter from another thread.
class StepProgress {
 public:
  virtual ~StepProgress() = default;

  // A phase starts; the counter is reset. `total` steps are wanted, if that is
  // known.
  virtual void OnPhase(Phase phase, std::optional<int64_t> total) = 0;

  void set_done(int64_t steps) {
    done_.store(steps, std::memory_order_relaxed);
  }
  int64_t done() const { return done_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> done_{0};
};

}  // namespace traza

#endif  // WORKER_STEP_PROGRESS_H_
