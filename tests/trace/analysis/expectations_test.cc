// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/expectations.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/record_builder.h"
#include "trace/analysis/answer.h"

namespace traza {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<ExpectationAnswer> Answered(
    Trace trace, std::vector<JobExpectation> expectations) {
  trace.header.expectations = std::move(expectations);
  return Explain(trace).expectations;
}

CheckResult One(Trace trace, const std::string& expression) {
  return Answered(std::move(trace), {{expression, ""}}).at(0).check;
}

TEST(Expectations, WhatIsNotMetComesFirstThenWhatCannotBeDecided) {
  const std::vector<ExpectationAnswer> answers =
      Answered(MakeGpuTrace(30), {{"kernels_per_step == 2", "Two operators."},
                                  {"nonsense == 1", "It has a typing error."},
                                  {"kernels_per_step(/add/) == 0", "Fused."},
                                  {"copies_per_step == 1", "It clones."}});

  std::vector<std::string> order;
  for (const ExpectationAnswer& answer : answers) {
    order.push_back(std::string(CheckOutcomeName(answer.check.outcome)) + " " +
                    answer.why);
  }
  EXPECT_THAT(order, ElementsAre("FAIL Fused.", "FAIL It clones.",
                                 "UNKNOWN It has a typing error.",
                                 "PASS Two operators."));
}

TEST(Expectations, AMismatchHasWhatWasFound) {
  const CheckResult check =
      One(MakeGpuTrace(30), "kernels_per_step(/add/) == 0");

  EXPECT_EQ(check.expression, "kernels_per_step(/add/) == 0");
  EXPECT_EQ(check.number->value, 1);
  EXPECT_THAT(check.message, HasSubstr("is 1, expected == 0."));
  EXPECT_FALSE(check.event_ids.empty());
}

TEST(Expectations, FindingsAndVerdictCanBeExpected) {
  EXPECT_EQ(One(MakeCpuTrace(30), "verdict == cpu-only").outcome,
            CheckOutcome::kPassed);
  EXPECT_EQ(One(MakeGpuTrace(30), "finding(sync-in-step) == absent").outcome,
            CheckOutcome::kPassed);
}

TEST(Expectations, WhatWasNotRecordedIsNoPass) {
  const CheckResult no_device = One(MakeCpuTrace(30), "kernels_per_step == 0");
  EXPECT_EQ(no_device.outcome, CheckOutcome::kUnknown);
  EXPECT_THAT(no_device.message, HasSubstr("no device was watched"));

  RecordBuilder shallow;
  for (int32_t i = 0; i < 30; ++i) {
    const int64_t start = kTraceOrigin + i * int64_t{1'000};
    shallow.Step(Phase::kTraced, i, start, start + 900)
        .Call("cuLaunchKernel", start + 100, start + 200, i + 1)
        .Kernel("gemm", start + 300, start + 800, i + 1);
  }
  Header header = MakeGpuTrace(1).header;
  header.job.depth = Depth::kLaunches;
  const CheckResult no_ops =
      One(shallow.Build(std::move(header)), "ops_per_step == 0");
  EXPECT_EQ(no_ops.outcome, CheckOutcome::kUnknown);
  EXPECT_THAT(no_ops.message, HasSubstr("--depth ops"));
}

TEST(Expectations, AnotherTraceIsNotAtHand) {
  const CheckResult check = One(MakeGpuTrace(30), "same_kernels(other)");

  EXPECT_EQ(check.outcome, CheckOutcome::kUnknown);
  EXPECT_THAT(check.message, HasSubstr("traza check"));
}

TEST(Expectations, OfADamagedTraceNothingIsDecided) {
  Trace trace = MakeGpuTrace(30);
  trace.duration_ns.pop_back();

  EXPECT_EQ(One(std::move(trace), "kernels_per_step == 2").outcome,
            CheckOutcome::kUnknown);
}

TEST(Expectations, ATraceWithoutThemHasNoAnswers) {
  EXPECT_THAT(Explain(MakeGpuTrace(30)).expectations, IsEmpty());
}

}  // namespace
}  // namespace traza
