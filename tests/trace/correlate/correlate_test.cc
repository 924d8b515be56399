// SPDX-License-Identifier: Apache-2.0
#include "trace/correlate/correlate.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/record_builder.h"
#include "tests/support/status_matchers.h"

namespace traza {
namespace {

// The row of the first event of that name.
int64_t RowOf(const Trace& trace, const std::string& name) {
  for (size_t row = 0; row < trace.rows(); ++row) {
    if (trace.name_of(row) == name) return static_cast<int64_t>(row);
  }
  ADD_FAILURE() << "no row is named " << name;
  return 0;
}

// The name of the parent, "" for none.
std::string ParentOf(const Trace& trace, const std::string& name) {
  const int64_t parent = trace.parent.at(RowOf(trace, name));
  return parent < 0 ? "" : trace.name_of(parent);
}

TEST(Correlate, AnEmptyRecordingIsAnEmptyTrace) {
  const Trace trace = RecordBuilder().Build();

  EXPECT_EQ(trace.rows(), 0u);
  EXPECT_EQ(trace.header.completeness.bad_order, 0);
  EXPECT_EQ(trace.header.completeness.missing_gpu, std::nullopt);
}

TEST(Correlate, ParentIsTheInnermostEventAround) {
  const Trace trace = RecordBuilder()
                          .Op("mm", 30, 40)
                          .Op("matmul", 20, 50)
                          .Range("fwd", 10, 90)
                          .Op("add", 60, 70)
                          .Step(Phase::kTraced, 0, 0, 100)
                          .Build();

  ASSERT_THAT(Validate(trace), IsOk());
  EXPECT_EQ(ParentOf(trace, "mm"), "matmul");
  EXPECT_EQ(ParentOf(trace, "matmul"), "fwd");
  EXPECT_EQ(ParentOf(trace, "add"), "fwd");
  EXPECT_EQ(ParentOf(trace, "fwd"), "step");
  EXPECT_EQ(ParentOf(trace, "step"), "");
}

TEST(Correlate, OfEqualStartsTheLongerIsTheParent) {
  const Trace trace =
      RecordBuilder().Op("inner", 10, 20).Op("outer", 10, 30).Build();

  EXPECT_EQ(ParentOf(trace, "inner"), "outer");
  EXPECT_EQ(RowOf(trace, "outer"), 0);
}

TEST(Correlate, OfEqualTimesTheOuterKindIsTheParent) {
  const Trace trace = RecordBuilder()
                          .Call("call", 10, 30, 1)
                          .Op("op", 10, 30)
                          .Range("range", 10, 30)
                          .Step(Phase::kTraced, 0, 10, 30)
                          .Build();

  EXPECT_EQ(ParentOf(trace, "call"), "op");
  EXPECT_EQ(ParentOf(trace, "op"), "range");
  EXPECT_EQ(ParentOf(trace, "range"), "step");
}

TEST(Correlate, OfEqualTimesAndKindsTheFirstRecordIsTheParent) {
  const Trace trace =
      RecordBuilder().Op("first", 10, 30).Op("second", 10, 30).Build();

  EXPECT_EQ(ParentOf(trace, "second"), "first");
}

TEST(Correlate, AnEventThatStartsWhereAnotherEndsIsNoChild) {
  const Trace trace = RecordBuilder().Op("a", 10, 20).Op("b", 20, 30).Build();

  EXPECT_EQ(ParentOf(trace, "b"), "");
}

TEST(Correlate, EventsOfNoLengthHaveParentsToo) {
  const Trace trace = RecordBuilder()
                          .Op("outer", 10, 30)
                          .Op("at start", 10, 10)
                          .Op("inside", 20, 20)
                          .Op("at end", 30, 30)
                          .Build();

  EXPECT_EQ(ParentOf(trace, "at start"), "outer");
  EXPECT_EQ(ParentOf(trace, "inside"), "outer");
  EXPECT_EQ(ParentOf(trace, "at end"), "");
}

TEST(Correlate, AnEventThatCrossesItsParentsEndKeepsItAndIsCounted) {
  const Trace trace = RecordBuilder()
                          .Op("parent", 0, 100)
                          .Op("crossing", 50, 150)
                          .Op("after", 120, 130)
                          .Build();

  EXPECT_EQ(ParentOf(trace, "crossing"), "parent");
  EXPECT_EQ(ParentOf(trace, "after"), "crossing");
  EXPECT_EQ(trace.header.completeness.cut, 1);
}

TEST(Correlate, ThreadsDoNotMix) {
  const Trace trace = RecordBuilder()
                          .OnThread(1)
                          .Op("a", 0, 100)
                          .OnThread(2)
                          .Op("b", 10, 90)
                          .OnThread(1)
                          .Op("a child", 20, 30)
                          .OnThread(2)
                          .Op("b child", 25, 35)
                          .Build();

  EXPECT_EQ(ParentOf(trace, "b"), "");
  EXPECT_EQ(ParentOf(trace, "a child"), "a");
  EXPECT_EQ(ParentOf(trace, "b child"), "b");
  EXPECT_EQ(trace.thread.at(RowOf(trace, "b child")), 2);
}

TEST(Correlate, StepAndPhaseComeFromTheStepAround) {
  const Trace trace = RecordBuilder()
                          .InPhase(Phase::kSetup, 0, 5)
                          .InPhase(Phase::kTraced, 5, 200)
                          .Op("setup op", 1, 2)
                          .Step(Phase::kTraced, 0, 10, 50)
                          .Step(Phase::kTraced, 1, 60, 100)
                          .Op("op 0", 20, 30)
                          .Op("op 1", 70, 80)
                          .Op("between", 52, 55)
                          .OnThread(99)
                          .Op("helper", 65, 75)
                          .Build();
  const auto step = [&](const std::string& name) {
    return trace.step.at(RowOf(trace, name));
  };
  const auto phase = [&](const std::string& name) {
    return static_cast<Phase>(trace.phase.at(RowOf(trace, name)));
  };

  EXPECT_EQ(step("op 0"), 0);
  EXPECT_EQ(step("op 1"), 1);
  EXPECT_EQ(step("helper"), 1) << "another thread, by time";
  EXPECT_EQ(step("between"), kNull<int32_t>);
  EXPECT_EQ(phase("between"), Phase::kTraced);
  EXPECT_EQ(phase("setup op"), Phase::kSetup);
  EXPECT_EQ(phase("op 1"), Phase::kTraced);
}

TEST(Correlate, ARangeFromBeforeTheStepDoesNotHideIt) {
  const Trace trace = RecordBuilder()
                          .InPhase(Phase::kTraced, 0, 200)
                          .OnThread(1)
                          .Step(Phase::kTraced, 4, 20, 90)
                          .OnThread(2)
                          .Range("whole life", 5, 150)
                          .Op("in step", 30, 40)
                          .Build();

  EXPECT_EQ(trace.step.at(RowOf(trace, "whole life")), kNull<int32_t>);
  EXPECT_EQ(trace.step.at(RowOf(trace, "in step")), 4);
}

TEST(Correlate, DeviceWorkIsTiedByItsCorrelationIdAlone) {
  const Trace trace = RecordBuilder()
                          .Step(Phase::kTraced, 0, 0, 50)
                          .Op("mm", 10, 30)
                          .Call("launch mm", 15, 20, 7)
                          .Op("add", 31, 45)
                          .Call("launch add", 33, 40, 8)
                          .Step(Phase::kTraced, 1, 50, 100)
                          .Kernel("add kernel", 70, 80, 8)
                          .Kernel("mm kernel", 55, 60, 7)
                          .Build();
  const int64_t mm = RowOf(trace, "mm kernel");
  const int64_t add = RowOf(trace, "add kernel");

  EXPECT_EQ(trace.name_of(trace.call.at(mm)), "launch mm");
  EXPECT_EQ(trace.name_of(trace.op.at(mm)), "mm");
  EXPECT_EQ(trace.name_of(trace.call.at(add)), "launch add");
  EXPECT_EQ(trace.name_of(trace.op.at(add)), "add");
  EXPECT_TRUE(trace.parent.is_null(add));
  EXPECT_EQ(trace.step.at(add), 0) << "it ran in step 1, but 0 launched it";
}

TEST(Correlate, DeviceWorkMayStartBeforeItsCall) {
  const Trace trace = RecordBuilder()
                          .Op("mm", 10, 30)
                          .Kernel("kernel", 12, 14, 7)
                          .Call("launch", 15, 20, 7)
                          .Build();

  EXPECT_EQ(trace.name_of(trace.call.at(RowOf(trace, "kernel"))), "launch");
}

TEST(Correlate, OfTwoCallsWithOneIdTheOuterCounts) {
  const Trace trace = RecordBuilder()
                          .Op("mm", 10, 50)
                          .Call("cuLaunchKernel", 22, 28, 7)
                          .Call("cudaLaunchKernel", 20, 30, 7)
                          .Kernel("kernel", 40, 45, 7)
                          .Build();

  EXPECT_EQ(trace.name_of(trace.call.at(RowOf(trace, "kernel"))),
            "cudaLaunchKernel");
  EXPECT_EQ(ParentOf(trace, "cuLaunchKernel"), "cudaLaunchKernel");
  EXPECT_EQ(trace.header.completeness.missing_gpu, 0);
}

TEST(Correlate, EachNodeOfAGraphIsTiedToItsLaunch) {
  RecordBuilder builder;
  builder.Call("cudaGraphLaunch", 10, 20, 7);
  for (int i = 0; i < 5; ++i) builder.Kernel("node", 30 + i, 31 + i, 7);

  const Trace trace = builder.Build();

  for (size_t row = 1; row < trace.rows(); ++row) {
    EXPECT_EQ(trace.call.at(row), 0);
    EXPECT_TRUE(trace.op.is_null(row));
  }
  EXPECT_EQ(trace.header.completeness.missing_gpu, 0);
}

TEST(Correlate, CallsAndSyncsNameTheInnermostOp) {
  const Trace trace = RecordBuilder()
                          .Op("outer", 0, 100)
                          .Op("inner", 10, 60)
                          .Range("range", 15, 55)
                          .Call("call", 20, 30, 1)
                          .Sync("sync", 70, 80)
                          .Build();

  EXPECT_EQ(trace.name_of(trace.op.at(RowOf(trace, "call"))), "inner");
  EXPECT_EQ(trace.name_of(trace.op.at(RowOf(trace, "sync"))), "outer");
  EXPECT_TRUE(trace.op.is_null(RowOf(trace, "inner")));
}

TEST(Correlate, CountersAndLaunchShapesReachTheirColumns) {
  const Trace trace = RecordBuilder()
                          .InPhase(Phase::kTraced, 0, 100)
                          .Counter("power", 50, 612.5)
                          .Call("launch", 10, 20, 1)
                          .Kernel("kernel", 30, 40, 1)
                          .Call("copy", 21, 25, 2)
                          .Copy("Memcpy DtoD", 41, 44, 2, 4096, "dtod")
                          .Build();
  const int64_t power = RowOf(trace, "power");
  const int64_t kernel = RowOf(trace, "kernel");
  const int64_t copy = RowOf(trace, "Memcpy DtoD");

  EXPECT_EQ(trace.value.at(power), 612.5);
  EXPECT_EQ(trace.duration_ns[power], 0);
  EXPECT_EQ(trace.phase.at(power), static_cast<int8_t>(Phase::kTraced));
  EXPECT_EQ(trace.grid_x.at(kernel), 128);
  EXPECT_EQ(trace.shared_dynamic.at(kernel), 213'188);
  EXPECT_EQ(trace.occupancy.at(kernel), 0.1875);
  EXPECT_EQ(trace.bytes.at(copy), 4096);
  EXPECT_EQ(trace.names.at(trace.copy_kind.at(copy)), "dtod");
  EXPECT_TRUE(trace.grid_x.is_null(copy));
  EXPECT_TRUE(trace.flops.all_null());
}

TEST(Correlate, AnAllocationBelongsToTheOpThatRuns) {
  const Trace trace = RecordBuilder()
                          .Step(Phase::kTraced, 3, 0, 100)
                          .Op("aten::empty", 10, 50)
                          .Alloc(20, 4096, 0)
                          .Alloc(90, -4096, 0)
                          .Alloc(95, 64, kNull<int32_t>)
                          .Build();

  ASSERT_EQ(trace.rows(), 5u);
  EXPECT_THAT(Validate(trace), IsOk());
  EXPECT_EQ(trace.kind[2], EventKind::kAlloc);
  EXPECT_EQ(trace.names.at(trace.name[2]), "allocate");
  EXPECT_EQ(trace.bytes.at(2), 4096);
  EXPECT_EQ(trace.device.at(2), 0);
  EXPECT_EQ(trace.duration_ns[2], 0);
  EXPECT_EQ(trace.op.at(2), 1);
  EXPECT_EQ(trace.parent.at(2), 1);
  EXPECT_EQ(trace.step.at(2), 3);
  EXPECT_EQ(trace.names.at(trace.name[3]), "free");
  EXPECT_EQ(trace.bytes.at(3), -4096);
  EXPECT_TRUE(trace.op.is_null(3)) << "freed between operators";
  EXPECT_EQ(trace.step.at(3), 3);
  EXPECT_TRUE(trace.device.is_null(4));
}

TEST(Correlate, DeviceWorkWithoutItsCallTakesTheOpThatItNames) {
  RecordBuilder builder;
  builder.Step(Phase::kTraced, 0, 0, 100)
      .Op("mm", 10, 50)
      .Op("add", 60, 90)
      .Call("launch", 20, 30, 1)
      .Kernel("with call", 40, 45, 1)
      .Kernel("without", 110, 120, 2);
  // The call is the better witness.
  for (RawDeviceEvent& event : builder.records().device) event.op_host = 1;
  const Trace trace = builder.Build();

  ASSERT_THAT(Validate(trace), IsOk());
  EXPECT_EQ(trace.op.at(RowOf(trace, "with call")), RowOf(trace, "mm"));
  const int64_t without = RowOf(trace, "without");
  EXPECT_EQ(trace.op.at(without), RowOf(trace, "add"));
  EXPECT_TRUE(trace.call.is_null(without));
  EXPECT_EQ(trace.step.at(without), 0);
  EXPECT_EQ(trace.header.completeness.unmatched_call, 1);
}

TEST(Correlate, WhatIsNoWorkOnADeviceIsTiedToNothing) {
  const Trace trace = RecordBuilder()
                          .Call("cudaStreamWaitEvent", 10, 20, 1)
                          .Device(EventKind::kSync, "wait", 30, 40, 1)
                          .Device(EventKind::kRange, "range", 30, 90, 2)
                          .Build();

  ASSERT_THAT(Validate(trace), IsOk());
  EXPECT_TRUE(trace.call.is_null(RowOf(trace, "wait")));
  EXPECT_TRUE(trace.parent.is_null(RowOf(trace, "range")));
  EXPECT_EQ(trace.header.completeness.unmatched_call, 0);
}

TEST(Correlate, AStepMayHaveItsOwnName) {
  RecordBuilder builder;
  builder.Step(Phase::kTraced, 0, 0, 100).Step(Phase::kTraced, 1, 100, 200);
  builder.records().steps[1].name =
      builder.records().names.Intern("ProfilerStep#3");
  const Trace trace = builder.Build();

  EXPECT_EQ(trace.name_of(0), "step");
  EXPECT_EQ(trace.name_of(1), "ProfilerStep#3");
}

TEST(Correlate, ForeignTimesNeverOverflow) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const Trace trace = RecordBuilder()
                          .Step(Phase::kTraced, 0, kMin, kMax)
                          .Op("op", kMax, kMin)
                          .Call("launch", kMin, kMax, 1)
                          .Kernel("kernel", kMax, kMax, 1)
                          .Build();

  EXPECT_THAT(Validate(trace), IsOk());
  EXPECT_EQ(trace.header.completeness.bad_order, 4);
}

TEST(Correlate, LargeTracesAreValid) {
  const Trace cpu = MakeCpuTrace(2'000);
  const Trace gpu = MakeGpuTrace(2'000);

  EXPECT_EQ(cpu.rows(), 10'001u);
  EXPECT_THAT(Validate(cpu), IsOk());
  EXPECT_EQ(gpu.rows(), 18'001u);
  EXPECT_THAT(Validate(gpu), IsOk());
  EXPECT_EQ(gpu.header.completeness.unmatched_call, 0);
  EXPECT_EQ(gpu.header.completeness.missing_gpu, 0);
  EXPECT_EQ(gpu.header.completeness.cut, 0);
}

}  // namespace
}  // namespace traza
