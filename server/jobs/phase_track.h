// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_JOBS_PHASE_TRACK_H_
#define SERVER_JOBS_PHASE_TRACK_H_

#include <cstdint>
#include <map>
#include <optional>

#include "absl/time/time.h"

#include "spec/job.h"
#include "spec/phase.h"
#include "spec/worker_message.h"

namespace traza {

// Follows a job through its phases. Times are those of Clock::Monotonic().
// Thread-compatible.
class PhaseTrack {
 public:
  explicit PhaseTrack(absl::Duration now) : entered_(now) {}

  // False when the phase does not come after the one that runs: then nothing
  // changes.
  [[nodiscard]] bool Enter(Phase phase, absl::Duration now) {
    if (phase == progress_.phase && !any_) {
      // The first phase runs from the start; its message only confirms it.
      any_ = true;
      return true;
    }
    if (phase <= progress_.phase) return false;
    any_ = true;
    Leave(now);
    progress_ = Progress{phase, 0, std::nullopt};
    entered_ = now;
    return true;
  }

  // Whether that changed anything. What an earlier phase still reports is
  // ignored; a later phase has not begun.
  bool Report(const StepsDone& steps) {
    if (steps.phase != progress_.phase || steps.done < progress_.done) {
      return false;
    }
    progress_.done = steps.done;
    progress_.total = steps.total;
    return true;
  }

  // Adds the time of the running phase.
  void Leave(absl::Duration now) { times_[progress_.phase] = now - entered_; }

  const Progress& progress() const { return progress_; }
  absl::Duration entered() const { return entered_; }
  const std::map<Phase, absl::Duration>& times() const { return times_; }

 private:
  Progress progress_;
  bool any_ = false;
  absl::Duration entered_;
  std::map<Phase, absl::Duration> times_;
};

}  // namespace traza

#endif  // SERVER_JOBS_PHASE_TRACK_H_
