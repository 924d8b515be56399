// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/device_verdict.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/record_builder.h"

namespace traza {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Key;
using testing::Not;

VerdictSide Side(double busy, double waiting, double late_launches) {
  VerdictSide side;
  side.busy = busy;
  side.waiting = waiting;
  side.late_launches = late_launches;
  return side;
}

TEST(Decide, WaitingForHalfOfTheTimeIsOverheadBound) {
  EXPECT_EQ(Decide(Side(0.3, 0.5, 1)), VerdictKind::kOverheadBound);
  EXPECT_EQ(Decide(Side(0.3, 0.49, 1)), VerdictKind::kMixed);
}

TEST(Decide, TheMedianLaunchDecides) {
  EXPECT_EQ(Decide(Side(0.1, 0.6, 0.5)), VerdictKind::kOverheadBound);
  EXPECT_EQ(Decide(Side(0.1, 0.6, 0.49)), VerdictKind::kMixed);
  EXPECT_EQ(Decide(Side(0.85, 0.05, 0.49)), VerdictKind::kGpuBound);
  EXPECT_EQ(Decide(Side(0.85, 0.05, 0.5)), VerdictKind::kMixed);
}

TEST(Decide, AClearShareDecidesWhateverTheMedianLaunch) {
  VerdictSide waiting = Side(0.0015, 0.9, 0.41);
  EXPECT_EQ(Decide(waiting), VerdictKind::kOverheadBound);
  EXPECT_TRUE(IsAgainstLaunches(waiting));
  waiting.sync_part = 0.9;
  EXPECT_EQ(Decide(waiting), VerdictKind::kSyncBound);
  waiting.waiting = 0.89;
  EXPECT_EQ(Decide(waiting), VerdictKind::kMixed);

  VerdictSide busy = Side(0.9, 0.05, 1);
  EXPECT_EQ(Decide(busy), VerdictKind::kGpuBound);
  EXPECT_TRUE(IsAgainstLaunches(busy));
  busy.memory_bound = true;
  EXPECT_EQ(Decide(busy), VerdictKind::kMemoryBound);
  busy.late_launches = 0.1;
  EXPECT_FALSE(IsAgainstLaunches(busy));
}

TEST(Decide, MostlySynchronisingIsSyncBound) {
  VerdictSide side = Side(0.1, 0.8, 1);
  side.sync_part = 0.51;
  EXPECT_EQ(Decide(side), VerdictKind::kSyncBound);
  side.sync_part = 0.5;
  EXPECT_EQ(Decide(side), VerdictKind::kOverheadBound);
}

TEST(Decide, CopiesForHalfOfTheTimeAreCopyBound) {
  VerdictSide side = Side(0.95, 0, 0);
  side.copies = 0.5;
  EXPECT_EQ(Decide(side), VerdictKind::kCopyBound);
}

TEST(Decide, ABusyDeviceIsComputeBoundByItsMatrixKernels) {
  VerdictSide side = Side(0.8, 0.1, 0);
  side.matrix = 0.69;
  EXPECT_EQ(Decide(side), VerdictKind::kGpuBound);
  side.matrix = 0.7;
  EXPECT_EQ(Decide(side), VerdictKind::kComputeBound);
  side.busy = 0.79;
  EXPECT_EQ(Decide(side), VerdictKind::kMixed);
}

TEST(Decide, WithoutLaunchesOnlyABusyDeviceIsClear) {
  VerdictSide side;
  side.busy = 0.9;
  EXPECT_EQ(Decide(side), VerdictKind::kGpuBound);
  side.busy = 0.2;
  EXPECT_EQ(Decide(side), std::nullopt);
}

// Thirty steps: a call, and a kernel of `length` ns that starts 8 us later or
// when the one before it is done.
Trace KernelTrace(const char* name, int64_t length, int64_t step,
                  int64_t timed_step) {
  RecordBuilder builder;
  int64_t free = 0;
  for (int i = 0; i < 30; ++i) {
    const int64_t at = i * step;
    const int64_t start = std::max(free + 1'000, at + 9'000);
    free = start + length;
    builder.Step(Phase::kTraced, i, at, at + step - 100)
        .Op("aten::mm", at + 500, at + step - 500)
        .Call("cuLaunchKernel", at + 1'000, at + 5'000, i + 1)
        .Kernel(name, start, free, i + 1);
  }
  Header header = MakeGpuTrace(1).header;
  header.job.traced_steps = 30;
  header.timed.batch_ns.assign(30, timed_step);
  return builder.Build(std::move(header));
}

TEST(DeviceVerdict, ShortKernelsAreOverheadBound) {
  const Answer answer = Explain(KernelTrace("nvjet", 2'000, 20'000, 19'000));

  ASSERT_TRUE(answer.verdict.has_value());
  const Verdict& verdict = *answer.verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kOverheadBound);
  EXPECT_EQ(verdict.summary,
            "The device works 10.0 % of the time (10.5 % untraced) and waits "
            "for the host 90.0 % (89.5 % untraced); 30 of 30 launches came too "
            "late to keep their stream busy.");
  EXPECT_NEAR(verdict.numbers.at("device_busy").value, 0.1, 0.001);
  EXPECT_EQ(verdict.numbers.at("device_busy").denominator, "window");
  EXPECT_NEAR(verdict.numbers.at("device_busy_untraced").value, 2. / 19, 0.001);
  EXPECT_EQ(verdict.numbers.at("overhead_bound_from").value, 0.5);
  EXPECT_EQ(verdict.numbers.at("device_busy_per_step").value, 2'000);
  for (const auto& [name, number] : verdict.numbers) {
    EXPECT_EQ(number.unit == "ratio", !number.denominator.empty()) << name;
  }
}

TEST(DeviceVerdict, LongMatrixKernelsAreComputeBoundByTheirNames) {
  const Answer answer = Explain(KernelTrace("nvjet", 190'000, 20'000, 192'000));

  EXPECT_EQ(answer.verdict->kind, VerdictKind::kComputeBound);
  EXPECT_DOUBLE_EQ(answer.verdict->confidence, 0.8);
  EXPECT_THAT(answer.verdict->reasons,
              ElementsAre(HasSubstr("neither FLOP nor bytes are known")));
  EXPECT_THAT(answer.verdict->summary, HasSubstr("29 of 30 launches were "
                                                 "queued"));
}

TEST(DeviceVerdict, OtherLongKernelsAreGpuBound) {
  const Answer answer =
      Explain(KernelTrace("elementwise", 190'000, 20'000, 192'000));

  EXPECT_EQ(answer.verdict->kind, VerdictKind::kGpuBound);
  EXPECT_DOUBLE_EQ(answer.verdict->confidence, 1);
}

TEST(DeviceVerdict, TracedAndUntracedSidesMustAgree) {
  // As traced the device waits for 60 % of a step; in 8 us it would work all
  // the time.
  const Answer answer = Explain(KernelTrace("nvjet", 8'000, 20'000, 8'000));

  EXPECT_EQ(answer.verdict->kind, VerdictKind::kMixed);
  EXPECT_DOUBLE_EQ(answer.verdict->confidence, 0.5);
  EXPECT_THAT(answer.verdict->reasons[0], HasSubstr("perturbed"));
}

TEST(DeviceVerdict, IsLessSureWhereTracingSlowsDown) {
  const Answer answer = Explain(KernelTrace("nvjet", 2'000, 20'000, 15'000));

  EXPECT_EQ(answer.verdict->kind, VerdictKind::kOverheadBound);
  EXPECT_DOUBLE_EQ(answer.verdict->confidence, 0.9);
  EXPECT_THAT(answer.verdict->reasons,
              ElementsAre(HasSubstr("tracing adds 33.3 % to a step")));
}

TEST(DeviceVerdict, WithoutATimedPassTheTracedNumbersDecide) {
  Trace trace = KernelTrace("nvjet", 2'000, 20'000, 19'000);
  trace.header.timed = {};

  const Answer answer = Explain(trace);

  EXPECT_EQ(answer.verdict->kind, VerdictKind::kOverheadBound);
  EXPECT_THAT(answer.verdict->summary, Not(HasSubstr("untraced")));
  EXPECT_EQ(answer.verdict->numbers.count("device_busy_untraced"), 0u);
  EXPECT_THAT(answer.verdict->reasons[0], HasSubstr("no untraced step time"));
}

TEST(DeviceVerdict, WhatADeviceWaitedForNeedsCalls) {
  RecordBuilder builder;
  builder.InPhase(Phase::kTraced, 0, 1'000'000);
  for (int i = 0; i < 30; ++i) {
    builder.Step(Phase::kTraced, i, i * 1'000, i * 1'000 + 900)
        .Kernel("k", i * 1'000 + 500, i * 1'000 + 600, i);
  }
  Header header = MakeGpuTrace(1).header;
  header.job.depth = Depth::kKernels;
  header.job.traced_steps = 30;

  const Answer answer = Explain(builder.Build(std::move(header)));

  EXPECT_FALSE(answer.verdict.has_value());
  EXPECT_THAT(answer.note, HasSubstr("launches were not recorded"));
  EXPECT_THAT(answer.note, HasSubstr("--depth launches"));
}

TEST(DeviceVerdict, TheDeviceThatWorksLongestDecides) {
  RecordBuilder builder;
  for (int i = 0; i < 30; ++i) {
    const int64_t at = i * 1'000;
    builder.Step(Phase::kTraced, i, at, at + 950)
        .Call("cuLaunchKernel", at, at + 50, 2 * i)
        .Call("cuLaunchKernel", at + 60, at + 90, 2 * i + 1)
        .OnDevice(0)
        .Kernel("k", at + 100, at + 110, 2 * i)
        .OnDevice(1)
        .Kernel("k", at + 100, at + 200, 2 * i + 1);
  }
  Header header = MakeGpuTrace(1).header;
  header.timed = {};

  const Answer answer = Explain(builder.Build(std::move(header)));

  EXPECT_THAT(answer.verdict->summary, HasSubstr("Device 1"));
}

// A storm: a call every 6 us, and 8 us later a kernel of 1 us. So each is
// called before the one ahead has begun, and the device waits for it all the
// same.
TEST(DeviceVerdict, ShortKernelsAreOverheadBoundWhereTheirLaunchesOverlap) {
  RecordBuilder builder;
  for (int i = 0; i < 30; ++i) {
    const int64_t at = i * 100'000;
    builder.Step(Phase::kTraced, i, at, at + 99'000);
    for (int j = 0; j < 16; ++j) {
      const int id = i * 16 + j;
      const int64_t called = at + j * 6'000;
      builder.Call("cuLaunchKernel", called, called + 5'000, id)
          .Kernel("k", called + 8'000, called + 9'000, id);
    }
  }
  Header header = MakeGpuTrace(1).header;
  header.timed = {};

  const Answer answer = Explain(builder.Build(std::move(header)));

  ASSERT_TRUE(answer.verdict.has_value());
  EXPECT_EQ(answer.verdict->kind, VerdictKind::kOverheadBound);
  EXPECT_DOUBLE_EQ(answer.verdict->numbers.at("late_launches").value, 1);
}

// The only kernel on an idle stream loads its code for 40 ms; the others queue
// behind each other for milliseconds.
TEST(DeviceVerdict, OneSlowLaunchMakesNoOtherLate) {
  RecordBuilder builder;
  int64_t free = 41'000'000;
  for (int i = 0; i < 30; ++i) {
    const int64_t at = i * 500'000;
    builder.Step(Phase::kTraced, i, at, at + 499'000)
        .Call("cuLaunchKernel", at + 1'000, at + 5'000, i + 1)
        .Kernel("k", free + 1'000, free + 1'000'000, i + 1);
    free += 1'000'000;
  }
  Header header = MakeGpuTrace(1).header;
  header.timed = {};

  const Answer answer = Explain(builder.Build(std::move(header)));

  EXPECT_EQ(answer.breakdown[0].launches->late, 1);
  EXPECT_EQ(answer.breakdown[0].idle_classes.kernel_gap_ns, 29 * 1'000);
}

TEST(DeviceVerdict, FillsAreNoCopiesThatSayHowFastTheyAre) {
  RecordBuilder builder;
  for (int i = 0; i < 30; ++i) {
    const int64_t at = i * 100'000;
    builder.Step(Phase::kTraced, i, at, at + 99'000)
        .Call("cudaMemsetAsync", at, at + 2'000, 2 * i)
        .Call("cudaMemcpyAsync", at + 2'000, at + 3'000, 2 * i + 1)
        .Device(EventKind::kFill, "Memset (Device)", at + 5'000, at + 90'000,
                2 * i)
        .Copy("Memcpy DtoH (Device -> Pinned)", at + 91'000, at + 93'000,
              2 * i + 1, 4, "dtoh");
  }
  Header header = MakeGpuTrace(1).header;
  header.timed = {};

  const Verdict verdict = *Explain(builder.Build(std::move(header))).verdict;

  EXPECT_EQ(verdict.kind, VerdictKind::kCopyBound);
  EXPECT_THAT(verdict.numbers, Not(Contains(Key("copy_bandwidth"))));
}

TEST(DeviceVerdict, CopiesSayHowFastTheyAre) {
  RecordBuilder builder;
  for (int i = 0; i < 30; ++i) {
    const int64_t at = i * 100'000;
    builder.Step(Phase::kTraced, i, at, at + 99'000)
        .Call("cudaMemcpyAsync", at, at + 2'000, i)
        .Copy("Memcpy HtoD (Pinned -> Device)", at + 5'000, at + 95'000, i,
              4'500'000, "htod");
  }
  Header header = MakeGpuTrace(1).header;
  header.timed = {};

  const Answer answer = Explain(builder.Build(std::move(header)));

  ASSERT_TRUE(answer.verdict.has_value());
  EXPECT_EQ(answer.verdict->kind, VerdictKind::kCopyBound);
  EXPECT_DOUBLE_EQ(answer.verdict->numbers.at("copy_bandwidth").value, 50e9);
  EXPECT_THAT(answer.verdict->summary,
              HasSubstr("with copies alone, which move 50.0 GB/s"));
}

// Two streams that take turns: each is idle at its launch, the device never.
TEST(DeviceVerdict, ABusyDeviceIsSoWhereEachLaunchFindsItsStreamIdle) {
  RecordBuilder builder;
  for (int i = 0; i < 30; ++i) {
    const int64_t at = i * 100'000;
    builder.Step(Phase::kTraced, i, at, at + 99'000)
        .OnDevice(0, 7 + i % 2)
        .Call("cuLaunchKernel", at, at + 2'000, i)
        .Kernel("elementwise", at + 5'000, at + 102'000, i);
  }
  Header header = MakeGpuTrace(1).header;
  header.timed = {};

  const Answer answer = Explain(builder.Build(std::move(header)));

  ASSERT_TRUE(answer.verdict.has_value());
  EXPECT_EQ(answer.verdict->kind, VerdictKind::kGpuBound);
  EXPECT_THAT(answer.verdict->summary,
              HasSubstr("30 of 30 launches came too late to keep their stream "
                        "busy"));
  EXPECT_THAT(answer.verdict->reasons,
              Contains(HasSubstr("the median launch came too late to keep "
                                 "its stream at work, though the device works "
                                 "90 %")));
  EXPECT_EQ(answer.verdict->numbers.at("clear_from").value, 0.9);
}

// Bursts of four launches, then a long wait for the host.
TEST(DeviceVerdict, AWaitingDeviceIsSoWhereMostLaunchesWereQueued) {
  RecordBuilder builder;
  for (int i = 0; i < 30; ++i) {
    const int64_t at = i * 1'000'000;
    builder.Step(Phase::kTraced, i, at, at + 990'000);
    for (int j = 0; j < 4; ++j) {
      builder.Call("cuLaunchKernel", at + j * 100, at + j * 100 + 90, i * 4 + j)
          .Kernel("k", at + 5'000 + j * 1'000, at + 5'900 + j * 1'000,
                  i * 4 + j);
    }
  }
  Header header = MakeGpuTrace(1).header;
  header.timed = {};

  const Answer answer = Explain(builder.Build(std::move(header)));

  ASSERT_TRUE(answer.verdict.has_value());
  EXPECT_EQ(answer.verdict->kind, VerdictKind::kOverheadBound);
  EXPECT_THAT(answer.verdict->summary,
              HasSubstr("90 of 120 launches were queued in time"));
  ASSERT_FALSE(answer.findings.empty());
  EXPECT_THAT(answer.findings[0].title,
              HasSubstr("in long waits between launches that queue"));
  EXPECT_THAT(answer.verdict->reasons,
              Contains(HasSubstr("the median launch was queued, though the "
                                 "device waits 90 %")));
}

TEST(DeviceVerdict, AnImportWithoutCallsHasAdviceOfItsOwn) {
  RecordBuilder builder;
  for (int i = 0; i < 30; ++i) builder.Kernel("k", i * 1'000, i * 1'000 + 9, i);
  Header header = MakeGpuTrace(1).header;
  header.collector = "kineto";

  const Answer answer = Explain(builder.Build(std::move(header)));

  EXPECT_THAT(answer.note, HasSubstr("Let torch.profiler record the calls"));
  EXPECT_THAT(answer.note, Not(HasSubstr("--depth")));
}

}  // namespace
}  // namespace traza
