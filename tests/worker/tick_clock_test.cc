// SPDX-License-Identifier: Apache-2.0
#include "worker/tick_clock.h"

#include <vector>

#include "gtest/gtest.h"

#include "base/clock.h"

namespace traza {
namespace {

// With the counter where this machine has a reliable one, and without.
class TickMapOnAnyClock : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam() && !HasReliableTsc()) {
      GTEST_SKIP() << "this machine keeps time by another clock";
    }
  }

  const TickClock clock_{GetParam()};
  TickMap map_;
};

TEST_P(TickMapOnAnyClock, PutsAMomentBetweenTheReadingsAroundIt) {
  map_.Open(clock_);
  const int64_t before_ns = RealtimeNs();
  const int64_t ticks = clock_.Now();
  const int64_t after_ns = RealtimeNs();
  map_.Close(clock_);

  // The ends of the line are read to within an interrupt-free reading.
  constexpr int64_t kReadingNs = 1000;
  EXPECT_GE(map_.ToRealtimeNs(ticks), before_ns - kReadingNs);
  EXPECT_LE(map_.ToRealtimeNs(ticks), after_ns + kReadingNs);
}

TEST_P(TickMapOnAnyClock, KeepsTheOrder) {
  map_.Open(clock_);
  std::vector<int64_t> ticks;
  for (int i = 0; i < 1000; ++i) ticks.push_back(clock_.Now());
  map_.Close(clock_);

  for (size_t i = 1; i < ticks.size(); ++i) {
    ASSERT_LE(map_.ToRealtimeNs(ticks[i - 1]), map_.ToRealtimeNs(ticks[i]));
  }
}

INSTANTIATE_TEST_SUITE_P(Clocks, TickMapOnAnyClock, ::testing::Bool());

TEST(TickMap, WithoutAWindowTicksAreNanoseconds) {
  EXPECT_EQ(TickMap().ToRealtimeNs(1234), 1234);
}

}  // namespace
}  // namespace traza
