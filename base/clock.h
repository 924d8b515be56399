// SPDX-License-Identifier: Apache-2.0
#ifndef BASE_CLOCK_H_
#define BASE_CLOCK_H_

#include <cstdint>
#include <ctime>

#include "absl/time/time.h"

namespace traza {

// CLOCK_REALTIME in nanoseconds: the clock of every time stamp in a trace.
inline int64_t RealtimeNs() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

// The time as the daemon sees it. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual absl::Time Now() const = 0;

  // Time since an arbitrary start that nobody sets forward or back: for
  // deadlines. CLOCK_MONOTONIC unless overridden.
  virtual absl::Duration Monotonic() const;

  // The real one; lives for ever.
  static const Clock& Real();
};

}  // namespace traza

#endif  // BASE_CLOCK_H_
