// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/verdict.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/record_builder.h"

namespace traza {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Twenty steps of 100 ns: 70 in aten::addmm, 10 in aten::t.
Trace LinearTrace(Header header) {
  RecordBuilder builder;
  for (int i = 0; i < 20; ++i) {
    const int64_t at = 1'000 * i;
    builder.Step(Phase::kTraced, i, at, at + 100)
        .Op("aten::linear", at + 5, at + 95)
        .Op("aten::t", at + 10, at + 20)
        .Op("aten::addmm", at + 22, at + 92);
  }
  return builder.Build(std::move(header));
}

// Of steps that took so long without tracing; traced, they take 100 ns.
Header HeaderOfSteps(int64_t timed_ns = 95) {
  Header header = MakeCpuHeader(20);
  header.timed.batch_ns.assign(30, timed_ns);
  return header;
}

TEST(Verdict, SaysWhatTheCpuSpendsItsTimeOn) {
  const Answer answer = Explain(LinearTrace(HeaderOfSteps()));

  ASSERT_TRUE(answer.verdict.has_value());
  EXPECT_EQ(answer.verdict->kind, VerdictKind::kCpuOnly);
  EXPECT_EQ(answer.verdict->summary,
            "All work ran on the CPU (4 threads): aten::addmm takes 70 % of "
            "the traced steps; a step takes 95 ns.");
  EXPECT_EQ(answer.verdict->confidence, 1);
  EXPECT_THAT(answer.verdict->reasons, IsEmpty());
}

TEST(Verdict, OfADeclaredCostTheCpuAttainsWhatAnUntracedStepTakes) {
  Header header = HeaderOfSteps(/*timed_ns=*/100);
  header.step_cost = StepCost{.flops = 5'000, .bytes = 200};

  const Verdict verdict = *Explain(LinearTrace(header)).verdict;

  EXPECT_DOUBLE_EQ(verdict.numbers.at("attained_flops").value, 50e9);
  EXPECT_DOUBLE_EQ(verdict.numbers.at("attained_bandwidth").value, 2e9);
}

TEST(Verdict, IsLessSureWhereTimedAndTracedStepsAreFarApart) {
  for (const int64_t timed_ns : {12'300, 3}) {
    const Answer answer = Explain(LinearTrace(HeaderOfSteps(timed_ns)));

    ASSERT_TRUE(answer.verdict.has_value());
    EXPECT_DOUBLE_EQ(answer.verdict->confidence, 0.6);
    ASSERT_THAT(answer.verdict->reasons, SizeIs(1));
    EXPECT_THAT(answer.verdict->reasons.front(),
                HasSubstr("something else kept the CPU busy"));
  }
}

TEST(Verdict, EveryNumberNamesItsParts) {
  const Answer answer = Explain(LinearTrace(HeaderOfSteps()));
  const auto& numbers = answer.verdict->numbers;

  EXPECT_EQ(numbers.at("step_time_p50").value, 95);
  EXPECT_EQ(numbers.at("step_time_p50").unit, "ns");
  EXPECT_EQ(numbers.at("traced_step_time_p50").value, 100);
  EXPECT_DOUBLE_EQ(numbers.at("op_self_share").value, 0.7);
  EXPECT_EQ(numbers.at("op_self_share").numerator, "self time of aten::addmm");
  EXPECT_EQ(numbers.at("op_self_share").denominator, "traced step time");
  EXPECT_DOUBLE_EQ(numbers.at("op_time_share").value, 0.9);
  EXPECT_EQ(numbers.at("ops_per_step").value, 3);
  EXPECT_EQ(numbers.at("threads").value, 4);
  for (const auto& [name, number] : numbers) {
    EXPECT_EQ(number.unit == "ratio", !number.denominator.empty()) << name;
  }
}

TEST(Verdict, IsLessSureOfAnUnstableTrace) {
  Header header = HeaderOfSteps();
  header.partial = true;
  header.completeness.id_stack_depth = 1;

  const Answer answer = Explain(LinearTrace(std::move(header)));

  ASSERT_TRUE(answer.verdict.has_value());
  EXPECT_DOUBLE_EQ(answer.verdict->confidence, 0.8);
  EXPECT_THAT(answer.verdict->reasons, SizeIs(2));
  EXPECT_THAT(answer.verdict->reasons.front(), HasSubstr("complete"));
}

TEST(Verdict, WithoutATimedPassTheTracedStepsCount) {
  Header header = HeaderOfSteps();
  header.timed = {};

  const Answer answer = Explain(LinearTrace(std::move(header)));

  EXPECT_THAT(answer.verdict->summary,
              HasSubstr("a step takes 100 ns (traced)"));
}

TEST(Verdict, WithoutOperatorsOnlyTheStepIsNamed) {
  RecordBuilder builder;
  for (int i = 0; i < 20; ++i) {
    builder.Step(Phase::kTraced, i, 1'000 * i, 1'000 * i + 100);
  }
  Header header = HeaderOfSteps();
  header.job.depth = Depth::kTiming;

  const Answer answer = Explain(builder.Build(std::move(header)));

  ASSERT_TRUE(answer.verdict.has_value());
  EXPECT_THAT(answer.verdict->summary, HasSubstr("a step takes 95 ns"));
}

TEST(Verdict, AnInvalidTraceHasNone) {
  Header header = HeaderOfSteps();
  header.completeness.dropped_ops = 1'000'000;

  EXPECT_FALSE(Explain(LinearTrace(std::move(header))).verdict.has_value());
}

TEST(Verdict, WorkOnADeviceIsNotCpuOnly) {
  const Answer answer = Explain(MakeGpuTrace(30));

  ASSERT_TRUE(answer.verdict.has_value());
  EXPECT_EQ(answer.verdict->kind, VerdictKind::kOverheadBound);
}

TEST(Verdict, AGpuThatNobodyWatchedIsNotCpuOnly) {
  Header header = HeaderOfSteps();
  header.device.id = "gpu0";
  header.device.kind = DeviceKind::kGpu;

  const Answer unseen = Explain(LinearTrace(header));
  EXPECT_FALSE(unseen.verdict.has_value());
  EXPECT_THAT(unseen.note, HasSubstr("not recorded"));

  header.collector = "cupti";
  header.completeness.dropped = 0;
  EXPECT_TRUE(Explain(LinearTrace(header)).verdict.has_value())
      << "watched, and it did nothing";
}

// A file of torch.profiler that describes a GPU.
Header ImportedHeader() {
  Header header;
  header.collector = "kineto";
  header.device.id = "gpu0";
  header.device.kind = DeviceKind::kGpu;
  header.job.depth = Depth::kOps;
  header.job.traced_steps = 20;
  return header;
}

TEST(Verdict, AnImportWithAGpuAndWithoutCallsMayHaveUsedIt) {
  const Answer answer = Explain(LinearTrace(ImportedHeader()));

  EXPECT_FALSE(answer.verdict.has_value());
  EXPECT_THAT(answer.note, HasSubstr("without ProfilerActivity.CUDA"));
  EXPECT_THAT(answer.note, HasSubstr("cannot be told"));
}

TEST(Verdict, AnImportThatWatchedCallsAndSawNoLaunchIsCpuOnly) {
  RecordBuilder builder;
  builder.Step(Phase::kTraced, 0, 0, 100)
      .Op("aten::mm", 5, 95)
      .Sync("cudaDeviceSynchronize", 200, 210);

  const Answer answer = Explain(builder.Build(ImportedHeader()));

  ASSERT_TRUE(answer.verdict.has_value());
  EXPECT_EQ(answer.verdict->kind, VerdictKind::kCpuOnly);
}

TEST(Verdict, LaunchesWithoutWorkAreNotCpuOnly) {
  RecordBuilder builder;
  for (int i = 0; i < 200; ++i) builder.Op("aten::mm", 10 * i, 10 * i + 9);
  builder.Call("cudaLaunchKernel", 3, 4, 1);
  Header header = ImportedHeader();
  header.device.kind = DeviceKind::kCpu;

  const Answer answer = Explain(builder.Build(std::move(header)));

  EXPECT_FALSE(answer.verdict.has_value());
  EXPECT_THAT(answer.note, HasSubstr("has launches, but not what they did"));
}

}  // namespace
}  // namespace traza
