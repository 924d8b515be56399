// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/structure.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/record_builder.h"

namespace traza {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Structure Analyze(const Trace& trace) {
  const StepIndex index(trace);
  return AnalyzeStructure(trace, RowTimes(trace), index,
                          DeviceLanesOf(trace, index));
}

// A traced step of 100 ns with these ops in it.
void AddStep(int number, std::initializer_list<const char*> ops,
             RecordBuilder* builder) {
  int64_t now = number * 100;
  builder->Step(Phase::kTraced, number, now, now + 100);
  for (const char* op : ops) {
    builder->Op(op, now + 5, now + 10);
    now += 10;
  }
}

TEST(Structure, OfACpuTraceIsItsOperatorsInTheOrderOfTime) {
  const Structure structure = Analyze(MakeCpuTrace(30));

  EXPECT_THAT(structure.per_step,
              ElementsAre(StructureItem{EventKind::kOp, "aten::matmul", 1},
                          StructureItem{EventKind::kOp, "aten::mm", 1},
                          StructureItem{EventKind::kOp, "aten::add", 1}));
  EXPECT_TRUE(structure.stable);
  EXPECT_EQ(structure.steps, 30);
  EXPECT_EQ(structure.deviating_steps, 0);
}

TEST(Structure, OfAGpuTraceIsItsDeviceWork) {
  const Structure structure = Analyze(MakeGpuTrace(30));

  ASSERT_EQ(structure.per_step.size(), 2u);
  EXPECT_EQ(structure.per_step[0].kind, EventKind::kKernel);
  EXPECT_EQ(structure.per_step[0].count, 1);
  EXPECT_TRUE(structure.stable);
}

TEST(Structure, TheOrderWithinAStepDoesNotMatter) {
  RecordBuilder builder;
  AddStep(0, {"a", "b", "a"}, &builder);
  AddStep(1, {"b", "a", "a"}, &builder);

  const Structure structure = Analyze(builder.Build());

  EXPECT_TRUE(structure.stable);
  EXPECT_THAT(structure.per_step,
              ElementsAre(StructureItem{EventKind::kOp, "a", 2},
                          StructureItem{EventKind::kOp, "b", 1}));
}

TEST(Structure, IsThatOfTheMostFrequentKindOfStep) {
  RecordBuilder builder;
  AddStep(0, {"a", "b", "b"}, &builder);
  AddStep(1, {"a", "b"}, &builder);
  AddStep(2, {"a", "b"}, &builder);
  AddStep(3, {}, &builder);

  const Structure structure = Analyze(builder.Build());

  EXPECT_FALSE(structure.stable);
  EXPECT_EQ(structure.steps, 4);
  EXPECT_EQ(structure.deviating_steps, 2);
  EXPECT_THAT(structure.per_step,
              ElementsAre(StructureItem{EventKind::kOp, "a", 1},
                          StructureItem{EventKind::kOp, "b", 1}));
}

TEST(Structure, WorkCountsForTheStepThatLaunchedIt) {
  const Trace trace = RecordBuilder()
                          .Step(Phase::kTraced, 0, 0, 50)
                          .Call("cudaLaunchKernel", 10, 20, 1)
                          .Step(Phase::kTraced, 1, 60, 100)
                          .Call("cudaLaunchKernel", 70, 80, 2)
                          .Kernel("k", 65, 75, 1)
                          .Kernel("k", 85, 95, 2)
                          .Kernel("launched before", 1, 2, 99)
                          .Build();

  const Structure structure = Analyze(trace);

  EXPECT_TRUE(structure.stable);
  EXPECT_THAT(structure.per_step,
              ElementsAre(StructureItem{EventKind::kKernel, "k", 1}));
}

TEST(Structure, KernelsAStepHaveAMeanAndAVariance) {
  RecordBuilder builder;
  int64_t id = 0;
  for (int step = 0; step < 4; ++step) {
    builder.Step(Phase::kTraced, step, step * 100, step * 100 + 90);
    for (int kernel = 0; kernel < (step == 3 ? 6 : 2); ++kernel) {
      const int64_t at = step * 100 + kernel * 10;
      ++id;
      builder.Call("cudaLaunchKernel", at, at + 5, id)
          .Kernel("k", at + 6, at + 9, id);
    }
  }

  const Structure structure = Analyze(builder.Build());

  EXPECT_FALSE(structure.stable);
  EXPECT_EQ(structure.kernels, (PerStep{3, 3}));
  EXPECT_FALSE(structure.graph_kernels.has_value());
  EXPECT_EQ(Analyze(MakeGpuTrace(30)).kernels, (PerStep{2, 0}));
  EXPECT_FALSE(Analyze(MakeCpuTrace(3)).kernels.has_value());
}

TEST(Structure, WorkWithoutCallsIsAveraged) {
  RecordBuilder builder;
  builder.InPhase(Phase::kTraced, 0, 400);
  for (int step = 0; step < 2; ++step) {
    const int64_t at = 10 + step * 100;
    builder.Step(Phase::kTraced, step, at, at + 90)
        .Kernel("gemm", at + 20, at + 30, 2 * step)
        .Kernel("add", at + 95, at + 99, 2 * step + 1);
  }
  builder.Kernel("of the priming steps", 1, 5, 99);

  const Structure structure = Analyze(builder.Build());

  EXPECT_TRUE(structure.averaged);
  EXPECT_TRUE(structure.stable);
  EXPECT_THAT(structure.per_step,
              ElementsAre(StructureItem{EventKind::kKernel, "gemm", 1},
                          StructureItem{EventKind::kKernel, "add", 1}));
  EXPECT_EQ(structure.kernels, (PerStep{2, std::nullopt}));
}

TEST(Structure, WorkWithoutCallsThatDoesNotComeOutEvenHasNoItems) {
  RecordBuilder builder;
  builder.InPhase(Phase::kTraced, 0, 400)
      .Step(Phase::kTraced, 0, 0, 90)
      .Kernel("a", 20, 30, 1)
      .Step(Phase::kTraced, 1, 100, 190)
      .Kernel("a", 120, 130, 2)
      .Kernel("b", 140, 150, 3);

  const Structure structure = Analyze(builder.Build());

  EXPECT_TRUE(structure.averaged);
  EXPECT_FALSE(structure.stable);
  EXPECT_THAT(structure.per_step, IsEmpty());
  EXPECT_EQ(structure.kernels, (PerStep{1.5, std::nullopt}));
}

TEST(Structure, AFileWithoutStepsIsOneStep) {
  const Structure structure =
      Analyze(RecordBuilder().Op("a", 0, 10).Op("a", 20, 30).Build());

  EXPECT_EQ(structure.steps, 1);
  EXPECT_THAT(structure.per_step,
              ElementsAre(StructureItem{EventKind::kOp, "a", 2}));
}

TEST(Structure, MergedRowsCountOnceAsInTheTable) {
  const Structure structure = Analyze(RecordBuilder()
                                          .Op("aten::mean", 0, 100)
                                          .Op("aten::mean", 10, 90)
                                          .Build());

  EXPECT_THAT(structure.per_step,
              ElementsAre(StructureItem{EventKind::kOp, "aten::mean", 1}));
}

TEST(Structure, AnEmptyTraceHasNone) {
  const Structure structure = Analyze(Trace());
  EXPECT_THAT(structure.per_step, IsEmpty());
  EXPECT_TRUE(structure.stable);
}

}  // namespace
}  // namespace traza
