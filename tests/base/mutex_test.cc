// SPDX-License-Identifier: Apache-2.0
#include "base/mutex.h"

#include <thread>

#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "base/clock.h"

namespace traza {
namespace {

TEST(CondVar, WaitForEndsAtItsTimeout) {
  Mutex mu;
  CondVar changed;
  const absl::Duration start = Clock::Real().Monotonic();
  MutexLock lock(mu);

  // A wake-up for no reason is allowed, so only the last one counts.
  while (changed.WaitFor(mu, absl::Milliseconds(20))) {
  }

  EXPECT_GE(Clock::Real().Monotonic() - start, absl::Milliseconds(20));
}

TEST(CondVar, WaitForWakesOnASignalWithoutLimit) {
  Mutex mu;
  CondVar changed;
  bool ready = false;
  const std::jthread setter([&] {
    MutexLock lock(mu);
    ready = true;
    changed.SignalAll();
  });

  MutexLock lock(mu);
  while (!ready) {
    EXPECT_TRUE(changed.WaitFor(mu, absl::InfiniteDuration()));
  }

  EXPECT_TRUE(ready);
}

}  // namespace
}  // namespace traza
