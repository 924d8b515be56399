// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/validity.h"

#include <functional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/record_builder.h"
#include "trace/analysis/steps.h"

namespace traza {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Validity Judge(const Trace& trace) {
  return JudgeValidity(trace, AnalyzeSteps(trace, StepIndex(trace)));
}

Criterion Find(const Validity& validity, const std::string& id) {
  for (const Criterion& criterion : validity.criteria) {
    if (criterion.id == id) return criterion;
  }
  ADD_FAILURE() << "no criterion " << id;
  return {};
}

bool Has(const Validity& validity, const std::string& id) {
  for (const Criterion& criterion : validity.criteria) {
    if (criterion.id == id) return true;
  }
  return false;
}

TEST(Validity, AGoodCpuTraceIsValid) {
  const Validity validity = Judge(MakeCpuTrace(30));

  EXPECT_EQ(validity.level, ValidityLevel::kValid);
  for (const Criterion& criterion : validity.criteria) {
    EXPECT_TRUE(criterion.met) << criterion.id;
    EXPECT_THAT(criterion.advice, IsEmpty()) << criterion.id;
    EXPECT_THAT(criterion.threshold, Not(IsEmpty())) << criterion.id;
    EXPECT_THAT(criterion.observed, Not(IsEmpty())) << criterion.id;
  }
}

TEST(Validity, AGoodGpuTraceIsValid) {
  EXPECT_EQ(Judge(MakeGpuTrace(30)).level, ValidityLevel::kValid);
}

// A device that was looked at and is fine.
DeviceState Quiet() {
  return {.throttle_reasons = {"none"}, .other_processes = 0};
}

// One thing that is wrong with an otherwise good CPU trace.
struct Fault {
  const char* name;
  const char* criterion;
  ValidityLevel level;
  std::function<void(Header*)> spoil;
};

class CpuFault : public testing::TestWithParam<Fault> {};

TEST_P(CpuFault, MissesItsCriterionAlone) {
  Trace trace = MakeCpuTrace(30);
  GetParam().spoil(&trace.header);

  const Validity validity = Judge(trace);

  EXPECT_EQ(validity.level, GetParam().level);
  for (const Criterion& criterion : validity.criteria) {
    EXPECT_EQ(criterion.met, criterion.id != GetParam().criterion)
        << criterion.id << ": " << criterion.observed;
  }
  EXPECT_THAT(Find(validity, GetParam().criterion).advice, Not(IsEmpty()));
}

INSTANTIATE_TEST_SUITE_P(
    Validity, CpuFault,
    testing::Values(
        Fault{"few_timed_steps", "timed-steps", ValidityLevel::kUnstable,
              [](Header* h) {
                h->timed.steps = 9;
                h->timed.batch_ns.resize(9);
              }},
        Fault{"spread", "step-spread", ValidityLevel::kUnstable,
              [](Header* h) {
                for (size_t i = 0; i < 30; i += 2) h->timed.batch_ns[i] *= 2;
              }},
        Fault{"warm_up_at_its_limit", "warm-up", ValidityLevel::kUnstable,
              [](Header* h) {
                h->warmup.cap_hit = true;
                h->warmup.steady = false;
              }},
        Fault{"partial", "complete", ValidityLevel::kUnstable,
              [](Header* h) { h->partial = true; }},
        Fault{"one_dropped_op", "dropped-ops", ValidityLevel::kUnstable,
              [](Header* h) { h->completeness.dropped_ops = 1; }},
        Fault{"perturbed", "perturbed", ValidityLevel::kUnstable,
              [](Header* h) { h->completeness.overhead_ns_in_window = 1; }},
        Fault{"pool_miss", "perturbed", ValidityLevel::kUnstable,
              [](Header* h) { h->completeness.pool_misses = 1; }},
        Fault{"clock_was_set", "clock", ValidityLevel::kUnstable,
              [](Header* h) { h->completeness.clock_step_ns = -5'001; }},
        Fault{"open_op", "op-stack", ValidityLevel::kUnstable,
              [](Header* h) { h->completeness.id_stack_depth = 1; }},
        Fault{"reversed_times", "time-order", ValidityLevel::kInvalid,
              [](Header* h) { h->completeness.bad_order = 2; }},
        Fault{"throttled", "throttling", ValidityLevel::kUnstable,
              [](Header* h) {
                h->state_after = Quiet();
                h->state_after->throttle_reasons = {"gpu_idle",
                                                    "hw_thermal_slowdown"};
              }},
        Fault{"throttled_before", "throttling", ValidityLevel::kUnstable,
              [](Header* h) {
                h->state_before = h->state_after = Quiet();
                h->state_before->throttle_reasons = {"hw_power_brake_slowdown"};
              }},
        Fault{"throttling_unknown", "throttling", ValidityLevel::kUnstable,
              [](Header* h) {
                h->state_before = h->state_after = Quiet();
                h->state_after->throttle_reasons.clear();
              }},
        Fault{"others_before", "other-processes", ValidityLevel::kUnstable,
              [](Header* h) {
                h->state_before = h->state_after = Quiet();
                h->state_before->other_processes = 2;
              }},
        Fault{"others_since", "other-processes", ValidityLevel::kUnstable,
              [](Header* h) {
                h->state_before = h->state_after = Quiet();
                h->state_after->other_processes = 1;
              }},
        Fault{"others_unknown", "other-processes", ValidityLevel::kUnstable,
              [](Header* h) {
                h->state_before = h->state_after = Quiet();
                h->state_before->other_processes.reset();
                h->state_after->other_processes.reset();
              }}),
    [](const auto& param) { return std::string(param.param.name); });

TEST(Validity, ManyDroppedOpsAreALoss) {
  Trace trace = MakeCpuTrace(30);
  trace.header.completeness.dropped_ops = 100;

  const Validity validity = Judge(trace);

  EXPECT_EQ(validity.level, ValidityLevel::kInvalid);
  EXPECT_THAT(Find(validity, "loss").observed, HasSubstr("dropped_ops 100"));
}

TEST(Validity, FewTracedStepsAreNamed) {
  const Criterion criterion = Find(Judge(MakeCpuTrace(3)), "traced-steps");

  EXPECT_FALSE(criterion.met);
  EXPECT_EQ(criterion.threshold, "at least 10 steps");
  EXPECT_EQ(criterion.observed, "3 steps");
  EXPECT_THAT(criterion.advice, HasSubstr("--traced-steps"));
}

TEST(Validity, ASlowFirstTracedStepIsNamed) {
  RecordBuilder builder;
  builder.Step(Phase::kTraced, 0, 0, 200).Op("mm", 10, 20);
  for (int i = 1; i < 20; ++i) {
    builder.Step(Phase::kTraced, i, i * 1'000, i * 1'000 + 100);
  }

  const Validity validity = Judge(builder.Build(MakeCpuHeader(20)));

  EXPECT_FALSE(Find(validity, "first-step").met);
  EXPECT_EQ(Find(validity, "first-step").observed, "2.00 x");
  EXPECT_EQ(validity.level, ValidityLevel::kUnstable);
}

TEST(Validity, ATraceOfNothingIsInvalid) {
  Trace trace;
  trace.header = MakeCpuHeader();

  const Validity validity = Judge(trace);

  EXPECT_EQ(validity.level, ValidityLevel::kInvalid);
  EXPECT_FALSE(Find(validity, "events").met);
}

TEST(Validity, StepsAloneAreEnoughOnlyAtLowDepths) {
  RecordBuilder builder;
  for (int i = 0; i < 30; ++i) {
    builder.Step(Phase::kTraced, i, i * 1'000, i * 1'000 + 100);
  }
  Trace trace = builder.Build(MakeCpuHeader());
  EXPECT_FALSE(Find(Judge(trace), "events").met);

  trace.header.job.depth = Depth::kTiming;
  EXPECT_TRUE(Find(Judge(trace), "events").met);
}

TEST(Validity, UnknownIsNeverZero) {
  Trace trace = MakeCpuTrace(30);
  trace.header.completeness = {};

  const Validity validity = Judge(trace);

  EXPECT_EQ(validity.level, ValidityLevel::kUnstable);
  EXPECT_FALSE(Find(validity, "dropped-ops").met);
  EXPECT_EQ(Find(validity, "dropped-ops").observed, "unknown");
  EXPECT_FALSE(Find(validity, "loss").met);
  EXPECT_THAT(Find(validity, "loss").observed,
              HasSubstr("unknown: dropped_ops"));
  EXPECT_FALSE(Find(validity, "time-order").met);
}

TEST(Validity, DeviceCountersDoNotApplyWithoutADeviceCollector) {
  Trace trace = MakeCpuTrace(30);
  trace.header.completeness.overhead_ns_in_window = std::nullopt;
  trace.header.completeness.clock_step_ns = std::nullopt;

  const Validity validity = Judge(trace);

  EXPECT_EQ(validity.level, ValidityLevel::kValid);
  EXPECT_EQ(Find(validity, "perturbed").observed,
            "does not apply: no device collector");
  EXPECT_THAT(Find(validity, "loss").observed,
              HasSubstr("does not apply: no device collector"));
}

TEST(Validity, DeviceCountersThatAreUnknownCountAsMissed) {
  Trace trace = MakeGpuTrace(30);
  trace.header.completeness.dropped = std::nullopt;
  trace.header.completeness.overhead_ns_in_window = std::nullopt;

  const Validity validity = Judge(trace);

  EXPECT_EQ(validity.level, ValidityLevel::kUnstable);
  EXPECT_FALSE(Find(validity, "loss").met);
  EXPECT_THAT(Find(validity, "loss").observed, HasSubstr("unknown: dropped"));
  EXPECT_EQ(Find(validity, "perturbed").observed, "unknown");
}

TEST(Validity, LostDeviceRecordsAboveOnePercentMakeItInvalid) {
  Trace trace = MakeGpuTrace(100);  // 901 rows
  trace.header.completeness.dropped = 9;
  EXPECT_EQ(Judge(trace).level, ValidityLevel::kValid);

  trace.header.completeness.missing_gpu = 1;
  EXPECT_EQ(Judge(trace).level, ValidityLevel::kInvalid);
}

TEST(Validity, WorkBeforeItsCallMissesTheClock) {
  Trace trace = MakeGpuTrace(30);
  trace.header.completeness.before_launch = 3;

  EXPECT_FALSE(Find(Judge(trace), "clock").met);
}

TEST(Validity, AQuietDeviceIsValidAndSaysSo) {
  Trace trace = MakeGpuTrace(30);
  trace.header.state_before = trace.header.state_after = Quiet();
  trace.header.state_before->throttle_reasons = {"gpu_idle"};
  trace.header.state_after->throttle_reasons = {"applications_clocks_setting"};

  const Validity validity = Judge(trace);

  EXPECT_EQ(validity.level, ValidityLevel::kValid);
  EXPECT_EQ(Find(validity, "throttling").observed, "none");
  EXPECT_EQ(Find(validity, "other-processes").observed, "0 before, 0 since");
}

TEST(Validity, ThrottlingNamesEveryReasonAndAdvisesOnTheWorst) {
  Trace trace = MakeGpuTrace(30);
  trace.header.state_before = trace.header.state_after = Quiet();
  trace.header.state_after->throttle_reasons = {"sw_power_cap"};
  EXPECT_THAT(Find(Judge(trace), "throttling").advice,
              HasSubstr("power limit"));

  trace.header.state_after->throttle_reasons.emplace_back(
      "sw_thermal_slowdown");

  const Criterion criterion = Find(Judge(trace), "throttling");
  EXPECT_EQ(criterion.observed, "sw_power_cap, sw_thermal_slowdown");
  EXPECT_THAT(criterion.advice, HasSubstr("cool"));
}

TEST(Validity, ProcessesThatCouldNotBeSeenAfterwardsAreSaidToBeUnknown) {
  Trace trace = MakeGpuTrace(30);
  trace.header.state_before = trace.header.state_after = Quiet();
  trace.header.state_after->other_processes.reset();

  const Criterion criterion = Find(Judge(trace), "other-processes");

  EXPECT_TRUE(criterion.met);
  EXPECT_EQ(criterion.observed, "0 before, unknown since");
}

TEST(Validity, AStateOfWhichNothingIsKnownIsNoPass) {
  Trace trace = MakeGpuTrace(30);
  trace.header.state_before = trace.header.state_after = DeviceState();

  const Validity validity = Judge(trace);

  EXPECT_EQ(validity.level, ValidityLevel::kUnstable);
  EXPECT_EQ(Find(validity, "throttling").observed, "unknown");
  EXPECT_EQ(Find(validity, "other-processes").observed, "unknown");
}

TEST(Validity, AGpuThatCouldNotBeWatchedIsNoPass) {
  Trace trace = MakeGpuTrace(30);
  trace.header.collector = "cupti";

  const Validity validity = Judge(trace);

  EXPECT_EQ(Find(validity, "throttling").observed, "unknown");
  EXPECT_EQ(Find(validity, "other-processes").observed, "unknown");
}

TEST(Validity, StateThatWasNotLookedAtIsNotJudged) {
  const Validity validity = Judge(MakeCpuTrace(30));

  EXPECT_FALSE(Has(validity, "throttling"));
  EXPECT_FALSE(Has(validity, "other-processes"));
}

TEST(Validity, WithFewTimedBatchesTheTracedStepsGiveTheSpread) {
  Trace trace = MakeCpuTrace(30);
  trace.header.timed = {
      .steps = 30, .steps_per_batch = 30, .batch_ns = {360'000}};

  const Criterion spread = Find(Judge(trace), "step-spread");

  EXPECT_TRUE(spread.met);
  EXPECT_THAT(spread.observed, HasSubstr("traced"));
}

TEST(Validity, AFixedWarmUpIsNotJudged) {
  Trace trace = MakeCpuTrace(30);
  trace.header.warmup = {.steps = 5};

  const Criterion warmup = Find(Judge(trace), "warm-up");

  EXPECT_TRUE(warmup.met);
  EXPECT_THAT(warmup.observed, HasSubstr("does not apply"));
}

// Thirty steps of 1 us with their kernels; the tracer is at work in `perturbed`
// of them, or before.
Trace PerturbedTrace(int steps, int perturbed) {
  RecordBuilder builder;
  builder.Overhead("Activity Buffer Request", 0, 1'795);
  for (int i = 0; i < steps; ++i) {
    const int64_t at = 10'000 + 2'000 * i;
    builder.Step(Phase::kTraced, i, at, at + 1'000)
        .Op("aten::mm", at + 10, at + 900)
        .Call("cudaLaunchKernel", at + 100, at + 200, i + 1)
        .Kernel("k", at + 300, at + 400, i + 1);
    if (i < perturbed) {
      builder.Overhead("Activity Buffer Request", at + 500, at + 600);
    }
  }
  Header header = MakeGpuTrace(1).header;
  header.job.traced_steps = steps;
  header.collector = "cupti";
  header.completeness.overhead_ns_in_window = 1'795;
  header.completeness.buffer_requests_in_window = 1;
  return builder.Build(std::move(header));
}

TEST(Validity, TheTracersRowsSayWhichStepsItPerturbed) {
  const Criterion none = Find(Judge(PerturbedTrace(30, 0)), "perturbed");
  EXPECT_TRUE(none.met) << "it was at work before the steps";
  EXPECT_EQ(none.observed, "0 of 30 steps, 0 ns");

  const Criterion two = Find(Judge(PerturbedTrace(30, 2)), "perturbed");
  EXPECT_FALSE(two.met);
  EXPECT_EQ(two.if_missed, ValidityLevel::kUnstable);
  EXPECT_EQ(two.observed, "2 of 30 steps, 200 ns");
}

TEST(Validity, FewPerturbedStepsOfManyDoNotMatter) {
  const Validity validity = Judge(PerturbedTrace(300, 3));

  EXPECT_TRUE(Find(validity, "perturbed").met);
  EXPECT_EQ(Find(validity, "complete").observed, "all of them");
}

TEST(Validity, CallsThatMayHaveDoneNothingAreUnknownNotLost) {
  Trace trace = MakeGpuTrace(30);
  trace.header.completeness.unsure_gpu = 100;
  trace.header.completeness.captured_calls = 1;

  const Criterion loss = Find(Judge(trace), "loss");

  EXPECT_FALSE(loss.met);
  EXPECT_EQ(loss.if_missed, ValidityLevel::kUnstable);
  EXPECT_EQ(loss.observed,
            "0 %; unknown: 100 calls without a device record that may have had "
            "nothing to do; 1 call captured into a graph has no work to "
            "record");
}

TEST(Validity, WhatIsCapturedIsSaidAndMissesNothing) {
  Trace trace = MakeGpuTrace(30);
  trace.header.completeness.captured_calls = 50;

  const Criterion loss = Find(Judge(trace), "loss");

  EXPECT_TRUE(loss.met);
  EXPECT_THAT(loss.observed, HasSubstr("50 calls captured into a graph have"));
}

TEST(Validity, AnImportThatLostRecordsHasAdviceOfItsOwn) {
  Trace trace = MakeGpuTrace(30);
  trace.header.completeness.missing_gpu = 100;
  EXPECT_THAT(Find(Judge(trace), "loss").advice, HasSubstr("--depth"));

  trace.header.collector = "kineto";
  EXPECT_EQ(Find(Judge(trace), "loss").advice,
            "Record less: no shapes, no stacks, fewer steps.");

  Trace without = MakeCpuTrace(30);
  without.header.collector = "kineto";
  without.header.completeness.missing_gpu = 100;
  EXPECT_THAT(Find(Judge(without), "loss").advice,
              HasSubstr("end what else profiles the device"));
}

TEST(Validity, WorkBeforeItsCallIsKnownWhereTheClocksMoveIsNot) {
  Trace trace = MakeGpuTrace(30);
  trace.header.completeness.clock_step_ns.reset();
  trace.header.completeness.before_launch = 1;
  const Criterion early = Find(Judge(trace), "clock");
  EXPECT_FALSE(early.met);
  EXPECT_EQ(early.observed, "move unknown, 1 before its call");
  EXPECT_THAT(early.advice, HasSubstr("run it again"));

  trace.header.completeness.before_launch = 0;
  const Criterion none = Find(Judge(trace), "clock");
  EXPECT_FALSE(none.met);
  EXPECT_EQ(none.observed, "move unknown, nothing before its call");
  EXPECT_THAT(none.advice, HasSubstr("Nothing says"));
}

}  // namespace
}  // namespace traza
