// SPDX-License-Identifier: Apache-2.0
#include "api/convert_timeline.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace traza {
namespace {

TEST(ConvertTimeline, EveryFieldIsThere) {
  TimelineLane lane;
  lane.id = "stream/0/7";
  lane.kind = LaneKind::kStream;
  lane.title = "Stream 7 of device 0";
  lane.process = 1;
  lane.thread = 2;
  lane.device = 3;
  lane.stream = 4;
  lane.unit = "W";
  lane.max_depth = 5;
  lane.events = {{10, EventKind::kKernel, 0, 11, 12, 13, 14, 15}};
  lane.buckets = {{20, 21, 22, 23, 24, EventKind::kCopy, 1}};
  lane.samples = {{30, 1.5, 1, 2, 3}};
  Timeline timeline;
  timeline.start_ns = 40;
  timeline.end_ns = 41;
  timeline.trace_start_ns = 42;
  timeline.trace_end_ns = 43;
  timeline.bucket_ns = 44;
  timeline.lanes = {lane};
  timeline.names = {"gemm", "a\xff"};
  timeline.truncated = true;

  const v1::Timeline proto = ToProto(timeline);

  EXPECT_EQ(proto.ShortDebugString(),
            "start_ns: 40 end_ns: 41 trace_start_ns: 42 trace_end_ns: 43 "
            "bucket_ns: 44 lanes { id: \"stream/0/7\" kind: LANE_KIND_STREAM "
            "title: \"Stream 7 of device 0\" process: 1 thread: 2 device: 3 "
            "stream: 4 unit: \"W\" max_depth: 5 events { id: 10 kind: "
            "EVENT_KIND_KERNEL start_ns: 11 duration_ns: 12 depth: 13 op: 14 "
            "call: 15 } buckets { start_ns: 20 duration_ns: 21 depth: 22 "
            "count: 23 busy_ns: 24 kind: EVENT_KIND_COPY name_index: 1 } "
            "samples { time_ns: 30 mean: 1.5 min: 1 max: 2 count: 3 } } names: "
            "\"gemm\" names: \"a\\357\\277\\275\" truncated: true");
}

TEST(ConvertTimeline, WhatIsUnknownIsAbsent) {
  Timeline timeline;
  timeline.lanes.emplace_back();
  timeline.lanes[0].events.emplace_back();

  const v1::Timeline proto = ToProto(timeline);

  EXPECT_FALSE(proto.lanes(0).has_thread());
  EXPECT_FALSE(proto.lanes(0).has_device());
  EXPECT_FALSE(proto.lanes(0).events(0).has_op());
}

}  // namespace
}  // namespace traza
