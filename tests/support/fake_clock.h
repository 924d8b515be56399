// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SUPPORT_FAKE_CLOCK_H_
#define TESTS_SUPPORT_FAKE_CLOCK_H_

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"

#include "base/clock.h"
#include "base/mutex.h"

namespace traza {

// A clock that stands still until a test advances it. Thread-safe.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(absl::Time now = absl::FromUnixSeconds(1'767'225'600))
      : now_(now) {}

  absl::Time Now() const override ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(mu_);
    return now_;
  }
  absl::Duration Monotonic() const override ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(mu_);
    return monotonic_;
  }

  void Advance(absl::Duration by) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(mu_);
    now_ += by;
    monotonic_ += by;
  }

  // Sets the date, as an administrator would: Monotonic() does not move.
  void SetNow(absl::Time now) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(mu_);
    now_ = now;
  }

 private:
  mutable Mutex mu_;
  absl::Time now_ ABSL_GUARDED_BY(mu_);
  absl::Duration monotonic_ ABSL_GUARDED_BY(mu_) = absl::Hours(1);
};

}  // namespace traza

#endif  // TESTS_SUPPORT_FAKE_CLOCK_H_
