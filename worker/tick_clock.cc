// SPDX-License-Identifier: Apache-2.0
#include "worker/tick_clock.h"

#include <time.h>

#include <cmath>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

#include "base/file.h"

namespace traza {
namespace {

constexpr int64_t kMaxProcBytes = 16 << 20;
constexpr char kClockSource[] =
    "/sys/devices/system/clocksource/clocksource0/current_clocksource";

int64_t MonotonicNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

bool HasReliableTsc() {
#ifdef __x86_64__
  const absl::StatusOr<std::string> source =
      ReadFile(kClockSource, kMaxProcBytes);
  if (!source.ok() || absl::StripAsciiWhitespace(*source) != "tsc") {
    return false;
  }
  const absl::StatusOr<std::string> cpu =
      ReadFile("/proc/cpuinfo", kMaxProcBytes);
  return cpu.ok() && absl::StrContains(*cpu, " constant_tsc") &&
         absl::StrContains(*cpu, " nonstop_tsc");
#else
  return false;
#endif
}

// The narrowest of a few readings.
int64_t WallClockOffsetNs() {
  int64_t best_gap = INT64_MAX;
  int64_t offset = 0;
  for (int i = 0; i < 4; ++i) {
    const int64_t before = MonotonicNs();
    const int64_t wall = RealtimeNs();
    const int64_t gap = MonotonicNs() - before;
    if (gap >= best_gap) continue;
    best_gap = gap;
    offset = wall - before - gap / 2;
  }
  return offset;
}

// The narrowest of a few readings: an interrupt in between would tilt the line.
TickMap::Pair TickMap::Read(const TickClock& clock) {
  Pair best;
  int64_t best_gap = INT64_MAX;
  for (int i = 0; i < 4; ++i) {
    const int64_t before = clock.Now();
    const int64_t ns = RealtimeNs();
    const int64_t gap = clock.Now() - before;
    if (gap >= best_gap) continue;
    best_gap = gap;
    best = {.ticks = before + gap / 2, .ns = ns};
  }
  return best;
}

void TickMap::Open(const TickClock& clock) { open_ = Read(clock); }

void TickMap::Close(const TickClock& clock) {
  const Pair close = Read(clock);
  const int64_t ticks = close.ticks - open_.ticks;
  if (ticks <= 0) return;
  ns_per_tick_ =
      static_cast<double>(close.ns - open_.ns) / static_cast<double>(ticks);
}

int64_t TickMap::ToRealtimeNs(int64_t ticks) const {
  const int64_t since_open = ticks - open_.ticks;
  if (ns_per_tick_ == 1) return open_.ns + since_open;
  // The difference is small enough for a double; the sum is not.
  return open_.ns +
         std::llround(static_cast<double>(since_open) * ns_per_tick_);
}

}  // namespace traza
