// SPDX-License-Identifier: Apache-2.0
#include "trace/file/kineto_overhead.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "trace/record.h"

namespace traza {
namespace {

RawHostEvent Event(EventKind kind, int64_t start, int64_t end, int64_t thread) {
  return {.kind = kind,
          .start_ns = start,
          .end_ns = end,
          .process = 1,
          .thread = thread};
}

RawHostEvent Overhead(int64_t start, int64_t end) {
  RawHostEvent event = Event(EventKind::kOverhead, start, end, 0);
  event.process = kNull<int32_t>;
  event.thread = kNull<int64_t>;
  return event;
}

TEST(GiveOverheadItsThread, IsThatOfTheInnermostRecordAroundIt) {
  std::vector<RawHostEvent> events = {
      Overhead(20, 30), Event(EventKind::kOp, 0, 100, 7),
      Event(EventKind::kCall, 15, 40, 8), Event(EventKind::kOp, 10, 90, 9)};

  GiveOverheadItsThread(&events);

  EXPECT_EQ(events[0].thread, 8);
  EXPECT_EQ(events[0].process, 1);
}

TEST(GiveOverheadItsThread, WhatNothingEnclosesStaysOfNone) {
  std::vector<RawHostEvent> events = {
      Event(EventKind::kOp, 0, 25, 7), Overhead(20, 30),
      Event(EventKind::kOp, 21, 40, 7), Overhead(50, 60)};

  GiveOverheadItsThread(&events);

  EXPECT_EQ(events[1].thread, kNull<int64_t>);
  EXPECT_EQ(events[3].thread, kNull<int64_t>);
}

TEST(GiveOverheadItsThread, OneOfAThreadKeepsIt) {
  std::vector<RawHostEvent> events = {Event(EventKind::kOp, 0, 100, 7),
                                      Event(EventKind::kOverhead, 20, 30, 8)};

  GiveOverheadItsThread(&events);

  EXPECT_EQ(events[1].thread, 8);
}

// Not timed: a search without a bound would take hours.
TEST(GiveOverheadItsThread, ADeepNestOfManyEnds) {
  std::vector<RawHostEvent> events;
  constexpr int64_t kMany = 200'000;
  for (int64_t i = 0; i < kMany; ++i) {
    events.push_back(Event(EventKind::kOp, i, 4 * kMany - i, 7));
    events.push_back(Overhead(2 * kMany + i % 9, 2 * kMany + i % 9));
  }

  GiveOverheadItsThread(&events);

  EXPECT_EQ(events.size(), 2 * kMany);
}

}  // namespace
}  // namespace traza
