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
  // The steps repeat themselves, so that the order is known.
  EXPECT_EQ(structure.records, 2);
  ASSERT_EQ(structure.order.size(), 2u);
  EXPECT_EQ(structure.order[1].name, "add");
  EXPECT_EQ(structure.work_fingerprint.size(), 16u);
}

TEST(Structure, AveragedWorkInNoOrderHasNoFingerprint) {
  RecordBuilder builder;
  builder.InPhase(Phase::kTraced, 0, 400)
      .Step(Phase::kTraced, 0, 0, 90)
      .Step(Phase::kTraced, 1, 100, 190)
      .Kernel("a", 20, 30, 1)
      .Kernel("b", 40, 50, 2)
      .Kernel("b", 120, 130, 3)
      .Kernel("a", 140, 150, 4);

  const Structure structure = Analyze(builder.Build());

  EXPECT_EQ(structure.per_step.size(), 2u);
  EXPECT_THAT(structure.order, IsEmpty());
  EXPECT_EQ(structure.fingerprint, "");
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

// A traced step at `at` whose linear copies, then multiplies, and whose add
// comes after; `swapped` launches the add first. `first_id` is that of the
// copy's call.
void AddGpuStep(int32_t number, int64_t at, int64_t first_id, bool swapped,
                RecordBuilder* builder) {
  const int64_t linear = swapped ? at + 30 : at;
  const int64_t add = swapped ? at : at + 30;
  builder->Step(Phase::kTraced, number, at, at + 90)
      .Range("work", at, at + 80)
      .Op("aten::linear", linear, linear + 30)
      .Op("aten::addmm", linear + 1, linear + 29)
      .Call("cudaMemcpyAsync", linear + 2, linear + 5, first_id)
      .Call("cuLaunchKernelEx", linear + 6, linear + 9, first_id + 1)
      .Op("aten::add", add + 1, add + 20)
      .Call("cudaLaunchKernel", add + 2, add + 5, first_id + 2)
      .Copy("Memcpy DtoD", linear + 7, linear + 10, first_id)
      .Kernel("gemm", linear + 11, linear + 20, first_id + 1)
      .Kernel("add", add + 8, add + 10, first_id + 2);
}

TEST(Structure, HasTheOrderOfLaunchesAndTheOperatorsThatCausedThem) {
  RecordBuilder builder;
  AddGpuStep(0, 0, 1, false, &builder);
  AddGpuStep(1, 100, 11, false, &builder);

  const Structure structure = Analyze(builder.Build());

  EXPECT_THAT(
      structure.order,
      ElementsAre(StructureWork{EventKind::kCopy, "Memcpy DtoD",
                                "aten::linear > aten::addmm", 1},
                  StructureWork{EventKind::kKernel, "gemm",
                                "aten::linear > aten::addmm", 1},
                  StructureWork{EventKind::kKernel, "add", "aten::add", 1}));
  EXPECT_EQ(structure.records, 3);
  EXPECT_EQ(structure.reordered_steps, 0);
}

TEST(Structure, AnotherOrderIsStillTheSameWork) {
  RecordBuilder builder;
  AddGpuStep(0, 0, 1, true, &builder);
  AddGpuStep(1, 100, 11, false, &builder);
  AddGpuStep(2, 200, 21, false, &builder);

  const Structure structure = Analyze(builder.Build());

  EXPECT_TRUE(structure.stable);
  EXPECT_EQ(structure.reordered_steps, 1);
  EXPECT_EQ(structure.order[0].name, "Memcpy DtoD") << "of the more frequent";
}

TEST(Structure, TheOrderIsOfLaunchesHoweverStreamsRun) {
  // The copy is launched first and runs last, on a stream of its own.
  RecordBuilder builder;
  builder.Step(Phase::kTraced, 0, 0, 100)
      .Call("cudaMemcpyAsync", 10, 15, 1)
      .Call("cudaLaunchKernel", 20, 25, 2)
      .Kernel("k", 30, 40, 2)
      .OnDevice(0, 8)
      .Copy("Memcpy HtoD", 50, 60, 1);

  const Structure structure = Analyze(builder.Build());

  ASSERT_EQ(structure.order.size(), 2u);
  EXPECT_EQ(structure.order[0].name, "Memcpy HtoD");
  EXPECT_EQ(structure.order[1].name, "k");
}

TEST(Structure, FingerprintsDoNotDependOnIdsTimesThreadsOrRanges) {
  RecordBuilder one, other;
  AddGpuStep(0, 0, 1, false, &one);
  other.records().names.Intern("another first name");
  other.OnThread(77).OnDevice(1, 9);
  AddGpuStep(5, 10'000, 901, false, &other);
  other.Range("a range more", 10'000, 10'080);

  const Structure a = Analyze(one.Build());
  const Structure b = Analyze(other.Build());

  EXPECT_EQ(a.fingerprint, b.fingerprint);
  EXPECT_EQ(a.work_fingerprint, b.work_fingerprint);
  EXPECT_EQ(a.fingerprint.size(), 16u);
  EXPECT_NE(a.fingerprint, a.work_fingerprint);
}

TEST(Structure, FingerprintsTellOrderNamesAndOperatorsApart) {
  const auto of = [](const char* op, const char* first, const char* second) {
    return Analyze(RecordBuilder()
                       .Step(Phase::kTraced, 0, 0, 100)
                       .Op(op, 10, 40)
                       .Call("cudaLaunchKernel", 11, 15, 1)
                       .Call("cudaLaunchKernel", 21, 25, 2)
                       .Kernel(first, 30, 40, 1)
                       .Kernel(second, 50, 60, 2)
                       .Build());
  };
  const Structure base = of("aten::mm", "a", "b");

  EXPECT_NE(of("aten::mm", "b", "a").work_fingerprint, base.work_fingerprint);
  EXPECT_NE(of("aten::mm", "a", "c").work_fingerprint, base.work_fingerprint);
  EXPECT_EQ(of("aten::bmm", "a", "b").work_fingerprint, base.work_fingerprint);
  EXPECT_NE(of("aten::bmm", "a", "b").fingerprint, base.fingerprint);
}

// By an independent reading of structure.h (another program, in another
// language): a fingerprint that is stored has to be found again.
TEST(Structure, FingerprintsStayWhatTheyAre) {
  RecordBuilder builder;
  AddGpuStep(0, 0, 1, false, &builder);

  const Structure structure = Analyze(builder.Build());

  EXPECT_EQ(structure.fingerprint, "1a9a8aaa3fd1656b");
  EXPECT_EQ(structure.work_fingerprint, "0fc32976dca19edb");
}

TEST(Structure, CompiledGraphsKeepTheirFingerprintFromProcessToProcess) {
  const auto of = [](const char* region, const char* graph) {
    return Analyze(RecordBuilder()
                       .Op(region, 0, 100)
                       .Op(graph, 10, 90)
                       .Call("cuLaunchKernel", 20, 25, 1)
                       .Kernel("triton_poi_fused_mul_0", 30, 40, 1)
                       .Build())
        .fingerprint;
  };

  EXPECT_EQ(of("Torch-Compiled Region: 0/0", "## Call CompiledFxGraph fa ##"),
            of("Torch-Compiled Region: 3/1", "## Call CompiledFxGraph fb ##"));
  EXPECT_NE(of("Torch-Compiled Region: 0/0", "## Call CompiledFxGraph fa ##"),
            of("Torch-Compiled Region: 0/0", "something else"));
}

TEST(Structure, NodesOfAGraphAreInTheOrderOfTheirStarts) {
  RecordBuilder builder;
  builder.Step(Phase::kTraced, 0, 0, 100)
      .Call("cudaGraphLaunch", 10, 15, 1)
      .Kernel("first", 30, 40, 1)
      .Kernel("second", 50, 60, 1)
      .Kernel("second", 70, 80, 1);

  const Structure structure = Analyze(builder.Build());

  EXPECT_THAT(structure.order,
              ElementsAre(StructureWork{EventKind::kKernel, "first", "", 1},
                          StructureWork{EventKind::kKernel, "second", "", 2}));
  EXPECT_EQ(structure.records, 3);
}

TEST(Structure, OperatorsHaveAnOrderTooWhereNothingRanOnADevice) {
  const Structure structure = Analyze(MakeCpuTrace(3));

  EXPECT_THAT(
      structure.order,
      ElementsAre(StructureWork{EventKind::kOp, "aten::matmul", "", 1},
                  StructureWork{EventKind::kOp, "aten::mm", "aten::matmul", 1},
                  StructureWork{EventKind::kOp, "aten::add", "", 1}));
  EXPECT_EQ(structure.fingerprint, Analyze(MakeCpuTrace(9)).fingerprint);
}

TEST(Structure, OnlyTheStartOfALongOrderIsKept) {
  RecordBuilder builder;
  for (int i = 0; i < 1500; ++i) {
    builder.Op(i % 2 == 0 ? "a" : "b", i * 10, i * 10 + 5);
  }

  const Structure structure = Analyze(builder.Build());

  EXPECT_EQ(structure.order.size(), kMaxStructureOrder);
  EXPECT_EQ(structure.records, 1500);
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
  EXPECT_EQ(structure.fingerprint, "");
}

}  // namespace
}  // namespace traza
