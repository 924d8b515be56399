// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SUPPORT_WAIT_UNTIL_H_
#define TESTS_SUPPORT_WAIT_UNTIL_H_

#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "base/clock.h"

namespace traza {

// Whether `condition()` becomes true within `timeout`: the one place where
// tests poll. For what signals nobody, such as a process that goes away.
template <typename Condition>
[[nodiscard]] bool WaitUntil(Condition condition,
                             absl::Duration timeout = absl::Seconds(10)) {
  const absl::Duration deadline = Clock::Real().Monotonic() + timeout;
  while (!condition()) {
    if (Clock::Real().Monotonic() >= deadline) return false;
    absl::SleepFor(absl::Milliseconds(2));
  }
  return true;
}

}  // namespace traza

#endif  // TESTS_SUPPORT_WAIT_UNTIL_H_
