// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/diff.h"

#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"
#include "tests/trace/analysis/diff_traces.h"

namespace traza {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Diff DiffOf(const Trace& before, const Trace& after, DiffOptions options = {}) {
  absl::StatusOr<Diff> diff = DiffTraces(before, after, options);
  if (!diff.ok()) {
    ADD_FAILURE() << diff.status();
    return {};
  }
  return *std::move(diff);
}

Diff DiffOf(const std::vector<PlannedWork>& before,
            const std::vector<PlannedWork>& after) {
  return DiffOf(PlannedTrace(before), PlannedTrace(after));
}

// The first entry whose text has `part` in it.
DiffEntry EntryOf(const Diff& diff, const std::string& part) {
  for (const DiffEntry& entry : diff.entries) {
    if (entry.text.find(part) != std::string::npos) return entry;
  }
  ADD_FAILURE() << "no entry with " << part;
  return {};
}

Delta Exactly(double before, double after, const char* unit) {
  const double difference = after - before;
  return {before,     after, difference,     difference,
          difference, unit,  difference != 0};
}

// Of all entries, on one side.
double SumOf(const Diff& diff, Delta DiffEntry::* quantity,
             std::optional<double> Delta::* side) {
  double sum = 0;
  for (const DiffEntry& entry : diff.entries) {
    sum += (entry.*quantity.*side).value_or(0);
  }
  return sum;
}

TEST(Diff, EqualTracesDoNotDiffer) {
  const Trace trace = PlannedTrace(EagerMlp());

  const Diff diff = DiffOf(trace, trace);

  EXPECT_EQ(diff.verdict, DiffVerdict::kNoDifference);
  EXPECT_THAT(diff.changes, IsEmpty());
  for (const DiffEntry& entry : diff.entries) {
    EXPECT_EQ(entry.change, DiffChange::kSame);
  }
  EXPECT_EQ(diff.fingerprint_before, diff.fingerprint_after);
  EXPECT_EQ(diff.same_output, true);
}

PlannedWork CopyOf(const std::string& ends) {
  return {{"aten::copy_"},
          absl::StrCat("Memcpy HtoD (", ends, " -> Device)"),
          100,
          EventKind::kCopy,
          4096};
}

TEST(Diff, SaysThatMemoryWasPinned) {
  const Diff diff = DiffOf({CopyOf("Pageable")}, {CopyOf("Pinned")});

  EntryOf(diff,
          "copy Memcpy HtoD (Pageable -> Device) became (Pinned -> "
          "Device)");
}

TEST(Diff, SaysThatTheTypeIsAnother) {
  const auto product = [](const std::string& type) {
    return PlannedWork{{"aten::mul"},
                       "void at::native::vectorized_elementwise_kernel<4, "
                       "at::native::BinaryFunctor<" +
                           type + ", " + type + ", " + type +
                           ", at::native::MulFunctor<float>>>",
                       100};
  };

  const Diff diff = DiffOf({product("float")}, {product("c10::BFloat16")});

  EntryOf(diff, "mul: fp32 became bf16");
}

// A kernel does not say how many bytes it moves.
TEST(Diff, BytesAreThoseOfCopies) {
  const Diff diff = DiffOf({{{"aten::cat"}, kAdd, 100}}, {CopyOf("Pinned")});

  EXPECT_EQ(EntryOf(diff, "became 1 copy").bytes.difference, 4096);
  EXPECT_THAT(diff.changes, Contains(HasSubstr("+4.0 KiB of copies")));
}

TEST(Diff, SaysWhatACompilerFused) {
  const Diff diff =
      DiffOf(PlannedTrace(EagerMlp()), PlannedTrace(CompiledMlp(), 30, 8'000));

  const DiffEntry fused = EntryOf(diff, "gelu, mul");
  EXPECT_EQ(fused.text, absl::StrCat("2 pointwise kernels (gelu, mul) became 1 "
                                     "(",
                                     kFused, ")"));
  EXPECT_EQ(fused.change, DiffChange::kChanged);
  EXPECT_THAT(fused.path, ElementsAre("work"));
  EXPECT_THAT(fused.removed,
              ElementsAre(StructureItem{EventKind::kKernel, kGelu, 1},
                          StructureItem{EventKind::kKernel, kMul, 1}));
  EXPECT_THAT(fused.added,
              ElementsAre(StructureItem{EventKind::kKernel, kFused, 1}));
  EXPECT_EQ(fused.device_ns, Exactly(70, 35, "ns"));
  EXPECT_EQ(fused.device_records, Exactly(2, 1, "count"));
  EXPECT_FALSE(fused.cpu_ns.before.has_value())
      << "the region launches all of them";
  EXPECT_FALSE(fused.bytes.before.has_value());
  EXPECT_THAT(diff.changes[0],
              AllOf(HasSubstr("2 pointwise kernels (gelu, mul) became 1"),
                    HasSubstr("-35 ns of device time")));
  EXPECT_EQ(diff.verdict, DiffVerdict::kFaster);
  EXPECT_EQ(diff.step_ns, Exactly(9'000, 8'000, "ns"));
  EXPECT_EQ(diff.busy_ns, Exactly(360, 325, "ns"));
}

// 128 blocks of 384 threads with 8 elements of 2 bytes each: 786,432 bytes are
// written by one and read by the other, 1.5 MiB in all.
TEST(Diff, EstimatesTheTrafficThatFusionSaves) {
  std::vector<PlannedWork> before = EagerMlp();
  before[1].name =
      "void at::native::vectorized_elementwise_kernel<8, Gelu<c10::BFloat16> "
      ">(int)";
  before[3].name =
      "void at::native::vectorized_elementwise_kernel<8, Mul<c10::BFloat16> "
      ">(int)";

  EXPECT_THAT(EntryOf(DiffOf(before, CompiledMlp()), "gelu, mul").text,
              HasSubstr(", an estimated 1.5 MiB less to and from memory"));
  EXPECT_THAT(EntryOf(DiffOf(CompiledMlp(), before), "gelu, mul").text,
              HasSubstr("1.5 MiB more"));
}

TEST(Diff, TheOtherWayRoundItSaysWhatCameApart) {
  const Diff diff = DiffOf(CompiledMlp(), EagerMlp());

  const DiffEntry apart = EntryOf(diff, "became 2 (gelu, mul)");
  EXPECT_EQ(apart.device_ns, Exactly(35, 70, "ns"));
}

TEST(Diff, ProductsAreFoundAgainUnderOtherOperators) {
  const Diff diff = DiffOf(EagerMlp(), CompiledMlp());

  const DiffEntry gate = EntryOf(diff, kGate);
  EXPECT_THAT(gate.removed, IsEmpty());
  EXPECT_EQ(gate.device_ns, Exactly(200, 200, "ns"));
  EXPECT_EQ(gate.device_records, Exactly(2, 2, "count"));
  const DiffEntry host = EntryOf(diff, "on the CPU");
  // Linear and mm three times each, gelu and mul: 3 * 30 + 2 * 20; then 3 * 30
  // + 20. Calls are in the operators that make them.
  EXPECT_EQ(host.cpu_ns, Exactly(130, 110, "ns"));
  EXPECT_EQ(host.count, Exactly(8, 7, "count"));
}

TEST(Diff, PartsShareOutTheStep) {
  for (const auto& [before, after] : {std::pair(EagerMlp(), CompiledMlp()),
                                      std::pair(CompiledMlp(), EagerMlp()),
                                      std::pair(EagerMlp(), EagerMlp())}) {
    const Diff diff = DiffOf(before, after);
    EXPECT_EQ(SumOf(diff, &DiffEntry::device_ns, &Delta::before),
              diff.busy_ns.before);
    EXPECT_EQ(SumOf(diff, &DiffEntry::device_ns, &Delta::after),
              diff.busy_ns.after);
    EXPECT_EQ(SumOf(diff, &DiffEntry::idle_ns, &Delta::before),
              diff.idle_ns.before);
    EXPECT_EQ(SumOf(diff, &DiffEntry::cpu_ns, &Delta::before), 9'900);
    EXPECT_EQ(SumOf(diff, &DiffEntry::cpu_ns, &Delta::after), 9'900);
  }
}

TEST(Diff, NamesAKernelThatBecameAnother) {
  std::vector<PlannedWork> after = EagerMlp();
  after[4].name = "cutlass_80_wmma_gemm_bf16";
  after[4].ns = 120;

  const Diff diff = DiffOf(EagerMlp(), after);

  ASSERT_EQ(diff.changes.size(), 1u);
  EXPECT_EQ(diff.changes[0],
            absl::StrCat("work > aten::linear: kernel ", kDown,
                         " became cutlass_80_wmma_gemm_bf16: +30 ns of device "
                         "time."));
  EXPECT_THAT(diff.entries[0].path, ElementsAre("work", "aten::linear"));
  EXPECT_EQ(diff.entries[0].count, Exactly(1, 1, "count"));
}

TEST(Diff, SaysThatTheCopyBeforeTheProductIsGone) {
  const auto trace = [](bool copy) {
    RecordBuilder builder;
    for (int step = 0; step < 30; ++step) {
      const int64_t at = kTraceOrigin + step * 1'000;
      builder.Step(Phase::kTraced, step, at, at + 900)
          .Op("aten::addmm", at + 10, at + 100)
          .Call("cuLaunchKernelEx", at + 40, at + 50, 2 * step + 1)
          .Kernel(kGate, at + 220, at + 400, 2 * step + 1);
      if (copy) {
        builder.Call("cudaMemcpyAsync", at + 20, at + 30, 2 * step + 2)
            .Copy("Memcpy DtoD (Device -> Device)", at + 200, at + 215,
                  2 * step + 2, 33'554'432);
      }
    }
    return builder.Build(PlannedTrace({}, 1).header);
  };

  const Diff diff = DiffOf(trace(true), trace(false));

  const DiffEntry gone = EntryOf(diff, "Memcpy DtoD");
  EXPECT_EQ(gone.text, absl::StrCat("1 copy (Memcpy DtoD) before the product ",
                                    kGate, " is gone"));
  EXPECT_EQ(gone.bytes, Exactly(33'554'432, 0, "bytes"));
  EXPECT_EQ(gone.device_ns, Exactly(15, 0, "ns"));
  EXPECT_EQ(gone.change, DiffChange::kRemoved);
  EXPECT_THAT(diff.changes, Contains(HasSubstr("aten::addmm: 1 copy")));
}

TEST(Diff, AnotherEpilogueIsAnotherKernelOfTheSameProduct) {
  const std::string badd = "nvjet_sm90_tst_256x128_64x4_1x2_h_badd_coopA_TNT";
  const Diff diff = DiffOf(
      {{{"aten::matmul", "aten::mm"}, kGate, 170}, {{"aten::add"}, kAdd, 22}},
      {{{"Torch-Compiled Region: 0/0", "aten::addmm"},
        "Memcpy DtoD (Device -> Device)",
        15,
        EventKind::kCopy,
        32},
       {{"Torch-Compiled Region: 0/0", "aten::addmm"}, badd, 178}});

  const DiffEntry product = EntryOf(diff, "became nvjet");
  EXPECT_EQ(product.device_ns, Exactly(170, 178, "ns"));
  EXPECT_THAT(product.text,
              HasSubstr("the same product with another epilogue"));
  EXPECT_EQ(EntryOf(diff, "(add) is gone").device_ns, Exactly(22, 0, "ns"));
  EXPECT_EQ(EntryOf(diff, "Memcpy DtoD").text,
            absl::StrCat("1 copy (Memcpy DtoD) before the product ", badd,
                         " is new"));
}

TEST(Diff, AnotherOrderIsNoOtherWork) {
  std::vector<PlannedWork> after = EagerMlp();
  std::swap(after[1], after[2]);  // gelu after both products

  const Diff diff = DiffOf(EagerMlp(), after);

  EXPECT_THAT(diff.changes, IsEmpty());
  for (const DiffEntry& entry : diff.entries) {
    EXPECT_EQ(entry.device_ns.difference.value_or(0), 0) << entry.text;
  }
  EXPECT_NE(diff.work_fingerprint_before, diff.work_fingerprint_after);
}

TEST(Diff, OneOfThreeOperatorsOfANameIsTakenOut) {
  std::vector<PlannedWork> after = EagerMlp();
  after.erase(after.begin() + 2);

  const Diff diff = DiffOf(EagerMlp(), after);

  const DiffEntry gone = EntryOf(diff, "is gone");
  EXPECT_THAT(gone.path, ElementsAre("work", "aten::linear"));
  EXPECT_EQ(gone.change, DiffChange::kRemoved);
  EXPECT_EQ(gone.count, Exactly(1, 0, "count"));
  EXPECT_EQ(gone.device_ns, Exactly(100, 0, "ns"));
  EXPECT_EQ(gone.cpu_ns, Exactly(30, 0, "ns"));
}

TEST(Diff, ChangesOfManyLayersAreOne) {
  std::vector<PlannedWork> before, after;
  for (int layer = 0; layer < 12; ++layer) {
    before.push_back({{"aten::linear"}, kGate, 100});
    before.push_back({{"aten::gelu"}, kGelu, 30});
    after.push_back({{"aten::linear"}, kGate, 100});
    after.push_back({{"aten::gelu"}, "void faster_gelu<8>(int)", 20});
  }

  const Diff diff = DiffOf(before, after);

  EXPECT_THAT(diff.changes[0],
              AllOf(HasSubstr("12 times: "), HasSubstr("-120 ns")));
  EXPECT_EQ(diff.entries[0].count, Exactly(12, 12, "count"));
  EXPECT_EQ(diff.entries[0].removed[0].count, 12);
}

TEST(Diff, ALaunchByAGraphIsAlignedWithItsKernels) {
  RecordBuilder builder;
  for (int step = 0; step < 30; ++step) {
    const int64_t at = kTraceOrigin + step * 10'000;
    builder.Step(Phase::kTraced, step, at, at + 9'900)
        .Range("graph_replay", at + 50, at + 9'850)
        .Call("cudaGraphLaunch", at + 100, at + 150, step + 1);
    int64_t device = at + 1'000;
    for (const PlannedWork& work : EagerMlp()) {
      builder.Kernel(work.name, device, device + work.ns, step + 1);
      device += work.ns;
    }
  }
  Trace graph = builder.Build(PlannedTrace({}, 1).header);

  const Diff diff = DiffOf(PlannedTrace(EagerMlp()), graph);

  EXPECT_EQ(diff.work_fingerprint_before, diff.work_fingerprint_after);
  EXPECT_NE(diff.fingerprint_before, diff.fingerprint_after);
  EXPECT_EQ(diff.busy_ns, Exactly(360, 360, "ns"));
  for (const DiffEntry& entry : diff.entries) {
    EXPECT_THAT(entry.removed, IsEmpty()) << entry.text;
  }
}

TEST(Diff, CpuJobsAreComparedByTheirOperators) {
  const auto trace = [](bool fused) {
    RecordBuilder builder;
    for (int step = 0; step < 30; ++step) {
      const int64_t at = kTraceOrigin + step * 1'000;
      builder.Step(Phase::kTraced, step, at, at + 900);
      if (fused) {
        builder.Op("aten::addmm", at + 10, at + 250);
      } else {
        builder.Op("aten::mm", at + 10, at + 210)
            .Op("aten::add", at + 220, at + 300);
      }
    }
    Header header = MakeCpuHeader(30);
    header.timed.batch_ns.assign(30, fused ? 260 : 300);
    return builder.Build(header);
  };

  const Diff diff = DiffOf(trace(false), trace(true));

  EXPECT_EQ(diff.entries[0].text,
            "2 operators (aten::mm, aten::add) became 1 (aten::addmm)");
  EXPECT_EQ(diff.entries[0].cpu_ns, Exactly(280, 240, "ns"));
  EXPECT_FALSE(diff.entries[0].device_ns.before.has_value());
  EXPECT_FALSE(diff.busy_ns.before.has_value());
  EXPECT_EQ(diff.verdict, DiffVerdict::kFaster);
}

TEST(Diff, FewStepsClaimNothing) {
  Trace before = PlannedTrace(EagerMlp(), 3);
  Trace after = PlannedTrace(CompiledMlp(), 3);
  before.header.timed = {};
  after.header.timed = {};

  const Diff diff = DiffOf(before, after);

  EXPECT_EQ(diff.verdict, DiffVerdict::kInconclusive);
  EXPECT_THAT(diff.summary, HasSubstr("Nothing can be claimed"));
  EXPECT_FALSE(diff.step_ns.low.has_value());
  EXPECT_FALSE(diff.step_ns.significant.has_value());
  EXPECT_EQ(diff.step_phase, Phase::kTraced);
  EXPECT_THAT(diff.changes[0], HasSubstr("about -35 ns"));
  EXPECT_THAT(diff.reasons, Contains(HasSubstr("intervals need 30")));
}

TEST(Diff, ThirtyStepsInThreeBatchesAreTooFew) {
  Trace trace = PlannedTrace(EagerMlp());
  trace.header.timed.steps_per_batch = 10;
  trace.header.timed.batch_ns = {90'000, 91'000, 92'000};

  EXPECT_EQ(DiffOf(trace, trace).verdict, DiffVerdict::kInconclusive);
}

TEST(Diff, StepsThatTheTracerPerturbedDoNotCount) {
  const auto trace = [](bool perturbed) {
    RecordBuilder builder;
    for (int step = 0; step < 31; ++step) {
      const int64_t at = kTraceOrigin + step * 10'000;
      const int64_t more = perturbed && step == 4 ? 5'000 : 0;
      builder.Step(Phase::kTraced, step, at, at + 1'000 + more)
          .Op("aten::mm", at + 10, at + 900 + more)
          .Call("cudaLaunchKernel", at + 20, at + 30, step + 1)
          .Kernel(kGate, at + 100, at + 200 + more, step + 1);
      if (more > 0) {
        builder.Overhead("Activity Buffer Request", at + 40, at + 60);
      }
    }
    return builder.Build(PlannedTrace({}, 1).header);
  };

  const Diff diff = DiffOf(trace(false), trace(true));

  EXPECT_EQ(diff.busy_ns, Exactly(100, 100, "ns"));
  EXPECT_THAT(diff.reasons, Contains(HasSubstr("Left out after: 1 step")));
}

TEST(Diff, WhatMostStepsDoIsCompared) {
  // Every sixth step has a kernel more: the medians do not see it.
  RecordBuilder builder;
  for (int step = 0; step < 30; ++step) {
    const int64_t at = kTraceOrigin + step * 10'000;
    builder.Step(Phase::kTraced, step, at, at + 1'000)
        .Op("aten::mm", at + 10, at + 100)
        .Call("cudaLaunchKernel", at + 20, at + 30, 2 * step + 1)
        .Kernel(kGate, at + 100, at + 200, 2 * step + 1);
    if (step % 6 == 0) {
      builder.Op("aten::add", at + 110, at + 150)
          .Call("cudaLaunchKernel", at + 120, at + 130, 2 * step + 2)
          .Kernel(kAdd, at + 210, at + 240, 2 * step + 2);
    }
  }
  const Trace trace = builder.Build(PlannedTrace({}, 1).header);

  const Diff diff = DiffOf(trace, trace);

  EXPECT_THAT(diff.changes, IsEmpty());
  EXPECT_EQ(diff.busy_ns, Exactly(100, 100, "ns"));
  EXPECT_THAT(diff.reasons,
              Contains(HasSubstr("5 of 30 steps before do other work")));
}

TEST(Diff, RangesOfOtherNamesAreLookedInto) {
  Trace after = PlannedTrace(EagerMlp());
  // "work" has another name.
  Trace renamed = after;
  renamed.names = NameTable();
  for (size_t row = 0; row < after.rows(); ++row) {
    renamed.name[row] = renamed.names.Intern(
        after.name_of(row) == "work" ? "mlp_fwd" : after.name_of(row));
  }
  renamed.copy_kind = {};

  const Diff diff = DiffOf(PlannedTrace(EagerMlp()), renamed);

  EXPECT_THAT(diff.changes, IsEmpty());
}

TEST(Diff, WithoutCallsStepsOfWorkAreToldApartByTheirOrder) {
  const auto trace = [](int64_t ns) {
    RecordBuilder builder;
    builder.InPhase(Phase::kTraced, kTraceOrigin, kTraceOrigin + 310'000);
    for (int step = 0; step < 30; ++step) {
      const int64_t at = kTraceOrigin + step * 10'000;
      builder.Step(Phase::kTraced, step, at, at + 9'000)
          .Kernel(kGate, at + 100, at + 200, 2 * step + 1)
          .Kernel(kAdd, at + 300, at + 300 + ns, 2 * step + 2);
    }
    Header header = PlannedTrace({}, 1).header;
    header.job.depth = Depth::kKernels;
    return builder.Build(header);
  };

  const Diff diff = DiffOf(trace(50), trace(40));

  EXPECT_EQ(diff.busy_ns, Exactly(150, 140, "ns"));
  EXPECT_EQ(EntryOf(diff, "vectorized").device_ns, Exactly(50, 40, "ns"));
  EXPECT_THAT(diff.reasons, Contains(HasSubstr("told apart by its order")));
}

TEST(Diff, AFileWithoutStepsHasNoStepTimes) {
  const auto trace = [](const char* kernel) {
    return RecordBuilder()
        .Op("aten::mm", 1'000, 2'000)
        .Call("cudaLaunchKernel", 1'100, 1'200, 1)
        .Kernel(kernel, 3'000, 4'000, 1)
        .Build();
  };

  const Diff diff = DiffOf(trace("gemm_a"), trace("gemm_b"), {.force = true});

  EXPECT_EQ(diff.verdict, DiffVerdict::kNotComparable);
  EXPECT_THAT(diff.summary, HasSubstr("only the work is compared"));
  EXPECT_THAT(diff.changes, Contains(HasSubstr("kernel gemm_a became gemm_b")));
}

TEST(Diff, OfACpuAndAGpuIsRefusedAndForcedSaysWhatItCan) {
  EXPECT_THAT(DiffTraces(MakeCpuTrace(30), MakeGpuTrace(30)),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasReason("RUNS_UNLIKE")));

  const Diff diff = DiffOf(MakeCpuTrace(30), MakeGpuTrace(30), {.force = true});

  EXPECT_THAT(diff.reasons,
              Contains(HasSubstr("kind of device: a CPU before, a GPU after")));
  EXPECT_FALSE(diff.busy_ns.before.has_value());
  EXPECT_TRUE(diff.busy_ns.after.has_value());
  EXPECT_FALSE(diff.busy_ns.difference.has_value());
}

TEST(Diff, EmptyTracesAreRefusedAndForcedAreEmpty) {
  EXPECT_THAT(DiffTraces(Trace(), Trace()), HasReason("RUNS_UNLIKE"));

  const Diff diff = DiffOf(Trace(), Trace(), {.force = true});

  EXPECT_EQ(diff.verdict, DiffVerdict::kNotComparable);
  EXPECT_THAT(diff.changes, IsEmpty());
}

TEST(Diff, ATraceThatIsDamagedIsNeverCompared) {
  Trace broken = PlannedTrace(EagerMlp());
  broken.parent.Set(0, 1'000'000, broken.rows());

  EXPECT_THAT(DiffTraces(broken, PlannedTrace(EagerMlp()), {.force = true}),
              StatusIs(absl::StatusCode::kDataLoss));
}

TEST(Diff, OptionsOutOfRangeAreRefused) {
  const Trace trace = PlannedTrace(EagerMlp());

  EXPECT_THAT(DiffTraces(trace, trace, {.limit = 0}), HasViolation("limit"));
  EXPECT_THAT(DiffTraces(trace, trace, {.limit = 10'001}),
              HasViolation("limit"));
  EXPECT_THAT(DiffTraces(trace, trace, {.confidence = 0.4}),
              HasViolation("confidence"));
  EXPECT_THAT(
      DiffTraces(trace, trace,
                 {.confidence = std::numeric_limits<double>::quiet_NaN()}),
      HasViolation("confidence"));
}

TEST(Diff, ALimitLeavesTheLargest) {
  Diff diff = DiffOf(PlannedTrace(EagerMlp()), PlannedTrace(CompiledMlp()),
                     {.limit = 1});

  EXPECT_EQ(diff.entries.size(), 1u);
  EXPECT_THAT(diff.entries[0].text, HasSubstr("gelu, mul"));
  EXPECT_GT(diff.all_entries, 1);
}

TEST(Diff, DeepNestingIsNoStackOfCalls) {
  RecordBuilder builder;
  constexpr int kDepth = 100'000;
  for (int i = 0; i < kDepth; ++i) {
    builder.Range(i % 2 == 0 ? "a" : "b", 1'000 + i, 1'000'000 - i);
  }
  const Trace trace = builder.Build();
  Trace other = RecordBuilder().Range("c", 1'000, 2'000).Build();

  EXPECT_THAT(DiffOf(trace, trace, {.force = true}).changes, IsEmpty());
  EXPECT_GT(DiffOf(trace, other, {.force = true}).all_entries, 0);
}

}  // namespace
}  // namespace traza
