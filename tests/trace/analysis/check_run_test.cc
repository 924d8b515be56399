// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/record_builder.h"
#include "trace/analysis/check.h"

namespace traza {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr int kSteps = 20;

Header GpuHeader() {
  Header header = MakeGpuTrace(1).header;
  header.collector = "cupti";
  header.job.traced_steps = kSteps;
  header.timed.batch_ns.assign(30, 100'000);
  header.completeness.missing_gpu = 0;
  header.peak_resident_bytes = int64_t{1} << 30;
  DeviceState quiet;
  quiet.throttle_reasons = {"none"};
  quiet.other_processes = 0;
  header.state_before = header.state_after = quiet;
  return header;
}

struct Shape {
  Header header = GpuHeader();
  bool calls = true;
  int device = 0;
  // Adds to step `i`, which begins at `at`.
  std::function<void(int64_t at, int i, RecordBuilder* builder)> add =
      [](int64_t, int, RecordBuilder*) {};
};

// Twenty steps of 100 us. Each launches a kernel of 40 us, 4.8 us after its
// call, one of 10 us, and a copy of 8192 bytes in 5 us, all on one stream, and
// waits for them: 55 us of device work in 100 us.
Trace MakeSteps(const Shape& shape = {}) {
  RecordBuilder builder;
  builder.OnDevice(shape.device);
  for (int i = 0; i < kSteps; ++i) {
    const int64_t at = i * 100'000;
    builder.Step(Phase::kTraced, i, at, at + 99'000);
    if (shape.calls) {
      builder.Op("aten::mm", at + 100, at + 20'000)
          .Call("cuLaunchKernel", at + 200, at + 900, 3 * i + 1)
          .Op("aten::add", at + 21'000, at + 40'000)
          .Call("cudaLaunchKernel", at + 21'100, at + 22'000, 3 * i + 2)
          .Call("cudaMemcpyAsync", at + 30'000, at + 31'000, 3 * i + 3)
          .Sync("cudaStreamSynchronize", at + 80'000, at + 98'000);
    }
    builder.Kernel("gemm", at + 5'000, at + 45'000, 3 * i + 1)
        .Kernel("add", at + 50'000, at + 60'000, 3 * i + 2)
        .Copy("Memcpy DtoD", at + 70'000, at + 75'000, 3 * i + 3);
    shape.add(at, i, &builder);
  }
  builder.InPhase(Phase::kTraced, 0, kSteps * 100'000);
  return builder.Build(shape.header);
}

// A trace with a third kernel in every step but the first `without`.
Trace MakeOtherSteps(int without = 0) {
  Shape shape;
  shape.add = [without](int64_t at, int i, RecordBuilder* builder) {
    if (i < without) return;
    builder->Call("cuLaunchKernel", at + 32'000, at + 33'000, 1000 + i)
        .Kernel("gelu", at + 76'000, at + 78'000, 1000 + i);
  };
  return MakeSteps(shape);
}

absl::StatusOr<Trace> NoBaseline(const std::string& name) {
  return absl::NotFoundError(absl::StrCat("no trace ", name));
}

CheckResult Check(const Trace& trace, const std::string& text,
                  const BaselineLoader& load = NoBaseline) {
  const auto checks = ParseChecks({text});
  if (!checks.ok()) {
    ADD_FAILURE() << checks.status();
    return {};
  }
  const auto results = RunChecks(trace, *checks, load);
  if (!results.ok() || results->size() != 1) {
    ADD_FAILURE() << results.status();
    return {};
  }
  return results->front();
}

CheckResult CheckAgainst(const Trace& trace, const Trace& baseline,
                         const std::string& text) {
  return Check(trace, text, [&](const std::string&) { return baseline; });
}

MATCHER(Passes, "") {
  *result_listener << arg.message;
  return arg.outcome == CheckOutcome::kPassed;
}
MATCHER(Fails, "") {
  *result_listener << arg.message;
  return arg.outcome == CheckOutcome::kFailed;
}
MATCHER_P(IsUnknown, why, "") {
  *result_listener << arg.message;
  return arg.outcome == CheckOutcome::kUnknown &&
         arg.message.find(why) != std::string::npos;
}

TEST(RunChecks, CountsWhatAStepDoes) {
  const Trace trace = MakeSteps();

  EXPECT_THAT(Check(trace, "kernels_per_step == 2"), Passes());
  EXPECT_THAT(Check(trace, "kernels_per_step(/^(gemm|gelu)$/) == 1"), Passes());
  EXPECT_THAT(Check(trace, "kernels_per_step(em) == 1"), Passes());
  EXPECT_THAT(Check(trace, "kernels_per_step(nothing) == 0"), Passes());
  EXPECT_THAT(Check(trace, "copies_per_step == 1"), Passes());
  EXPECT_THAT(Check(trace, "copies_per_step(dtod) == 1"), Passes());
  EXPECT_THAT(Check(trace, "copies_per_step(htod) == 0"), Passes());
  EXPECT_THAT(Check(trace, "fills_per_step == 0"), Passes());
  EXPECT_THAT(Check(trace, "launches_per_step == 3"), Passes());
  EXPECT_THAT(Check(trace, "ops_per_step == 2"), Passes());
  EXPECT_THAT(Check(trace, "ops_per_step(aten::mm) == 1"), Passes());
  EXPECT_THAT(Check(trace, "ops_per_step(aten::m) == 0"), Passes());
  EXPECT_THAT(Check(trace, "syncs_per_step == 1"), Passes());
  EXPECT_THAT(Check(trace, "allocs_per_step == 0"), Passes());
  EXPECT_THAT(Check(trace, "bytes_per_step == 8192B"), Passes());
  EXPECT_THAT(Check(trace, "bytes_per_step(dtod) <= 8KiB"), Passes());
}

TEST(RunChecks, AFailureHasTheNumbers) {
  const CheckResult result = Check(MakeSteps(), " kernels_per_step(gemm) == 5");

  EXPECT_THAT(result, Fails());
  EXPECT_EQ(result.expression, "kernels_per_step(gemm) == 5");
  EXPECT_EQ(result.quantity, "kernels_per_step(gemm)");
  EXPECT_EQ(result.number, (Number{1, "count", "", ""}));
  EXPECT_EQ(result.message, "kernels_per_step(gemm) is 1, expected == 5.");
  EXPECT_THAT(result.event_ids, SizeIs(16));
}

TEST(RunChecks, EveryOperatorHasItsBound) {
  const Trace trace = MakeSteps();
  for (const char* text : {"== 2", "!= 3", "< 3", "<= 2", "> 1", ">= 2"}) {
    EXPECT_THAT(Check(trace, absl::StrCat("kernels_per_step ", text)),
                Passes());
  }
  for (const char* text : {"== 3", "!= 2", "< 2", "<= 1", "> 2", ">= 3"}) {
    EXPECT_THAT(Check(trace, absl::StrCat("kernels_per_step ", text)), Fails());
  }
}

// Ten steps with 2 kernels and ten with 3 are not 2.5 a step.
TEST(RunChecks, EveryStepHasToComply) {
  const Trace trace = MakeOtherSteps(10);

  const CheckResult result = Check(trace, "kernels_per_step <= 2.5");

  EXPECT_THAT(result, Fails());
  EXPECT_EQ(result.number->value, 2.5);
  EXPECT_THAT(result.message, HasSubstr("is 2.5 on average, 2 to 3 by step"));
  EXPECT_THAT(Check(trace, "kernels_per_step == 2.5"), Fails());
  EXPECT_THAT(Check(trace, "kernels_per_step >= 2.5"), Fails());
  EXPECT_THAT(Check(trace, "kernels_per_step <= 3"), Passes());
  EXPECT_THAT(Check(trace, "stable"), Fails());
  EXPECT_THAT(Check(trace, "finding(unstable-kernel-count) == present"),
              Passes());
}

TEST(RunChecks, TimesOfKernelsAndDevices) {
  const Trace trace = MakeSteps();

  EXPECT_THAT(Check(trace, "device_time_per_step == 55us"), Passes());
  EXPECT_THAT(Check(trace, "device_time_per_step(/gemm/) == 40us"), Passes());
  EXPECT_THAT(Check(trace, "kernel_time_p50(gemm) == 40us"), Passes());
  // The smallest of 40 that 99 % do not exceed.
  EXPECT_THAT(Check(trace, "kernel_time_p99 == 40us"), Passes());
  EXPECT_THAT(Check(trace, "kernel_time_max(add) <= 10us"), Passes());
  EXPECT_THAT(Check(trace, "kernel_time_p50(x) < 1s"),
              IsUnknown("No kernel of that name"));
  EXPECT_THAT(Check(trace, "busy_per_step_p50 == 55us"), Passes());
  EXPECT_THAT(Check(trace, "launch_latency_p50 == 4.8us"), Passes());
  EXPECT_THAT(Check(trace, "launch_latency_p90 == 4.8us"), Passes());
  EXPECT_THAT(Check(trace, "launch_latency_p99 == 4.8us"), Passes());
}

// The window ends with the last step, at 1999 us: busy 20 x 55 us of it.
TEST(RunChecks, SharesSayOfWhat) {
  const Trace trace = MakeSteps();

  const CheckResult busy = Check(trace, "device_busy >= 55%");

  EXPECT_THAT(busy, Passes());
  EXPECT_NEAR(busy.number->value, 1100. / 1999, 1e-12);
  EXPECT_EQ(busy.number->numerator, "device busy");
  EXPECT_EQ(busy.number->denominator, "window of the traced steps");
  EXPECT_THAT(Check(trace, "device_idle < 0.45"), Passes());
  EXPECT_THAT(Check(trace, "idle(sync) < 99%"), Passes());
  EXPECT_THAT(Check(trace, "occupancy == 18.75%"), Passes());
  EXPECT_THAT(Check(trace, "occupancy(add) > 0.2"), Fails());
}

TEST(RunChecks, StepTimesPreferUntracedSteps) {
  const Trace trace = MakeSteps();
  Shape untimed;
  untimed.header.timed = {};
  const Trace traced_only = MakeSteps(untimed);

  const CheckResult timed = Check(trace, "step_time_p50 == 100us");
  const CheckResult traced = Check(traced_only, "step_time_p50 == 100us");

  EXPECT_THAT(timed, Passes());
  EXPECT_THAT(timed.message, HasSubstr("Of 30 untraced steps."));
  EXPECT_THAT(traced, Passes());
  EXPECT_THAT(traced.message,
              AllOf(HasSubstr("Of 20 traced steps."),
                    HasSubstr("No step was timed without tracing")));
  // The first traced step has nothing before it and takes 99 us.
  EXPECT_THAT(Check(traced_only, "step_time_min == 99us"), Passes());
  EXPECT_THAT(Check(traced_only, "step_time_max == 100us"), Passes());
  EXPECT_THAT(Check(traced_only, "step_time_p99 == 100us"), Passes());
  EXPECT_THAT(Check(traced_only, "step_time_mean < 100us"), Passes());
  EXPECT_THAT(Check(trace, "traced_step_time_p50 == 100us"), Passes());
  EXPECT_THAT(Check(trace, "own_overhead == 0us"), Passes());
  EXPECT_THAT(Check(trace, "own_overhead_share < 1%"), Passes());
  EXPECT_THAT(Check(traced_only, "own_overhead < 1s"),
              IsUnknown("timed and traced steps"));
  EXPECT_THAT(Check(trace, "cold_step_time < 1s"), IsUnknown("--cold-steps 1"));
}

TEST(RunChecks, ABaselineIsAnotherTracesValue) {
  Shape slow;
  slow.header.timed.batch_ns.assign(30, 120'000);
  const Trace trace = MakeSteps(slow);
  const Trace baseline = MakeSteps();

  const CheckResult result =
      CheckAgainst(trace, baseline, "step_time_p50 <= 1.05 * baseline(B)");

  EXPECT_THAT(result, Fails());
  EXPECT_THAT(
      result.message,
      HasSubstr("step_time_p50 is 120 us, expected <= 1.05 * baseline(B) = "
                "105 us (it is 100 us)."));
  EXPECT_THAT(
      CheckAgainst(trace, baseline, "step_time_p50 <= baseline(B) * 1.2"),
      Passes());
  EXPECT_THAT(
      CheckAgainst(trace, baseline, "kernels_per_step(gemm) == baseline(B)"),
      Passes());
  EXPECT_THAT(CheckAgainst(MakeOtherSteps(), baseline,
                           "kernels_per_step <= baseline(B)"),
              Fails());
  EXPECT_THAT(CheckAgainst(MakeOtherSteps(1), MakeOtherSteps(19),
                           "kernels_per_step <= baseline(B)"),
              Passes());
  EXPECT_THAT(CheckAgainst(MakeOtherSteps(1), MakeOtherSteps(19),
                           "kernels_per_step == baseline(B)"),
              Fails());
}

TEST(RunChecks, TracedAndUntracedTimesDoNotCompare) {
  Shape untimed;
  untimed.header.timed = {};

  EXPECT_THAT(CheckAgainst(MakeSteps(), MakeSteps(untimed),
                           "step_time_p50 <= 2 * baseline(B)"),
              IsUnknown("on untraced steps here and on traced steps in the"));
}

TEST(RunChecks, SameKernelsSaysWhatDiffers) {
  const Trace trace = MakeSteps();

  EXPECT_THAT(CheckAgainst(trace, MakeSteps(), "same_kernels(B)"), Passes());
  const CheckResult result =
      CheckAgainst(trace, MakeOtherSteps(), "same_kernels(B)");
  EXPECT_THAT(result, Fails());
  EXPECT_EQ(result.word, "false");
  EXPECT_THAT(result.message,
              HasSubstr("Only in the trace: none; only in the baseline: 1 x "
                        "\"gelu\"."));
  EXPECT_THAT(CheckAgainst(trace, MakeOtherSteps(), "same_kernels(B) == false"),
              Passes());
  EXPECT_THAT(CheckAgainst(trace, MakeOtherSteps(5), "same_kernels(B)"),
              IsUnknown("In the baseline: 5 of its 20 steps"));
  EXPECT_THAT(CheckAgainst(trace, MakeCpuTrace(30), "same_kernels(B)"),
              IsUnknown("no device was watched"));
}

Trace WithOutput(std::optional<Fingerprint> fingerprint) {
  Shape shape;
  shape.header.fingerprint = std::move(fingerprint);
  return MakeSteps(shape);
}

Fingerprint Output(double sum, double norm) {
  return {.finite = true,
          .sum = sum,
          .norm = norm,
          .elements = 4096,
          .dtype = "bfloat16",
          .shape = "[64,64]"};
}

TEST(RunChecks, SameOutputComparesFingerprintsWithinTheDtypesTolerance) {
  const Trace trace = WithOutput(Output(10, 100));

  EXPECT_THAT(
      CheckAgainst(trace, WithOutput(Output(13, 100.9)), "same_output(B)"),
      Passes());
  const CheckResult result =
      CheckAgainst(trace, WithOutput(Output(10, 102)), "same_output(B)");
  EXPECT_THAT(result, Fails());
  EXPECT_EQ(result.word, "false");
  EXPECT_THAT(result.message,
              AllOf(HasSubstr("norm 100, sum 10; in the baseline: "),
                    HasSubstr("norm 102"), HasSubstr("tolerance 0.01 of")));
  EXPECT_THAT(CheckAgainst(trace, WithOutput(Output(10, 102)),
                           "same_output(B) == false"),
              Passes());
}

TEST(RunChecks, SameOutputNeverPassesOnNumbersThatAreNone) {
  Fingerprint nan = Output(std::nan(""), std::nan(""));
  nan.finite = false;
  Fingerprint lying = Output(std::nan(""), 100);

  EXPECT_THAT(CheckAgainst(WithOutput(nan), WithOutput(nan), "same_output(B)"),
              Fails());
  EXPECT_THAT(CheckAgainst(WithOutput(nan), WithOutput(Output(10, 100)),
                           "same_output(B)"),
              Fails());
  EXPECT_THAT(
      CheckAgainst(WithOutput(lying), WithOutput(lying), "same_output(B)"),
      Fails());
}

TEST(RunChecks, SameOutputIsUnknownWithoutBothFingerprints) {
  const Trace trace = WithOutput(Output(10, 100));

  EXPECT_THAT(CheckAgainst(trace, WithOutput(std::nullopt), "same_output(B)"),
              IsUnknown("The baseline does not say what its work computed"));
  EXPECT_THAT(CheckAgainst(WithOutput(std::nullopt), trace, "same_output(B)"),
              IsUnknown("The trace does not say what its work computed"));
}

TEST(RunChecks, SameOutputSaysThatTheInputsDiffer) {
  Shape shape;
  shape.header.fingerprint = Output(10, 100);
  shape.header.job.seed = 7;

  EXPECT_THAT(CheckAgainst(MakeSteps(shape), WithOutput(Output(10, 100)),
                           "same_output(B)")
                  .message,
              HasSubstr("They ran with another seed."));
}

TEST(RunChecks, EachBaselineIsLoadedOnce) {
  const auto checks = ParseChecks(
      {"same_kernels(a)", "fills_per_step == baseline(b)", "stable",
       "kernels_per_step == baseline(a)", "copies_per_step == baseline(b)"});
  ASSERT_TRUE(checks.ok());
  std::vector<std::string> loaded;

  const auto results =
      RunChecks(MakeSteps(), *checks, [&](const std::string& name) {
        loaded.push_back(name);
        return MakeSteps();
      });

  ASSERT_TRUE(results.ok());
  EXPECT_TRUE(AllPassed(*results));
  EXPECT_THAT(loaded, ElementsAre("a", "b"));
  EXPECT_EQ((*results)[2].expression, "stable");
}

TEST(RunChecks, ABaselineThatIsNotThereEndsAll) {
  const auto checks = ParseChecks({"stable", "same_kernels(x)"});
  ASSERT_TRUE(checks.ok());

  EXPECT_EQ(RunChecks(MakeSteps(), *checks, NoBaseline).status(),
            absl::NotFoundError("no trace x"));
}

TEST(RunChecks, WordsOfTheAnswer) {
  const Trace trace = MakeSteps();

  EXPECT_THAT(Check(trace, "verdict != cpu-only"), Passes());
  EXPECT_THAT(Check(trace, "confidence > 10%"), Passes());
  EXPECT_THAT(Check(trace, "finding(sync-in-step) == present"), Passes());
  EXPECT_THAT(Check(trace, "finding(sync-in-step) == warning"), Passes());
  const CheckResult sync = Check(trace, "finding(sync-in-step) == absent");
  EXPECT_THAT(sync, Fails());
  EXPECT_THAT(sync.message, HasSubstr("The CPU waits for the device 20 times"));
  EXPECT_EQ(sync.word, "warning");
  EXPECT_THAT(Check(trace, "finding(pageable-copy) == absent"), Passes());
  EXPECT_THAT(Check(trace, "finding(cold-step) == absent"),
              IsUnknown("--cold-steps"));
  EXPECT_THAT(Check(trace, "stable"), Passes());
  EXPECT_THAT(Check(trace, "stable == false"), Fails());
  EXPECT_THAT(Check(trace, "partial == false"), Passes());
  EXPECT_THAT(Check(trace, "output_finite"), Passes());
  EXPECT_THAT(Check(trace, "lost_records == 0"), Passes());
  EXPECT_THAT(Check(trace, "peak_host_memory <= 1GiB"), Passes());
}

TEST(RunChecks, CallsOfHipAreCounted) {
  Shape shape;
  shape.add = [](int64_t at, int i, RecordBuilder* builder) {
    builder->Call("hipMalloc", at + 1'000, at + 2'000, 1'000 + i)
        .Call("hipMemcpyWithStream", at + 3'000, at + 4'000, 2'000 + i)
        .Copy("Memcpy DtoH (Device -> Host)", at + 76'000, at + 77'000,
              2'000 + i, 4, "dtoh");
  };
  const Trace trace = MakeSteps(shape);

  EXPECT_THAT(Check(trace, "allocs_per_step == 1"), Passes());
  EXPECT_THAT(Check(trace, "finding(alloc-in-step) == absent"), Fails());
  EXPECT_THAT(Check(trace, "syncs_per_step == 2"), Passes());
}

TEST(RunChecks, AStreamThatWaitsIsNoWaitOfTheCpu) {
  Shape shape;
  shape.add = [](int64_t at, int, RecordBuilder* builder) {
    builder->Sync("cudaStreamWaitEvent", at + 1'000, at + 2'000);
  };

  EXPECT_THAT(Check(MakeSteps(shape), "syncs_per_step == 1"), Passes());
}

TEST(RunChecks, CopiesThatDoNotSayTheirMemoryProveNothingPinned) {
  const auto copy = [](const char* name, const char* kind) {
    Shape shape;
    shape.add = [name, kind](int64_t at, int i, RecordBuilder* builder) {
      builder->Copy(name, at + 76'000, at + 77'000, 1'000 + i, 8192, kind);
    };
    return Check(MakeSteps(shape), "finding(pageable-copy) == absent");
  };

  EXPECT_THAT(copy("Memcpy HtoD (Host -> Device)", "htod"),
              IsUnknown("20 copies"));
  EXPECT_THAT(copy("Memcpy DtoH (Device -> Unknown)", "dtoh"),
              IsUnknown("pinned"));
  EXPECT_THAT(copy("copyBuffer", "unknown"), IsUnknown("pinned"));
  EXPECT_THAT(copy("Memcpy HtoD (Pinned -> Device)", "htod"), Passes());
  EXPECT_THAT(copy("Memcpy HtoD (Managed -> Device)", "htod"), Passes());
  EXPECT_THAT(copy("CopyDeviceToDevice", "dtod"), Passes());
  EXPECT_THAT(copy("Memcpy HtoD (Pageable -> Device)", "htod"), Fails());
}

TEST(RunChecks, WhatIsNotInTheTraceIsUnknown) {
  const Trace cpu = MakeCpuTrace(30);

  for (const char* text :
       {"kernels_per_step == 0", "copies_per_step == 0", "fills_per_step == 0",
        "launches_per_step == 0", "syncs_per_step == 0", "allocs_per_step == 0",
        "bytes_per_step == 0B", "device_time_per_step == 0ns",
        "device_busy < 1%", "idle(host) < 1%", "busy_per_step_p50 < 1s",
        "launch_latency_p50 < 1s", "occupancy < 1",
        "finding(pageable-copy) == absent", "finding(small-grid) == absent"}) {
    EXPECT_THAT(Check(cpu, text), IsUnknown("run on a GPU")) << text;
  }
  EXPECT_THAT(Check(cpu, "ops_per_step(aten::mm) == 1"), Passes());
  EXPECT_THAT(Check(cpu, "verdict == cpu-only"), Passes());
  EXPECT_THAT(Check(cpu, "stable"), Passes());
  EXPECT_THAT(Check(cpu, "peak_host_memory < 1TiB"), IsUnknown("how much"));
}

// Flags of ours are no help where torch.profiler made the trace.
TEST(RunChecks, AdviceForAnImportNamesNoFlagOfOurs) {
  const auto expect_no_flags = [](const Trace& trace,
                                  const std::vector<const char*>& texts) {
    for (const char* text : texts) {
      const CheckResult result = Check(trace, text);
      EXPECT_EQ(result.outcome, CheckOutcome::kUnknown) << text;
      EXPECT_THAT(result.message, Not(HasSubstr("--"))) << text;
      EXPECT_THAT(result.message, Not(HasSubstr("INVALID"))) << text;
    }
  };
  Shape shape;
  shape.header.collector = "kineto";
  shape.header.timed = {};
  shape.calls = false;
  expect_no_flags(MakeSteps(shape),
                  {"launches_per_step == 0", "ops_per_step == 0", "stable",
                   "cold_step_time < 1s", "own_overhead < 1s",
                   "busy_per_step_p50 < 1s", "idle(host) < 1%"});

  Trace cpu = MakeCpuTrace(30);
  cpu.header.collector = "kineto";
  cpu.header.device.kind = DeviceKind::kGpu;
  expect_no_flags(cpu, {"kernels_per_step == 0", "launches_per_step == 0",
                        "device_busy < 1%", "verdict == cpu-only"});
  EXPECT_THAT(Check(cpu, "kernels_per_step == 0"),
              IsUnknown("ProfilerActivity.CUDA"));
  cpu.header.completeness.unsure_gpu = 1;
  EXPECT_THAT(Check(cpu, "kernels_per_step == 0"),
              IsUnknown("end what else profiles the device"));
}

TEST(RunChecks, WhatMayBeLostIsNotCounted) {
  Trace trace = MakeSteps();
  trace.header.completeness.unsure_gpu = 3;

  EXPECT_THAT(Check(trace, "lost_records == 0"), IsUnknown("not counted: 3"));
}

// Not even zero of something is known where nobody looked.
TEST(RunChecks, DepthDecidesWhatIsKnown) {
  Shape kernels;
  kernels.calls = false;
  kernels.header.job.depth = Depth::kKernels;
  const Trace trace = MakeSteps(kernels);

  const CheckResult result = Check(trace, "kernels_per_step == 2");

  EXPECT_THAT(result, Passes());
  EXPECT_THAT(result.message, HasSubstr("divided by the number of steps"));
  EXPECT_THAT(Check(trace, "kernels_per_step(gemm) == 1"), Passes());
  EXPECT_THAT(Check(trace, "kernel_time_p50(gemm) == 40us"), Passes());
  EXPECT_THAT(Check(trace, "launches_per_step == 0"),
              IsUnknown("--depth launches"));
  EXPECT_THAT(Check(trace, "syncs_per_step == 0"),
              IsUnknown("--depth launches"));
  EXPECT_THAT(Check(trace, "ops_per_step == 0"), IsUnknown("--depth ops"));
  EXPECT_THAT(Check(trace, "finding(sync-in-step) == absent"),
              IsUnknown("--depth launches"));
  EXPECT_THAT(Check(trace, "idle(host) < 1%"), IsUnknown("--depth launches"));
  EXPECT_THAT(Check(trace, "stable"), IsUnknown("--depth launches"));

  RecordBuilder none;
  none.Step(Phase::kTraced, 0, 0, 100).Step(Phase::kTraced, 1, 100, 200);
  Header header = GpuHeader();
  header.job.depth = Depth::kTiming;
  EXPECT_THAT(Check(none.Build(header), "kernels_per_step == 0"),
              IsUnknown("--depth kernels"));
}

TEST(RunChecks, AWatchedDeviceThatDidNothingDidNothing) {
  RecordBuilder builder;
  builder.Step(Phase::kTraced, 0, 0, 100).Op("aten::mm", 10, 90);
  const Trace trace = builder.Build(GpuHeader());

  EXPECT_THAT(Check(trace, "kernels_per_step == 0"), Passes());
  EXPECT_THAT(Check(trace, "launches_per_step == 0"), Passes());
}

TEST(RunChecks, AFileWithoutStepsIsOneStep) {
  RecordBuilder builder;
  builder.Op("aten::mm", 0, 90)
      .Call("cudaLaunchKernel", 10, 20, 1)
      .Kernel("gemm", 30, 80, 1);
  Header header = GpuHeader();
  header.collector = "another";
  const Trace trace = builder.Build(std::move(header));

  const CheckResult result = Check(trace, "kernels_per_step == 1");

  EXPECT_THAT(result, Passes());
  EXPECT_THAT(result.message, HasSubstr("all of it counts as one"));
  EXPECT_THAT(Check(trace, "stable"), IsUnknown("at least 2"));
  EXPECT_THAT(Check(trace, "finding(sync-in-step) == absent"),
              IsUnknown("marks no steps"));
  EXPECT_THAT(Check(trace, "finding(graph-candidate) == absent"),
              IsUnknown("at least 2"));
  EXPECT_THAT(Check(trace, "finding(host-gap) == absent"), Passes());
}

TEST(RunChecks, SeveralDevicesHaveToBeTold) {
  Shape shape;
  shape.add = [](int64_t at, int i, RecordBuilder* builder) {
    builder->OnDevice(3)
        .Call("cuLaunchKernel", at + 33'000, at + 34'000, 1000 + i)
        .Kernel("gemm", at + 50'000, at + 60'000, 1000 + i)
        .OnDevice(0);
  };
  const Trace trace = MakeSteps(shape);

  EXPECT_THAT(Check(trace, "device_busy > 1%"),
              IsUnknown("Several devices worked (0, 3): say which, as in "
                        "device_busy(0)."));
  EXPECT_THAT(Check(trace, "idle(host) > 1%"), IsUnknown("idle(host,0)"));
  EXPECT_THAT(Check(trace, "busy_per_step_p50(0) == 55us"), Passes());
  EXPECT_THAT(Check(trace, "busy_per_step_p50(3) == 10us"), Passes());
  EXPECT_THAT(Check(trace, "device_busy(1) > 1%"),
              IsUnknown("Device 1 did no work; these did: 0, 3."));
  EXPECT_THAT(Check(trace, "kernels_per_step == 3"), Passes());
}

TEST(RunChecks, AnInvalidTraceTellsNothingButThat) {
  Shape shape;
  shape.header.completeness.dropped = 1'000'000;
  const Trace trace = MakeSteps(shape);

  for (const char* text :
       {"kernels_per_step == 2", "step_time_p50 < 1s", "stable",
        "verdict != mixed", "finding(sync-in-step) == absent",
        "lost_records >= 0", "partial == false"}) {
    EXPECT_THAT(Check(trace, text), IsUnknown("INVALID (loss")) << text;
  }
  EXPECT_THAT(CheckAgainst(trace, MakeSteps(), "same_kernels(B)"),
              IsUnknown("The trace is INVALID"));
  EXPECT_THAT(CheckAgainst(MakeSteps(), trace, "same_kernels(B)"),
              IsUnknown("The baseline is INVALID"));
  EXPECT_THAT(CheckAgainst(MakeSteps(), trace, "stable"), Passes());
  EXPECT_THAT(
      CheckAgainst(MakeSteps(), trace, "kernels_per_step == baseline(B)"),
      IsUnknown("In the baseline: The trace is INVALID"));
  EXPECT_THAT(Check(trace, "validity == INVALID"), Passes());
  EXPECT_THAT(Check(trace, "validity == VALID").message,
              HasSubstr("loss is 100 % (dropped 1,000,000), wanted"));
}

TEST(RunChecks, ADamagedTraceIsInvalid) {
  Trace trace = MakeSteps();
  trace.start_ns.resize(1);

  EXPECT_THAT(Check(trace, "validity == INVALID"), Passes());
  EXPECT_THAT(Check(trace, "kernels_per_step == 2"), IsUnknown("INVALID"));
}

TEST(RunChecks, AnEmptyTraceIsInvalid) {
  EXPECT_THAT(Check(Trace(), "kernels_per_step == 0"), IsUnknown("INVALID"));
}

TEST(RunChecks, UnsteadyAndPartialTracesSaySo) {
  Shape shape;
  shape.header.partial = true;
  shape.header.warmup.cap_hit = true;
  shape.header.warmup.steady = false;
  const Trace trace = MakeSteps(shape);

  const CheckResult result = Check(trace, "kernels_per_step == 2");

  EXPECT_THAT(result, Passes());
  EXPECT_THAT(result.message,
              AllOf(HasSubstr("The trace is UNSTABLE ("), HasSubstr("warm-up"),
                    HasSubstr("The trace is partial")));
  EXPECT_THAT(
      CheckAgainst(MakeSteps(), trace, "fills_per_step == baseline(B)").message,
      HasSubstr("The baseline is UNSTABLE"));
  EXPECT_THAT(Check(trace, "partial"), Passes());
}

TEST(RunChecks, PerturbedStepsAreSaid) {
  Shape shape;
  shape.add = [](int64_t at, int i, RecordBuilder* builder) {
    if (i < 5) builder->Overhead("Activity Buffer Request", at + 90, at + 95);
  };

  const CheckResult result =
      Check(MakeSteps(shape), "traced_step_time_p50 < 1s");

  EXPECT_THAT(result.message,
              HasSubstr("The tracer was at work in 5 of 20 traced steps; they "
                        "are left out."));
}

TEST(RunChecks, UnknownBytesAndKindsAreNoZero) {
  Shape shape;
  shape.add = [](int64_t at, int i, RecordBuilder* builder) {
    builder->Call("cudaMemcpyAsync", at + 34'000, at + 35'000, 1000 + i)
        .Device(EventKind::kCopy, "Memcpy", at + 76'000, at + 77'000, 1000 + i);
  };
  const Trace trace = MakeSteps(shape);

  EXPECT_THAT(Check(trace, "copies_per_step == 2"), Passes());
  EXPECT_THAT(Check(trace, "copies_per_step(dtod) == 1"),
              IsUnknown("does not say of 20 copies"));
  EXPECT_THAT(Check(trace, "bytes_per_step == 8192B"),
              IsUnknown("how many bytes 20 records moved"));
}

TEST(RunChecks, UnknownOccupancyIsNotTheLeast) {
  Shape shape;
  shape.add = [](int64_t, int i, RecordBuilder* builder) {
    auto& kernel =
        builder->records().device[builder->records().device.size() - 2];
    if (i == 7) kernel.occupancy = std::nan("");
  };

  EXPECT_THAT(Check(MakeSteps(shape), "occupancy >= 10%"),
              IsUnknown("The occupancy of 1 of 40 kernels is not known"));
  EXPECT_THAT(Check(MakeSteps(shape), "occupancy(gemm) >= 10%"), Passes());
}

TEST(RunChecks, UncountedLossIsNoZero) {
  Shape shape;
  shape.header.completeness.truncated_buffers.reset();

  EXPECT_THAT(Check(MakeSteps(shape), "lost_records == 0"),
              IsUnknown("not counted: truncated_buffers"));
}

}  // namespace
}  // namespace traza
