// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/timeline.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/error.h"
#include "tests/support/record_builder.h"
#include "trace/analysis/timeline_lanes.h"

namespace traza {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Timeline Make(const Trace& trace, const TimelineQuery& query = {}) {
  const absl::StatusOr<Timeline> timeline = MakeTimeline(trace, query);
  if (!timeline.ok()) {
    ADD_FAILURE() << timeline.status();
    return {};
  }
  return *timeline;
}

std::vector<std::string> LaneIds(const Timeline& timeline) {
  std::vector<std::string> ids;
  for (const TimelineLane& lane : timeline.lanes) ids.push_back(lane.id);
  return ids;
}

const TimelineLane& Lane(const Timeline& timeline, const std::string& id) {
  for (const TimelineLane& lane : timeline.lanes) {
    if (lane.id == id) return lane;
  }
  ADD_FAILURE() << "no lane " << id;
  static const TimelineLane none;
  return none;
}

// "gemm@0+10/1": name, start, duration, depth.
std::vector<std::string> Events(const Timeline& timeline,
                                const TimelineLane& lane) {
  std::vector<std::string> texts;
  for (const TimelineEvent& event : lane.events) {
    texts.push_back(absl::StrCat(timeline.names[event.name], "@",
                                 event.start_ns, "+", event.duration_ns, "/",
                                 event.depth));
  }
  return texts;
}

// "gemm@0+10/1 3x 7": also events and busy time.
std::vector<std::string> Buckets(const Timeline& timeline,
                                 const TimelineLane& lane) {
  std::vector<std::string> texts;
  for (const TimelineBucket& bucket : lane.buckets) {
    texts.push_back(absl::StrCat(timeline.names[bucket.name], "@",
                                 bucket.start_ns, "+", bucket.duration_ns, "/",
                                 bucket.depth, " ", bucket.count, "x ",
                                 bucket.busy_ns));
  }
  return texts;
}

std::string ViolationOf(const Trace& trace, const TimelineQuery& query) {
  const absl::StatusOr<Timeline> timeline = MakeTimeline(trace, query);
  if (timeline.ok()) return "made";
  EXPECT_EQ(timeline.status().code(), absl::StatusCode::kInvalidArgument);
  const auto details = DetailsOf(timeline.status());
  return details.has_value() && details->violations.size() == 1
             ? details->violations[0].field
             : "no violation";
}

Trace Small() {
  RecordBuilder builder;
  builder.InPhase(Phase::kTraced, 0, 1000)
      .Step(Phase::kTraced, 0, 0, 500)
      .Op("aten::mm", 100, 400)
      .Call("launch", 150, 200, 1)
      .Step(Phase::kTraced, 1, 500, 1000)
      .OnThread(7)
      .Op("backward", 600, 900)
      .Kernel("gemm", 300, 700, 1)
      .Counter("power_watts", 100, 300)
      .Counter("power_watts", 200, 500)
      .Alloc(50, 100, 0)
      .Alloc(150, 20, 0)
      .Alloc(700, -70, 0);
  return builder.Build();
}

TEST(Timeline, HasALaneForEachThreadStreamAndCounter) {
  const Timeline timeline = Make(Small());

  EXPECT_THAT(
      LaneIds(timeline),
      ElementsAre("steps", "thread/4242/7", "thread/4242/4242", "stream/0/7",
                  "counter/0/allocated", "counter/0/power_watts"));
  EXPECT_EQ(timeline.start_ns, 0);
  EXPECT_EQ(timeline.end_ns, 1000);
  EXPECT_EQ(timeline.bucket_ns, 1);
  const TimelineLane& thread = Lane(timeline, "thread/4242/7");
  EXPECT_EQ(thread.kind, LaneKind::kThread);
  EXPECT_EQ(thread.title, "Thread 7 of process 4242");
  EXPECT_EQ(thread.process, 4242);
  EXPECT_EQ(thread.thread, 7);
  EXPECT_EQ(thread.device, std::nullopt);
  const TimelineLane& stream = Lane(timeline, "stream/0/7");
  EXPECT_EQ(stream.kind, LaneKind::kStream);
  EXPECT_EQ(stream.device, 0);
  EXPECT_EQ(stream.stream, 7);
  EXPECT_EQ(Lane(timeline, "counter/0/power_watts").unit, "W");
}

TEST(Timeline, DepthIsHowManyEventsEncloseOne) {
  const Timeline timeline = Make(Small());

  const TimelineLane& steps = Lane(timeline, "steps");
  EXPECT_THAT(Events(timeline, steps),
              ElementsAre("traced@0+1000/0", "step@0+500/1", "step@500+500/1"));
  EXPECT_EQ(steps.max_depth, 1);
  const TimelineLane& thread = Lane(timeline, "thread/4242/4242");
  EXPECT_THAT(Events(timeline, thread),
              ElementsAre("aten::mm@100+300/0", "launch@150+50/1"));
}

TEST(Timeline, EventsPointToRowsOfTheTrace) {
  const Trace trace = Small();
  const Timeline timeline = Make(trace);

  const TimelineEvent& kernel = Lane(timeline, "stream/0/7").events.at(0);

  EXPECT_EQ(trace.kind[static_cast<size_t>(kernel.id)], EventKind::kKernel);
  ASSERT_TRUE(kernel.call.has_value());
  EXPECT_EQ(trace.name_of(static_cast<size_t>(*kernel.call)), "launch");
  ASSERT_TRUE(kernel.op.has_value());
  EXPECT_EQ(trace.name_of(static_cast<size_t>(*kernel.op)), "aten::mm");
}

TEST(Timeline, CountersAndAllocationsAreSamples) {
  TimelineQuery query;
  query.width = 2;  // pieces of 500 ns
  const Timeline timeline = Make(Small(), query);

  EXPECT_THAT(Lane(timeline, "counter/0/power_watts").samples,
              ElementsAre(TimelineSample{0, 400, 300, 500, 2}));
  EXPECT_THAT(Lane(timeline, "counter/0/allocated").samples,
              ElementsAre(TimelineSample{0, 110, 100, 120, 2},
                          TimelineSample{500, 50, 50, 50, 1}));
}

TEST(Timeline, NamesAreThereOnce) {
  const Timeline timeline = Make(Small());

  EXPECT_THAT(timeline.names,
              testing::UnorderedElementsAre("traced", "step", "backward",
                                            "aten::mm", "launch", "gemm"));
}

// Width 2 of 1000 ns: pieces of 500 ns.
TEST(Timeline, ShortEventsAreMergedIntoBuckets) {
  const Trace trace = RecordBuilder()
                          .InPhase(Phase::kTraced, 0, 1000)
                          .Op("a", 0, 100)
                          .Op("b", 100, 150)
                          .Op("b", 200, 300)
                          .Op("c", 400, 900)
                          .Op("d", 450, 460)
                          .Op("d", 950, 1000)
                          .Build();
  TimelineQuery query;
  query.width = 2;

  const Timeline timeline = Make(trace, query);

  EXPECT_EQ(timeline.bucket_ns, 500);
  const TimelineLane& lane = Lane(timeline, "thread/4242/4242");
  EXPECT_THAT(Events(timeline, lane), ElementsAre("c@400+500/0"));
  // a takes 100 of 250 ns, b 150.
  EXPECT_THAT(
      Buckets(timeline, lane),
      ElementsAre("b@0+300/0 3x 250", "d@450+10/1 1x 10", "d@950+50/0 1x 50"));
}

TEST(Timeline, WidthOneIsOneBucketADepth) {
  TimelineQuery query;
  query.width = 1;

  const Timeline timeline = Make(Small(), query);

  EXPECT_EQ(timeline.bucket_ns, 1000);
  EXPECT_THAT(Events(timeline, Lane(timeline, "steps")),
              ElementsAre("traced@0+1000/0"));
  EXPECT_THAT(Buckets(timeline, Lane(timeline, "steps")),
              ElementsAre("step@0+1000/1 2x 1000"));
  EXPECT_THAT(Buckets(timeline, Lane(timeline, "stream/0/7")),
              ElementsAre("gemm@300+400/0 1x 400"));
}

TEST(Timeline, APartShowsWhatReachesIntoIt) {
  TimelineQuery query;
  query.start_ns = 420;
  query.end_ns = 620;

  const Timeline timeline = Make(Small(), query);

  EXPECT_EQ(timeline.start_ns, 420);
  EXPECT_EQ(timeline.end_ns, 620);
  EXPECT_EQ(timeline.trace_end_ns, 1000);
  EXPECT_THAT(Lane(timeline, "thread/4242/4242").events, IsEmpty());
  EXPECT_THAT(Events(timeline, Lane(timeline, "stream/0/7")),
              ElementsAre("gemm@300+400/0"));
  EXPECT_THAT(Events(timeline, Lane(timeline, "thread/4242/7")),
              ElementsAre("backward@600+300/0"));
  // What is not shown counts for the depth, or it would change with the part.
  EXPECT_EQ(Lane(timeline, "thread/4242/4242").max_depth, 1);
}

TEST(Timeline, APartBeyondTheTraceIsCut) {
  TimelineQuery query;
  query.start_ns = std::numeric_limits<int64_t>::min();
  query.end_ns = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(Make(Small(), query).end_ns, 1000);
  EXPECT_EQ(Make(Small(), query).start_ns, 0);

  query.start_ns = 5000;
  const Timeline beyond = Make(Small(), query);
  EXPECT_EQ(beyond.start_ns, 1000);
  EXPECT_EQ(beyond.end_ns, 1000);
  for (const TimelineLane& lane : beyond.lanes) {
    EXPECT_THAT(lane.events, IsEmpty());
    EXPECT_THAT(lane.buckets, IsEmpty());
  }
}

TEST(Timeline, OnlyTheLanesThatAreAskedFor) {
  TimelineQuery query;
  query.lanes = {"stream/0/7", "steps", "steps"};

  EXPECT_THAT(LaneIds(Make(Small(), query)),
              ElementsAre("steps", "stream/0/7"));
}

TEST(Timeline, WhatMakesNoSenseIsRefused) {
  TimelineQuery narrow;
  narrow.width = 0;
  TimelineQuery wide;
  wide.width = kMaxTimelineWidth + 1;
  TimelineQuery reversed;
  reversed.start_ns = 10;
  reversed.end_ns = 9;
  TimelineQuery many;
  many.lanes.assign(kMaxTimelineLanes + 1, "steps");
  TimelineQuery unknown;
  unknown.lanes = {"stream/0/8"};

  EXPECT_EQ(ViolationOf(Small(), narrow), "width");
  EXPECT_EQ(ViolationOf(Small(), wide), "width");
  EXPECT_EQ(ViolationOf(Small(), reversed), "end_ns");
  EXPECT_EQ(ViolationOf(Small(), many), "lanes");
  EXPECT_EQ(ViolationOf(Small(), unknown), "lanes");
  EXPECT_THAT(std::string(MakeTimeline(Small(), unknown).status().message()),
              HasSubstr("it has: steps, thread/4242/7, thread/4242/4242, "));
}

TEST(Timeline, AnEmptyTraceHasNoLanes) {
  const Timeline timeline = Make(Trace());

  EXPECT_THAT(timeline.lanes, IsEmpty());
  EXPECT_EQ(timeline.start_ns, 0);
  EXPECT_EQ(timeline.end_ns, 0);
  EXPECT_EQ(timeline.bucket_ns, 1);
  TimelineQuery query;
  query.lanes = {"steps"};
  EXPECT_EQ(ViolationOf(Trace(), query), "lanes");
}

TEST(Timeline, OneEventWithoutDurationIsShown) {
  const Timeline timeline = Make(RecordBuilder().Op("aten::mm", 5, 5).Build());

  EXPECT_EQ(timeline.start_ns, timeline.end_ns);
  EXPECT_THAT(Buckets(timeline, timeline.lanes.at(0)),
              ElementsAre("aten::mm@5+0/0 1x 0"));
}

TEST(Timeline, KernelsThatOverlapGetDepthsOfTheirOwn) {
  const Trace trace = RecordBuilder()
                          .Kernel("a", 0, 100, 1)
                          .Kernel("b", 90, 200, 2)
                          .Kernel("c", 150, 160, 3)
                          .Kernel("d", 200, 300, 4)
                          .Build();

  const Timeline timeline = Make(trace);

  EXPECT_THAT(
      Events(timeline, Lane(timeline, "stream/0/7")),
      ElementsAre("a@0+100/0", "b@90+110/1", "c@150+10/0", "d@200+100/0"));
}

TEST(Timeline, BarsOfOneDepthNeverOverlap) {
  RecordBuilder builder;
  Noise noise;
  for (int i = 0; i < 3000; ++i) {
    const int64_t start = noise.Around(40'000);
    builder.Op(absl::StrCat("op", i % 7), start, start + noise.Around(600))
        .Kernel("k", start, start + noise.Around(90), i);
  }
  TimelineQuery query;
  query.width = 200;

  const Timeline timeline = Make(builder.Build(), query);

  size_t bars = 0;
  for (const TimelineLane& lane : timeline.lanes) {
    std::vector<std::pair<std::pair<int32_t, int64_t>, int64_t>> spans;
    for (const TimelineEvent& event : lane.events) {
      spans.push_back(
          {{event.depth, event.start_ns}, event.start_ns + event.duration_ns});
      EXPECT_LE(event.depth, lane.max_depth);
    }
    for (const TimelineBucket& bucket : lane.buckets) {
      spans.push_back({{bucket.depth, bucket.start_ns},
                       bucket.start_ns + bucket.duration_ns});
      EXPECT_LE(bucket.busy_ns, bucket.duration_ns);
    }
    std::ranges::sort(spans);
    for (size_t i = 1; i < spans.size(); ++i) {
      if (spans[i].first.first != spans[i - 1].first.first) continue;
      EXPECT_GE(spans[i].first.second, spans[i - 1].second);
    }
    bars += spans.size();
  }
  EXPECT_GT(bars, 1000u);
}

TEST(Timeline, NoEventIsLostInBuckets) {
  const Trace trace = MakeGpuTrace(500);
  for (const int32_t width : {1, 10, 1000, 10'000}) {
    TimelineQuery query;
    query.width = width;
    int64_t count = 0;
    for (const TimelineLane& lane : Make(trace, query).lanes) {
      count += static_cast<int64_t>(lane.events.size());
      for (const TimelineBucket& bucket : lane.buckets) count += bucket.count;
    }
    EXPECT_EQ(count, static_cast<int64_t>(trace.rows())) << width;
  }
}

TEST(Timeline, WhatDoesNotFitIsLeftOutShortestFirst) {
  TimelineQuery query;
  query.max_bytes = 1000;

  const Timeline timeline = Make(Small(), query);

  EXPECT_TRUE(timeline.truncated);
  EXPECT_THAT(LaneIds(timeline), SizeIs(6));
  EXPECT_THAT(Events(timeline, Lane(timeline, "steps")),
              testing::Contains("traced@0+1000/0"));
  EXPECT_THAT(Lane(timeline, "counter/0/power_watts").samples, IsEmpty());
}

TEST(Timeline, LongAndMalformedNamesAreCut) {
  const std::string name = absl::StrCat(std::string(100'000, 'k'), "\xff");
  const Trace trace = RecordBuilder()
                          .Kernel(name, 0, 100, 1)
                          .Counter("a\xff", 10, 1)
                          .Counter(name, 20, 1)
                          .Build();

  const Timeline timeline = Make(trace);

  EXPECT_THAT(timeline.names, ElementsAre(std::string(256, 'k')));
  EXPECT_THAT(LaneIds(timeline), SizeIs(3));
  for (const TimelineLane& lane : timeline.lanes) {
    EXPECT_LT(lane.id.size(), 300u);
    TimelineQuery query;
    query.lanes = {lane.id};
    EXPECT_THAT(LaneIds(Make(trace, query)), ElementsAre(lane.id));
  }
}

TEST(Timeline, ManyLanesAreCut) {
  RecordBuilder builder;
  for (int i = 0; i < 2000; ++i) builder.OnThread(i).Op("a", i, i + 1);

  const Timeline timeline = Make(builder.Build());

  EXPECT_TRUE(timeline.truncated);
  EXPECT_THAT(timeline.lanes, SizeIs(kMaxTimelineLanes));
}

TEST(Timeline, ValuesThatAreNoNumbersAreNotShown) {
  const Timeline timeline = Make(
      RecordBuilder()
          .Counter("power_watts", 10, 1e308)
          .Counter("power_watts", 10, 1e308)
          .Counter("power_watts", 11, std::numeric_limits<double>::infinity())
          .Build());

  EXPECT_THAT(timeline.lanes.at(0).samples,
              ElementsAre(TimelineSample{10, 1e308, 1e308, 1e308, 2}));
}

// A search for the depth that looks at all that are busy would take minutes.
TEST(Timeline, EventsThatAllCrossStayFast) {
  RecordBuilder builder;
  constexpr int kEvents = 200'000;
  for (int i = 0; i < kEvents; ++i) builder.Kernel("k", i, i + kEvents, i);

  TimelineQuery query;
  query.width = 10'000;
  const Timeline timeline = Make(builder.Build(), query);

  EXPECT_EQ(timeline.lanes.at(0).max_depth, kEvents - 1);
  EXPECT_TRUE(timeline.truncated);
}

TEST(DepthFinder, TakesTheLowestThatIsFree) {
  DepthFinder depths;
  EXPECT_EQ(depths.Next(0, 100), 0);
  EXPECT_EQ(depths.Next(10, 50), 1);
  EXPECT_EQ(depths.Next(20, 30), 2);
  EXPECT_EQ(depths.Next(30, 40), 2);
  EXPECT_EQ(depths.Next(60, 120), 1);
  EXPECT_EQ(depths.Next(100, 110), 0);
  EXPECT_EQ(depths.max_depth(), 2);
}

}  // namespace
}  // namespace traza
