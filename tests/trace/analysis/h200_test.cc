// SPDX-License-Identifier: Apache-2.0
//
// The answers to traces that an H200 recorded (tests/trace/fixtures/h200), each
// looked at by hand.
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "trace/analysis/answer.h"
#include "trace/analysis/check.h"
#include "trace/analysis/diff.h"
#include "trace/file/parquet_file.h"

namespace traza {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;
using testing::Not;

absl::StatusOr<Trace> LoadFixture(const std::string& name) {
  // Tests read the environment before they start threads.
  const char* root =
      std::getenv("TRAZA_SOURCE_DIR");  // NOLINT(concurrency-mt-unsafe)
  return ReadParquet(std::filesystem::path(root == nullptr ? "." : root) /
                     "tests/trace/fixtures/h200" /
                     absl::StrCat(name, ".parquet"));
}

Trace ReadFixture(const std::string& name) {
  absl::StatusOr<Trace> trace = LoadFixture(name);
  if (!trace.ok()) {
    ADD_FAILURE() << trace.status();
    return {};
  }
  return *std::move(trace);
}

Answer ExplainFile(const std::string& name) {
  return Explain(ReadFixture(name));
}

std::vector<std::string> Ids(const Answer& answer) {
  std::vector<std::string> ids;
  for (const Finding& finding : answer.findings) ids.push_back(finding.id);
  return ids;
}

Finding Find(const Answer& answer, const std::string& id) {
  for (const Finding& finding : answer.findings) {
    if (finding.id == id) return finding;
  }
  ADD_FAILURE() << "no finding " << id;
  return {};
}

double NumberOf(const Answer& answer, const std::string& name) {
  const auto found = answer.verdict->numbers.find(name);
  return found == answer.verdict->numbers.end() ? -1 : found->second.value;
}

class H200 : public testing::TestWithParam<const char*> {};

TEST_P(H200, IdleTimeIsExplainedToTheLastNanosecond) {
  const Answer answer = ExplainFile(GetParam());

  ASSERT_EQ(answer.breakdown.size(), 1u);
  const DeviceBreakdown& device = answer.breakdown[0];
  const IdleClasses& idle = device.idle_classes;
  EXPECT_EQ(device.busy_ns + device.idle_ns, device.window_ns);
  EXPECT_EQ(idle.profiler_ns.value_or(0) + idle.sync_ns.value_or(0) +
                idle.host_ns.value_or(0) + idle.launch_ns.value_or(0) +
                idle.dependency_ns.value_or(0) +
                idle.kernel_gap_ns.value_or(0) + idle.other_ns.value_or(0) +
                idle.unknown_ns.value_or(0),
            device.idle_ns);
  EXPECT_EQ(device.compute_ns.value_or(0) + device.copy_ns.value_or(0),
            device.busy_ns);
  EXPECT_EQ(answer.steps.perturbed->count, 0);
}

INSTANTIATE_TEST_SUITE_P(All, H200,
                         testing::Values("geglu", "mm4096", "mm64", "mm64_cold",
                                         "mm64_kernels", "storm", "conv",
                                         "sync_heavy", "two_streams"),
                         [](const auto& param) {
                           return std::string(param.param);
                         });

// Forty additions of 64 elements a step. Most are called while the one before
// is at work, and the device waits for their launches all the same.
TEST(H200Answer, AStormOfTinyKernelsIsOverheadBoundThoughMostOfThemQueue) {
  const Answer answer = ExplainFile("storm");

  ASSERT_TRUE(answer.verdict.has_value());
  EXPECT_EQ(answer.verdict->kind, VerdictKind::kOverheadBound);
  const LaunchStats& launches = *answer.breakdown[0].launches;
  EXPECT_EQ(launches.launches, 160);
  EXPECT_EQ(launches.idle, 59);
  EXPECT_EQ(launches.late, 160);
  EXPECT_THAT(NumberOf(answer, "device_busy"), AllOf(Ge(0.1), Le(0.11)));
  EXPECT_THAT(NumberOf(answer, "device_waiting"), Ge(0.85));
  EXPECT_THAT(Ids(answer), Contains("overhead-bound"));
}

TEST(H200Answer, AConvolutionOfContiguousImagesConvertsTheirLayout) {
  const Answer answer = ExplainFile("conv");

  const Finding finding = Find(answer, "layout-conversion");
  EXPECT_EQ(finding.severity, "warning");
  EXPECT_THAT(finding.title,
              AllOf(HasSubstr("12 kernels only change the layout of images"),
                    HasSubstr("given channels apart (NCHW)"),
                    HasSubstr("in aten::cudnn_convolution")));
  EXPECT_THAT(finding.suggestion, HasSubstr("torch.channels_last"));
  EXPECT_THAT(finding.numbers.at("conversion_share").value,
              AllOf(Ge(0.3), Le(0.4)));
}

// Products of fp32 on two streams: work side by side takes its time once.
TEST(H200Answer, TwoStreamsWorkSideBySide) {
  const Answer answer = ExplainFile("two_streams");

  ASSERT_TRUE(answer.verdict.has_value());
  const DeviceBreakdown& device = answer.breakdown[0];
  ASSERT_EQ(device.streams.size(), 2u);
  EXPECT_THAT(static_cast<double>(device.streams[0].busy_ns +
                                  device.streams[1].busy_ns) /
                  static_cast<double>(device.busy_ns),
              AllOf(Ge(1.85), Le(2.0)));
  EXPECT_THAT(NumberOf(answer, "roof_share"), AllOf(Ge(0.8), Le(0.95)));
}

// Every .item() waits, and then nothing is queued.
TEST(H200Answer, ALoopThatReadsEachResultIsOverheadBound) {
  const Answer answer = ExplainFile("sync_heavy");

  ASSERT_TRUE(answer.verdict.has_value());
  EXPECT_EQ(answer.verdict->kind, VerdictKind::kOverheadBound);
  EXPECT_THAT(NumberOf(answer, "device_waiting"), Ge(0.75));
  EXPECT_THAT(Ids(answer), Contains("sync-in-step"));
}

TEST(H200Answer, ASmallMatmulIsOverheadBound) {
  const Answer answer = ExplainFile("mm64");

  ASSERT_TRUE(answer.verdict.has_value());
  EXPECT_EQ(answer.verdict->kind, VerdictKind::kOverheadBound);
  EXPECT_THAT(NumberOf(answer, "device_busy"), AllOf(Ge(0.05), Le(0.12)));
  EXPECT_THAT(NumberOf(answer, "device_waiting"), Ge(0.8));
  EXPECT_THAT(NumberOf(answer, "device_waiting_untraced"), Ge(0.8));
  const LaunchStats& launches = *answer.breakdown[0].launches;
  EXPECT_EQ(launches.launches, 40);
  EXPECT_THAT(*launches.latency_min_ns, AllOf(Ge(6'000), Le(10'000)));
  EXPECT_THAT(*launches.latency_p50_ns, AllOf(Ge(8'000), Le(11'000)));
  EXPECT_EQ(answer.structure.kernels, (PerStep{2, 0}));
  EXPECT_THAT(Ids(answer), Contains("overhead-bound"));
  EXPECT_THAT(Ids(answer), Contains("graph-candidate"));
}

TEST(H200Answer, ALargeMatmulIsComputeBound) {
  const Answer answer = ExplainFile("mm4096");

  ASSERT_TRUE(answer.verdict.has_value());
  EXPECT_EQ(answer.verdict->kind, VerdictKind::kComputeBound);
  EXPECT_THAT(NumberOf(answer, "device_busy"), Ge(0.95));
  EXPECT_THAT(NumberOf(answer, "matrix_kernels"), AllOf(Ge(0.85), Le(0.9)));
  EXPECT_EQ(answer.breakdown[0].launches->idle, 1);
  EXPECT_FALSE(answer.breakdown[0].launches->latency_p50_ns.has_value())
      << "the first launch is a fill";
  // A step takes 200 us, whatever the CPU needs to launch it.
  EXPECT_THAT(*answer.steps.traced->median_ns, AllOf(Ge(190'000), Le(215'000)));
  EXPECT_THAT(*answer.steps.traced_host->median_ns, Le(50'000));
  EXPECT_EQ(answer.structure.kernels, (PerStep{2, 0}));
  EXPECT_THAT(Ids(answer), Not(Contains("small-grid")));
}

TEST(H200Answer, AnMlpIsComputeBoundByAHair) {
  const Answer answer = ExplainFile("geglu");

  ASSERT_TRUE(answer.verdict.has_value());
  EXPECT_EQ(answer.verdict->kind, VerdictKind::kComputeBound);
  EXPECT_THAT(NumberOf(answer, "matrix_kernels"), AllOf(Ge(0.7), Le(0.72)));
  EXPECT_THAT(answer.verdict->reasons[0], HasSubstr("by kernel names"));
  EXPECT_EQ(answer.structure.kernels, (PerStep{5, 0}));
}

// 8192 x 3072 elements of 2 bytes: 50,331,648 bytes.
TEST(H200Answer, AnMlpHasAGatedUnitToFuse) {
  const Answer answer = ExplainFile("geglu");

  const Finding finding = Find(answer, "unfused-pointwise");
  EXPECT_EQ(finding.severity, "warning");
  EXPECT_THAT(finding.title, HasSubstr("gelu + mul run one after the other"));
  EXPECT_EQ(finding.numbers.at("estimated_bytes_saved").value,
            30 * 2 * 50'331'648.);
  EXPECT_THAT(finding.numbers.at("bandwidth").value,
              AllOf(Ge(3e12), Le(4.8e12)));
  EXPECT_THAT(Find(answer, "layout").numbers.at("products_tn").value, 90);
  EXPECT_EQ(
      Find(answer, "metadata-only-op").numbers.at("operators_per_step").value,
      18)
      << "t, transpose, as_strided, reshape, view, _unsafe_view, 3 each";
  EXPECT_THAT(Ids(answer), Not(Contains("dtype-upcast")));
  EXPECT_THAT(Ids(answer), Not(Contains("copy-before-gemm")));
}

TEST(H200Answer, AStormOfSmallAdditionsIsNotLimitedByBandwidth) {
  const Finding finding = Find(ExplainFile("storm"), "unfused-pointwise");

  EXPECT_THAT(finding.title, HasSubstr("add x40 run one after the other"));
  EXPECT_THAT(finding.title, HasSubstr("one launch in place of 40"));
  EXPECT_EQ(finding.numbers.at("launches_saved").value, 4 * 39);
  EXPECT_EQ(finding.numbers.count("bandwidth"), 0u);
}

TEST(H200Answer, AColdStepSaysWhatItPaysFor) {
  const Finding finding = Find(ExplainFile("mm64_cold"), "cold-step");

  double sum = 0;
  for (const auto& [name, number] : finding.numbers) {
    if (absl::StartsWith(name, "cold_") && number.unit == "ns") {
      sum += number.value;
    }
  }
  EXPECT_EQ(sum, finding.numbers.at("first_cold_step").value);
  EXPECT_GT(finding.numbers.at("cold_library_set_up").value, 100e6);
  EXPECT_THAT(finding.title, HasSubstr("first-call set-up of libraries"));
}

TEST(H200Answer, OverheadOfColdStepsIsNotThatOfTheTraced) {
  const Answer answer = ExplainFile("mm64_cold");

  EXPECT_EQ(answer.completeness.buffer_requests_in_window, 1);
  for (const Criterion& criterion : answer.validity.criteria) {
    if (criterion.id == "perturbed") {
      EXPECT_TRUE(criterion.met);
    }
  }
  EXPECT_EQ(answer.breakdown[0].records, 60) << "those of the traced steps";
  EXPECT_EQ(answer.verdict->kind, VerdictKind::kOverheadBound);
  EXPECT_THAT(Ids(answer), Contains("cold-step"));
  EXPECT_THAT(Ids(answer), Not(Contains("sync-in-step")))
      << "only the cold steps wait";
}

TEST(H200Answer, WithoutCallsTimeIsAllThatIsKnown) {
  const Answer answer = ExplainFile("mm64_kernels");

  EXPECT_FALSE(answer.verdict.has_value());
  EXPECT_THAT(answer.note, HasSubstr("launches were not recorded"));
  EXPECT_EQ(answer.breakdown[0].records, 60);
  EXPECT_FALSE(answer.breakdown[0].launches.has_value());
  EXPECT_FALSE(answer.breakdown[0].idle_classes.host_ns.has_value());
  EXPECT_TRUE(answer.structure.averaged);
  EXPECT_EQ(answer.structure.per_step.size(), 2u);
}

TEST(H200Diff, ATraceDoesNotDifferFromItself) {
  for (const char* name : {"geglu", "mm4096", "mm64", "mm64_cold"}) {
    const Trace trace = ReadFixture(name);
    const absl::StatusOr<Diff> diff = DiffTraces(trace, trace);

    ASSERT_TRUE(diff.ok()) << name << diff.status();
    EXPECT_EQ(diff->verdict, DiffVerdict::kNoDifference) << name;
    EXPECT_EQ(diff->step_ns.difference, 0) << name;
    EXPECT_TRUE(diff->changes.empty()) << name;
    EXPECT_EQ(diff->fingerprint_before, diff->fingerprint_after) << name;
  }
}

TEST(H200Diff, OtherSizesAreUnlikeAndForcedShowTheOtherKernel) {
  const Trace small = ReadFixture("mm64");
  const Trace large = ReadFixture("mm4096");
  EXPECT_EQ(DiffTraces(small, large).status().code(),
            absl::StatusCode::kFailedPrecondition);

  const absl::StatusOr<Diff> diff = DiffTraces(small, large, {.force = true});

  ASSERT_TRUE(diff.ok()) << diff.status();
  EXPECT_EQ(diff->verdict, DiffVerdict::kSlower);
  EXPECT_THAT(*diff->step_ns.low, Ge(150'000));
  EXPECT_THAT(diff->changes,
              Contains(HasSubstr("nvjet_sm90_tst_64x8_64x16_1x4_h_bz_NNT "
                                 "became")));
  EXPECT_THAT(diff->reasons, Contains(HasSubstr("size: 64 before, 4096")));
}

// The parts share out the device work of a step.
TEST(H200Diff, PartsAddUpToTheWorkOfAStep) {
  const Trace trace = ReadFixture("geglu");
  const absl::StatusOr<Diff> diff = DiffTraces(trace, trace);
  ASSERT_TRUE(diff.ok()) << diff.status();

  double records = 0;
  double device_ns = 0;
  for (const DiffEntry& entry : diff->entries) {
    records += entry.device_records.before.value_or(0);
    device_ns += entry.device_ns.before.value_or(0);
  }
  EXPECT_EQ(records, 7) << "five kernels and two fills";
  // Medians of parts are not quite the median of the whole.
  EXPECT_NEAR(device_ns, *diff->busy_ns.before, 0.02 * device_ns);
}

// Outcomes of `texts` for a trace, one letter each: P, F, U.
std::string CheckFile(const std::string& name,
                      const std::vector<std::string>& texts) {
  const absl::StatusOr<Trace> trace = LoadFixture(name);
  const auto checks = ParseChecks(texts);
  if (!trace.ok() || !checks.ok()) return "unreadable";
  const auto results = RunChecks(*trace, *checks, LoadFixture);
  std::string outcomes;
  for (const CheckResult& result :
       results.value_or(std::vector<CheckResult>())) {
    outcomes += CheckOutcomeName(result.outcome)[0];
  }
  return outcomes;
}

TEST(H200Checks, OfAMatmulThatIsOverheadBound) {
  EXPECT_EQ(CheckFile("mm64",
                      {"kernels_per_step == 2", "kernels_per_step(nvjet) == 1",
                       "launches_per_step == 2", "copies_per_step(dtod) == 1",
                       "verdict == overhead-bound", "device_busy < 50%",
                       "finding(graph-candidate) == present",
                       "launch_latency_p99 < 1ms",
                       "step_time_p50 <= 1.05 * baseline(mm64)",
                       "same_kernels(mm64_kernels)", "same_kernels(geglu)"}),
            "PPPFPPPPPPF");
}

TEST(H200Checks, WhatDepthKernelsHasNotIsUnknown) {
  EXPECT_EQ(CheckFile("mm64_kernels",
                      {"kernels_per_step == 2", "kernel_time_p50 < 3us",
                       "same_kernels(mm64)", "launches_per_step == 2",
                       "launch_latency_p99 < 1ms", "stable",
                       "finding(sync-in-step) == absent"}),
            "PPPUUUU");
}

}  // namespace
}  // namespace traza
