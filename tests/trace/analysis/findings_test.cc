// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/findings.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/record_builder.h"
#include "trace/analysis/occupancy.h"

namespace traza {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> Ids(const Answer& answer) {
  std::vector<std::string> ids;
  for (const Finding& finding : answer.findings) ids.push_back(finding.id);
  return ids;
}

const Finding& Find(const Answer& answer, const std::string& id) {
  for (const Finding& finding : answer.findings) {
    if (finding.id == id) return finding;
  }
  ADD_FAILURE() << "no finding " << id;
  static const Finding none;
  return none;
}

Header GpuHeader() {
  Header header = MakeGpuTrace(1).header;
  header.collector = "cupti";
  header.job.traced_steps = 20;
  header.timed.batch_ns.assign(30, 100'000);
  return header;
}

// Twenty steps of 100 us, each with a kernel of 90 us on all multiprocessors,
// so that nothing stands out; `add` adds to the step that begins at its first
// argument.
template <typename Add>
Answer ExplainSteps(Add add, Header header = GpuHeader()) {
  RecordBuilder builder;
  for (int i = 0; i < 20; ++i) {
    const int64_t at = i * 100'000;
    builder.Step(Phase::kTraced, i, at, at + 99'000)
        .Op("aten::mm", at + 100, at + 98'000)
        .Call("cuLaunchKernel", at + 200, at + 900, i + 1)
        .Kernel("nvjet", at + 5'000, at + 98'000, i + 1);
    builder.records().device.back().grid[0] = 132;
    add(at, i, &builder);
  }
  return Explain(builder.Build(std::move(header)));
}

TEST(Findings, WhereNothingStandsOutThereAreNone) {
  const Answer answer = ExplainSteps([](int64_t, int, RecordBuilder*) {});
  EXPECT_THAT(answer.findings, IsEmpty());
}

TEST(Findings, AWaitInAStepNamesItsOperator) {
  const Answer answer =
      ExplainSteps([](int64_t at, int i, RecordBuilder* builder) {
        if (i % 2 == 1) return;
        builder->Sync("cudaStreamSynchronize", at + 50'000, at + 60'000)
            .Sync("cuStreamSynchronize", at + 50'100, at + 59'900);
      });

  const Finding& finding = Find(answer, "sync-in-step");
  EXPECT_EQ(finding.severity, "warning");
  EXPECT_EQ(finding.title,
            "The CPU waits for the device 10 times in 20 traced steps, 100 us "
            "in all: cudaStreamSynchronize in aten::mm.");
  EXPECT_EQ(finding.numbers.at("count").value, 10);
  EXPECT_EQ(finding.numbers.at("time").value, 100'000);
  EXPECT_EQ(finding.event_ids.size(), 10u);
}

TEST(Findings, WhereOnlyCopiesWaitTheyAreWhatToChange) {
  const auto advice = [](const char* op) {
    const Answer answer =
        ExplainSteps([&](int64_t at, int, RecordBuilder* builder) {
          builder->Op(op, at + 50'000, at + 60'000)
              .Sync("cudaStreamSynchronize", at + 50'100, at + 59'900);
        });
    return Find(answer, "sync-in-step").suggestion;
  };

  EXPECT_THAT(advice("aten::copy_"), HasSubstr("non_blocking=True"));
  EXPECT_THAT(advice("aten::_local_scalar_dense"), HasSubstr(".item()"));
}

TEST(Findings, WhereOtherOperatorsWaitTooTheyAreWhatToChange) {
  const Answer answer =
      ExplainSteps([](int64_t at, int, RecordBuilder* builder) {
        builder->Op("aten::copy_", at + 50'000, at + 60'000)
            .Sync("cudaStreamSynchronize", at + 50'100, at + 59'900)
            .Op("aten::item", at + 70'000, at + 80'000)
            .Sync("cudaStreamSynchronize", at + 70'100, at + 79'900);
      });

  EXPECT_THAT(Find(answer, "sync-in-step").suggestion, HasSubstr(".item()"));
}

// Without the wait the host would read what is not there yet.
TEST(Findings, OfCopiesToTheHostTheyAreToldToStayOnTheDevice) {
  const Answer answer =
      ExplainSteps([](int64_t at, int i, RecordBuilder* builder) {
        builder->Op("aten::copy_", at + 50'000, at + 60'000)
            .Call("cudaMemcpyAsync", at + 50'050, at + 50'090, 1'000 + i)
            .Copy("Memcpy DtoH (Device -> Pageable)", at + 51'000, at + 52'000,
                  1'000 + i, 8192, "dtoh")
            .Sync("cudaStreamSynchronize", at + 50'100, at + 59'900);
      });

  EXPECT_THAT(Find(answer, "sync-in-step").suggestion,
              HasSubstr("Keep results on the device"));
}

TEST(Findings, TheWaitAfterTheStepsIsNone) {
  const Answer answer =
      ExplainSteps([](int64_t at, int i, RecordBuilder* builder) {
        if (i == 19) {
          builder->Sync("cudaDeviceSynchronize", at + 99'500, at + 99'900);
        }
      });
  EXPECT_THAT(answer.findings, IsEmpty());
}

TEST(Findings, AnAllocationInAStepCountsOnce) {
  const Answer answer =
      ExplainSteps([](int64_t at, int i, RecordBuilder* builder) {
        if (i != 3) return;
        builder->Call("cudaMalloc", at + 50'000, at + 60'000, 1'000)
            .Call("cuMemAlloc", at + 50'100, at + 59'900, 1'000);
      });

  const Finding& finding = Find(answer, "alloc-in-step");
  EXPECT_THAT(finding.title, HasSubstr("1 time in 20 traced steps, 10.0 us in "
                                       "all: cudaMalloc in aten::mm."));
}

TEST(Findings, LoadingOfCodeInAStepIsTold) {
  const Answer answer =
      ExplainSteps([](int64_t at, int i, RecordBuilder* builder) {
        if (i != 3) return;
        builder->Overhead("Lazy Function Loading", at + 50'000, at + 60'000);
      });

  EXPECT_THAT(Ids(answer), ElementsAre("module-loading-in-step"));
}

TEST(Findings, CallsOfHipAreKnown) {
  const Answer answer =
      ExplainSteps([](int64_t at, int i, RecordBuilder* builder) {
        if (i != 3) return;
        builder->Call("hipHostMalloc", at + 30'000, at + 31'000, 1'000)
            .Call("hipModuleLoadData", at + 40'000, at + 41'000, 1'001)
            .Call("hipMemcpyWithStream", at + 50'000, at + 60'000, 1'002);
      });

  EXPECT_THAT(Find(answer, "alloc-in-step").title, HasSubstr("hipHostMalloc"));
  EXPECT_THAT(Find(answer, "module-loading-in-step").title,
              HasSubstr("hipModuleLoadData"));
  EXPECT_THAT(Find(answer, "sync-in-step").title,
              HasSubstr("10.0 us in all: hipMemcpyWithStream in aten::mm"));
}

TEST(Findings, StepsOfOtherWorkAreNamed) {
  const Answer answer =
      ExplainSteps([](int64_t at, int i, RecordBuilder* builder) {
        if (i != 3) return;
        builder->Call("cuLaunchKernel", at + 1'000, at + 1'900, 1'000)
            .Kernel("nvjet", at + 98'100, at + 98'200, 1'000);
        builder->records().device.back().grid[0] = 132;
      });

  const Finding& finding = Find(answer, "unstable-kernel-count");
  EXPECT_EQ(finding.title,
            "1 of 20 traced steps does other device work than the rest: 1.05 "
            "kernels a step, variance 0.0475.");
  EXPECT_EQ(finding.event_ids.size(), 1u);
}

TEST(Findings, StepsThatTheTracerPerturbedAreNamed) {
  const Answer answer =
      ExplainSteps([](int64_t at, int i, RecordBuilder* builder) {
        if (i != 3) return;
        builder->Overhead("Activity Buffer Request", at + 1'000, at + 2'000);
      });

  const Finding& finding = Find(answer, "profiler-perturbed-step");
  EXPECT_EQ(finding.severity, "warning") << "5 % of the steps";
  EXPECT_EQ(finding.title,
            "The tracer was at work in 1 of 20 traced steps, for 1.00 us: 3.");
  EXPECT_EQ(answer.breakdown[0].idle_classes.profiler_ns, 1'000);
}

TEST(Findings, CopiesFromPageableMemoryAreAddedUp) {
  const Answer answer =
      ExplainSteps([](int64_t at, int i, RecordBuilder* builder) {
        builder->Call("cudaMemcpyAsync", at + 1'000, at + 1'900, 1'000 + i)
            .Copy("Memcpy HtoD (Pageable -> Device)", at + 98'100, at + 98'600,
                  1'000 + i, 1 << 20);
      });

  EXPECT_THAT(
      Find(answer, "pageable-copy").title,
      HasSubstr("20 copies go from memory of the host that is not pinned: "
                "20.0 MiB in 10.0 us, in aten::mm. The CPU is in these "
                "calls for 18.0 us."));
}

TEST(Findings, SmallGridsThatTakeTimeAreTold) {
  const Answer answer = ExplainSteps([](int64_t, int, RecordBuilder* builder) {
    builder->records().device.back().grid[0] = 8;
  });

  EXPECT_THAT(Find(answer, "small-grid").title,
              HasSubstr("multiprocessors (132): nvjet 8 blocks."));
}

TEST(Findings, CommunicationTakesFewBlocksOnPurpose) {
  const Answer answer = ExplainSteps([](int64_t, int, RecordBuilder* builder) {
    RawDeviceEvent& kernel = builder->records().device.back();
    kernel.name = builder->records().names.Intern(
        "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)");
    kernel.grid[0] = 8;
  });

  EXPECT_THAT(answer.findings, IsEmpty());
}

Header HeaderWithLimits() {
  Header header = GpuHeader();
  header.device.multiprocessor =
      MultiprocessorLimits{.count = 132,
                           .compute_major = 9,
                           .compute_minor = 0,
                           .warp_threads = 32,
                           .max_threads_per_block = 1'024,
                           .max_threads = 2'048,
                           .max_blocks = 32,
                           .registers_per_block = 65'536,
                           .registers = 65'536,
                           .shared_bytes_per_block = 49'152,
                           .shared_bytes_per_block_optin = 232'448,
                           .shared_bytes_reserved_per_block = 1'024,
                           .shared_bytes = 233'472};
  return header;
}

// Kernels that registers keep at two blocks of four warps.
Answer ExplainLowOccupancy(const char* name) {
  return ExplainSteps(
      [name](int64_t, int, RecordBuilder* builder) {
        RawDeviceEvent& kernel = builder->records().device.back();
        kernel.name = builder->records().names.Intern(name);
        kernel.block[0] = 128;
        kernel.registers = 255;
        kernel.shared_dynamic = 0;
        kernel.occupancy = 0.125;
      },
      HeaderWithLimits());
}

TEST(Findings, LowOccupancyOfAMatrixKernelIsNone) {
  EXPECT_THAT(ExplainLowOccupancy("nvjet").findings, IsEmpty());
}

TEST(Findings, LowOccupancyNamesWhatLimitsIt) {
  const Answer answer = ExplainLowOccupancy("void reduce<4>(int)");

  const std::string& title = Find(answer, "low-occupancy").title;
  EXPECT_THAT(title,
              HasSubstr("reduce takes 100 % of the device work and can have "
                        "12.5 % of the warps active (theoretical)"));
  const bool calculates =
      TheoreticalOccupancy(*HeaderWithLimits().device.multiprocessor,
                           {.block_threads = 128,
                            .registers = 255,
                            .shared_static = 0,
                            .shared_dynamic = 0})
          .has_value();
  if (calculates) {
    EXPECT_THAT(title, HasSubstr(": limited by registers (255 a thread)."));
  }
}

TEST(Findings, LongWaitsForTheHostAreHostGaps) {
  const Answer answer =
      ExplainSteps([](int64_t, int, RecordBuilder*) {}, GpuHeader());
  EXPECT_THAT(Ids(answer), Not(testing::Contains("host-gap")));

  RecordBuilder builder;
  for (int i = 0; i < 20; ++i) {
    const int64_t at = i * 1'000'000;
    builder.Step(Phase::kTraced, i, at, at + 900'000)
        .Op("aten::mm", at + 250'000, at + 280'000)
        .Call("cuLaunchKernel", at + 251'000, at + 255'000, i + 1)
        .Kernel("nvjet", at + 260'000, at + 950'000, i + 1);
  }
  const Answer gaps = Explain(builder.Build(GpuHeader()));

  const Finding& finding = Find(gaps, "host-gap");
  EXPECT_THAT(finding.title, HasSubstr("waits for the host 20 times for more "
                                       "than 100 us"));
  EXPECT_THAT(finding.title, HasSubstr("before aten::mm in step 1."));
  EXPECT_EQ(finding.event_ids.size(), 16u);
}

TEST(Findings, OverheadBoundWorkThatRepeatsIsAGraphCandidate) {
  const Answer answer = Explain(MakeGpuTrace(30));

  ASSERT_EQ(answer.verdict->kind, VerdictKind::kOverheadBound);
  EXPECT_THAT(Ids(answer),
              ElementsAre("overhead-bound", "dominant-kernels", "layout",
                          "low-occupancy", "small-grid", "graph-candidate"))
      << "the most severe first";
  const Finding& overhead = Find(answer, "overhead-bound");
  EXPECT_EQ(overhead.numbers.at("device_busy").denominator, "window");
  EXPECT_EQ(overhead.event_ids.size(), 4u);
  EXPECT_EQ(
      Find(answer, "graph-candidate").numbers.at("launches_per_step").value, 2);
}

}  // namespace
}  // namespace traza
