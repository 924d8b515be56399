// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/diff_unlike.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/record_builder.h"
#include "tests/support/status_matchers.h"

namespace traza {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> Unlike(const Trace& before, const Trace& after) {
  std::vector<std::string> texts;
  for (const RunDifference& difference : CompareRuns(before, after).unlike) {
    texts.push_back(DifferenceText(difference));
  }
  return texts;
}

TEST(CompareRuns, AnotherVariantIsAlike) {
  Trace other = MakeGpuTrace(30);
  other.header.job.variant = "compiled";
  other.header.job_id = "another";
  other.header.versions["traza"] = "0.2.0";

  EXPECT_THAT(Unlike(MakeGpuTrace(30), other), IsEmpty());
}

struct Case {
  const char* name;
  void (*change)(Header*);
  const char* text;
};

class UnlikeRuns : public testing::TestWithParam<Case> {};

TEST_P(UnlikeRuns, AreListedWithBothValues) {
  Trace other = MakeGpuTrace(30);
  GetParam().change(&other.header);

  Trace first = MakeGpuTrace(30);
  first.header.versions["driver"] = "580.1";
  other.header.versions.try_emplace("driver", "580.1");

  EXPECT_THAT(Unlike(first, other), ElementsAre(GetParam().text));
}

INSTANTIATE_TEST_SUITE_P(
    Each, UnlikeRuns,
    testing::Values(
        Case{"L2Cache", [](Header* h) { h->job.l2 = L2Policy::kFlush; },
             "L2 cache: warm before, flush after"},
        Case{"Model", [](Header* h) { h->device.model = "NVIDIA A100"; },
             "device model: NVIDIA H200 before, NVIDIA A100 after"},
        Case{"Driver", [](Header* h) { h->versions["driver"] = "570.2"; },
             "version of driver: 580.1 before, 570.2 after"},
        Case{"Torch", [](Header* h) { h->versions["torch"] = "2.12.0"; },
             "version of torch: 2.11.0 before, 2.12.0 after"},
        Case{"Size", [](Header* h) { h->job.params["size"] = "4096"; },
             "parameter size: 64 before, 4096 after"},
        Case{"Dtype", [](Header* h) { h->job.params["dtype"] = "bf16"; },
             "parameter dtype: fp32 before, bf16 after"},
        Case{"Workload", [](Header* h) { h->job.workload = "mlp"; },
             "workload: matmul_add before, mlp after"},
        Case{"Depth", [](Header* h) { h->job.depth = Depth::kShapes; },
             "depth: ops before, shapes after"},
        Case{"Partial", [](Header* h) { h->partial = true; },
             "trace: whole before, stopped before all steps were traced "
             "after"}),
    [](const auto& param) { return std::string(param.param.name); });

TEST(CompareRuns, AnInvalidTraceIsUnlike) {
  Trace other = MakeGpuTrace(30);
  other.header.completeness.dropped = 1'000'000;

  EXPECT_THAT(Unlike(MakeGpuTrace(30), other),
              ElementsAre(HasSubstr("validity: ")));
}

// Its dtype is in the names of its kernels only.
TEST(CompareRuns, AnImportOfAnotherTypeIsADoubt) {
  const auto import = [](const std::string& type) {
    RecordBuilder builder;
    builder.Kernel(
        "void at::native::vectorized_elementwise_kernel<4, "
        "at::native::FillFunctor<" +
            type + ">>(int)",
        kTraceOrigin, kTraceOrigin + 100, 1);
    Header header = MakeGpuTrace(1).header;
    header.job = {};
    return builder.Build(header);
  };
  const auto doubts = [&](const std::string& before, const std::string& after) {
    return CompareRuns(import(before), import(after)).doubts;
  };

  EXPECT_THAT(doubts("float", "c10::BFloat16"),
              Contains("Most of the work was done in fp32 before and in bf16 "
                       "after."));
  EXPECT_THAT(doubts("float", "float"), Not(Contains(HasSubstr("fp32"))));
}

TEST(CompareRuns, WhatAnImportDoesNotSayIsUnknown) {
  Trace import = MakeGpuTrace(30);
  import.header = Header();
  import.header.device.model = "NVIDIA H200";

  const RunComparison runs = CompareRuns(MakeGpuTrace(30), import);

  EXPECT_THAT(runs.unlike, IsEmpty());
  EXPECT_THAT(runs.unknown, Contains("version of torch"));
  EXPECT_THAT(runs.unknown, Contains("workload and parameters"));
  EXPECT_THAT(runs.doubts, Contains(HasSubstr("Only one of them")));
}

TEST(CompareRuns, WorkOfADeviceHasNothingToBeComparedWithWhereThereIsNone) {
  Trace import = MakeCpuTrace(30);
  import.header = Header();

  EXPECT_THAT(Unlike(import, MakeGpuTrace(30)),
              Contains("device work: none before, recorded after"));
  EXPECT_THAT(Unlike(MakeGpuTrace(30), import),
              Contains("device work: recorded before, none after"));
  EXPECT_THAT(Unlike(import, MakeCpuTrace(30)), IsEmpty());
}

TEST(CompareRuns, ThreadsOfACpuJobMatter) {
  Trace other = MakeCpuTrace(30);
  other.header.threads = 8;

  EXPECT_THAT(Unlike(MakeCpuTrace(30), other),
              ElementsAre("threads: 4 before, 8 after"));
}

TEST(CompareRuns, AThrottledRunIsDoubtful) {
  Trace other = MakeGpuTrace(30);
  other.header.state_after = DeviceState();
  other.header.state_after->throttle_reasons = {"sw_power_cap"};
  other.header.state_after->other_processes = 1;

  const RunComparison runs = CompareRuns(MakeGpuTrace(30), other);

  EXPECT_THAT(runs.doubts, Contains(HasSubstr("sw_power_cap")));
  EXPECT_THAT(runs.doubts, Contains(HasSubstr("Other processes")));
}

TEST(RunsUnlike, CutsLongAndManyValues) {
  std::vector<RunDifference> differences(
      50, {"x", std::string(5'000, 'a'), "b\nc"});

  const absl::Status status = RunsUnlike(differences);

  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition,
                               HasReason("RUNS_UNLIKE")));
  EXPECT_LT(status.message().size(), 4'000u);
  EXPECT_THAT(std::string(status.message()), HasSubstr("and 40 more"));
}

}  // namespace
}  // namespace traza
