// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include "absl/time/clock.h"

namespace traza {
namespace {

class RealClock final : public Clock {
 public:
  absl::Time Now() const override { return absl::Now(); }
};

}  // namespace

absl::Duration Clock::Monotonic() const {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return absl::DurationFromTimespec(now);
}

const Clock& Clock::Real() {
  // Never deleted: threads may ask for the time while the process ends.
  static const Clock& clock = *new RealClock;
  return clock;
}

}  // namespace traza
