// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_TICK_CLOCK_H_
#define WORKER_TICK_CLOCK_H_

#include <cstdint>

#ifdef __x86_64__
#include <x86intrin.h>
#endif

#include "base/clock.h"

namespace traza {

// Whether the processor's time stamp counter can be used as a clock: it runs
// at one rate on all cores and in all power states, and the kernel keeps time
// by it. Reads /proc and /sys: ask once.
bool HasReliableTsc();

// CLOCK_REALTIME minus CLOCK_MONOTONIC, which is never set: it moves only when
// the wall clock is set, since both are slewed alike.
int64_t WallClockOffsetNs();

// Where time stamps of the hot path come from. The counter costs 10 ns to read,
// CLOCK_REALTIME 25; an operator takes two.
class TickClock {
 public:
  explicit TickClock(bool tsc) : tsc_(tsc) {}

  // Ticks since some moment; nanoseconds of CLOCK_REALTIME without a counter.
  int64_t Now() const {
#ifdef __x86_64__
    if (tsc_) return static_cast<int64_t>(__rdtsc());
#endif
    return RealtimeNs();
  }

 private:
  bool tsc_;
};

// Turns the ticks of a window into CLOCK_REALTIME by the straight line through
// its two ends. Keeps their order, so that what nested in ticks still nests.
// Between the ends the clock may be slewed: by 1 us a second for each ppm that
// the rate changes within the window.
class TickMap {
 public:
  void Open(const TickClock& clock);
  void Close(const TickClock& clock);
  int64_t ToRealtimeNs(int64_t ticks) const;

 private:
  // Both clocks at one moment.
  struct Pair {
    int64_t ticks = 0;
    int64_t ns = 0;
  };
  static Pair Read(const TickClock& clock);

  Pair open_;
  double ns_per_tick_ = 1;
};

// The clock of one window: whatever is recorded on this side (steps,
// operators, API calls) is stamped with it, so that all of it nests. The
// session opens and closes it; whoever records, reads it.
class WindowClock {
 public:
  WindowClock() : clock_(HasReliableTsc()) {}

  const TickClock& ticks() const { return clock_; }
  int64_t Now() const { return clock_.Now(); }

  void Open() { map_.Open(clock_); }
  void Close() { map_.Close(clock_); }

  // Right for the ticks of the last window, once it is closed.
  const TickMap& map() const { return map_; }
  int64_t ToRealtimeNs(int64_t ticks) const { return map_.ToRealtimeNs(ticks); }

 private:
  TickClock clock_;
  TickMap map_;
};

}  // namespace traza

#endif  // WORKER_TICK_CLOCK_H_
