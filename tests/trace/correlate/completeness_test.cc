// SPDX-License-Identifier: Apache-2.0
// What Correlate counts as lost, odd or cut.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/record_builder.h"
#include "tests/support/status_matchers.h"

namespace traza {
namespace {

Completeness CountersOf(RecordBuilder& builder, Completeness before = {}) {
  Header header;
  header.completeness = before;
  return builder.Build(std::move(header)).header.completeness;
}

TEST(CorrelateCompleteness, DeviceCountersStayUnknownOnACpuTrace) {
  const Completeness counters = CountersOf(RecordBuilder().Op("mm", 0, 10));

  EXPECT_EQ(counters.bad_order, 0);
  EXPECT_EQ(counters.cut, 0);
  EXPECT_EQ(counters.zero_ts, std::nullopt);
  EXPECT_EQ(counters.missing_gpu, std::nullopt);
  EXPECT_EQ(counters.unmatched_call, std::nullopt);
  EXPECT_EQ(counters.unmatched_op, std::nullopt);
  EXPECT_EQ(counters.failed_calls, std::nullopt);
  EXPECT_EQ(counters.skew_min_ns, std::nullopt);
}

TEST(CorrelateCompleteness, CountsDeviceWorkWithoutACall) {
  const Completeness counters =
      CountersOf(RecordBuilder()
                     .Call("cudaLaunchKernel", 0, 5, 1)
                     .Kernel("with", 10, 20, 1)
                     .Kernel("without", 20, 30, 2)
                     .Kernel("no id", 30, 40, kNull<int64_t>));

  EXPECT_EQ(counters.unmatched_call, 2);
}

TEST(CorrelateCompleteness, WithoutAnyCallUnmatchedWorkIsUnknown) {
  const Completeness counters =
      CountersOf(RecordBuilder().Kernel("kernel", 10, 20, 1));

  EXPECT_EQ(counters.zero_ts, 0);
  EXPECT_EQ(counters.unmatched_call, std::nullopt);
  EXPECT_EQ(counters.before_launch, std::nullopt);
}

TEST(CorrelateCompleteness, CountsCallsWithoutDeviceWork) {
  const Completeness counters =
      CountersOf(RecordBuilder()
                     .Call("cudaLaunchKernel", 0, 1, 1)
                     .Call("cuLaunchKernelEx", 2, 3, 2)
                     .Call("cudaMemcpyAsync", 4, 5, 3)
                     .Call("cudaMemsetAsync", 6, 7, 4)
                     .Call("cudaStreamSynchronize", 8, 9, 5)
                     .Call("cudaLaunchKernel", 10, 11, 6, /*failed=*/true)
                     .Kernel("kernel", 12, 13, 1));

  EXPECT_EQ(counters.missing_gpu, 3);
  EXPECT_EQ(counters.failed_calls, 1);
}

TEST(CorrelateCompleteness, CountsCallsWithoutAnOp) {
  const Completeness counters =
      CountersOf(RecordBuilder()
                     .Op("mm", 0, 10)
                     .Call("cudaLaunchKernel", 1, 2, 1)
                     .Call("cudaLaunchKernel", 20, 30, 2)
                     .Kernel("a", 40, 41, 1)
                     .Kernel("b", 42, 43, 2));

  EXPECT_EQ(counters.unmatched_op, 1);
}

TEST(CorrelateCompleteness, WithoutOpsCallsCannotLackThem) {
  const Completeness counters =
      CountersOf(RecordBuilder().Call("cudaLaunchKernel", 1, 2, 1));

  EXPECT_EQ(counters.unmatched_op, std::nullopt);
}

TEST(CorrelateCompleteness, CountsReversedRecordsAndMakesThemEmpty) {
  RecordBuilder builder;
  builder.Op("backwards", 20, 10);
  const Trace trace = builder.Build();

  EXPECT_EQ(trace.header.completeness.bad_order, 1);
  EXPECT_EQ(trace.start_ns[0], 20);
  EXPECT_EQ(trace.duration_ns[0], 0);
}

TEST(CorrelateCompleteness, WorkWithoutATimeMovesToItsCall) {
  RecordBuilder builder;
  builder.Op("op", 100, 200)
      .Call("cudaLaunchKernel", 150, 160, 1)
      .Kernel("matched", 0, 0, 1)
      .Kernel("unmatched", 0, 0, 2);
  const Trace trace = builder.Build();

  ASSERT_THAT(Validate(trace), IsOk());
  EXPECT_EQ(trace.header.completeness.zero_ts, 2);
  EXPECT_EQ(trace.header.completeness.before_launch, 0);
  for (size_t row = 0; row < trace.rows(); ++row) {
    if (trace.name_of(row) == "matched") {
      EXPECT_EQ(trace.start_ns[row], 150);
    }
    if (trace.name_of(row) == "unmatched") {
      EXPECT_EQ(trace.start_ns[row], 100);
    }
  }
}

TEST(CorrelateCompleteness, KeepsTheLeastSkewAndCountsNegativeOnes) {
  const Completeness counters =
      CountersOf(RecordBuilder()
                     .Call("cudaLaunchKernel", 100, 110, 1)
                     .Call("cudaLaunchKernel", 200, 210, 2)
                     .Kernel("early", 97, 99, 1)
                     .Kernel("late", 209, 220, 2));

  EXPECT_EQ(counters.before_launch, 1);
  EXPECT_EQ(counters.skew_min_ns, -3);
}

TEST(CorrelateCompleteness, AddsToWhatTheCollectorCounted) {
  Completeness before;
  before.bad_order = 2;
  before.cut = 3;
  before.unmatched_call = 5;
  before.skew_min_ns = 4;
  before.dropped = 6;

  const Completeness counters =
      CountersOf(RecordBuilder()
                     .Op("a", 0, 10)
                     .Op("crossing", 5, 15)
                     .Op("backwards", 9, 7)
                     .Call("cudaLaunchKernel", 20, 30, 1)
                     .Kernel("with", 30, 40, 1)
                     .Kernel("without", 40, 50, 2),
                 before);

  EXPECT_EQ(counters.bad_order, 3);
  EXPECT_EQ(counters.cut, 4);
  EXPECT_EQ(counters.unmatched_call, 6);
  EXPECT_EQ(counters.skew_min_ns, 4);
  EXPECT_EQ(counters.dropped, 6);
}

TEST(CorrelateCompleteness, WhatIsCapturedIntoAGraphIsNotLost) {
  for (const std::string api : {"cuda", "cu", "hip"}) {
    const Completeness counters =
        CountersOf(RecordBuilder()
                       .Call(api + "LaunchKernel", 0, 1, 1)
                       .Call(api + "StreamBeginCapture", 10, 11, 2)
                       .Call(api + "LaunchKernel", 12, 13, 3)
                       .Call(api + "MemsetAsync", 14, 15, 4)
                       .Call(api + "StreamEndCapture", 20, 21, 5)
                       .Call(api + "GraphAddMemcpyNode", 30, 31, 6)
                       .Call(api + "LaunchHostFunc", 32, 33, 7)
                       .Call(api + "LaunchKernel", 40, 41, 8)
                       .Kernel("before", 50, 51, 1));

    EXPECT_EQ(counters.missing_gpu, 1) << api << ": after the capture";
    EXPECT_EQ(counters.captured_calls, 2) << api;
    EXPECT_EQ(counters.unsure_gpu, 0) << api;
  }
}

TEST(CorrelateCompleteness, CapturesOfSeveralStreamsMayNest) {
  const Completeness counters =
      CountersOf(RecordBuilder()
                     .Call("cudaStreamBeginCapture", 0, 1, 1)
                     .Call("cudaStreamBeginCapture", 10, 11, 2)
                     .Call("cudaStreamEndCapture", 20, 21, 3)
                     .Call("cudaLaunchKernel", 30, 31, 4)
                     .Call("cudaStreamEndCapture", 40, 41, 5));

  EXPECT_EQ(counters.captured_calls, 1);
  EXPECT_EQ(counters.missing_gpu, 0);
}

TEST(CorrelateCompleteness, WhatAnotherThreadLaunchesIntoACaptureIsUnsure) {
  const Completeness counters =
      CountersOf(RecordBuilder()
                     .Call("cudaStreamBeginCapture", 0, 1, 1)
                     .Call("cudaStreamEndCapture", 20, 21, 2)
                     .OnThread(2)
                     .Call("cudaLaunchKernel", 10, 11, 3)
                     .Call("cudaLaunchKernel", 12, 13, 4)
                     .Call("cudaLaunchKernel", 30, 31, 5)
                     .Kernel("of another stream", 40, 41, 4));

  EXPECT_EQ(counters.unsure_gpu, 1);
  EXPECT_EQ(counters.missing_gpu, 1);
  EXPECT_EQ(counters.captured_calls, 0);
}

TEST(CorrelateCompleteness, ACaptureOfOneEndIsUnsure) {
  const Completeness ended =
      CountersOf(RecordBuilder()
                     .Call("cudaLaunchKernel", 0, 1, 1)
                     .Call("cudaStreamEndCapture", 20, 21, 2)
                     .Call("cudaLaunchKernel", 30, 31, 3));
  EXPECT_EQ(ended.unsure_gpu, 1);
  EXPECT_EQ(ended.missing_gpu, 1);

  const Completeness begun =
      CountersOf(RecordBuilder()
                     .Call("cudaStreamBeginCapture", 0, 1, 1, /*failed=*/true)
                     .Call("cudaLaunchKernel", 2, 3, 2)
                     .Call("cudaStreamBeginCapture", 10, 11, 3)
                     .Call("cudaLaunchKernel", 20, 21, 4));
  EXPECT_EQ(begun.unsure_gpu, 1);
  EXPECT_EQ(begun.missing_gpu, 1);
}

TEST(CorrelateCompleteness, CopiesOfNothingAreUnsureWhereTheyLeaveNoRecord) {
  RecordBuilder builder;
  builder.Call("cudaLaunchKernel", 0, 1, 1)
      .Call("cudaMemsetAsync", 2, 3, 2)
      .Call("hipMemcpyWithStream", 4, 5, 3);
  builder.records().omits_empty_copies = true;

  const Completeness counters = CountersOf(builder);

  EXPECT_EQ(counters.missing_gpu, 1);
  EXPECT_EQ(counters.unsure_gpu, 2);
}

}  // namespace
}  // namespace traza
