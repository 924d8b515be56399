// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/record_builder.h"
#include "trace/analysis/answer.h"

namespace traza {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

TEST(Explain, CarriesItsContext) {
  const Answer answer = Explain(MakeCpuTrace(30));

  EXPECT_EQ(answer.workload, "matmul_add");
  EXPECT_EQ(answer.variant, "eager");
  EXPECT_EQ(answer.device, "cpu");
  EXPECT_EQ(answer.device_model, "A CPU");
  EXPECT_EQ(answer.params.at("size"), "64");
  EXPECT_EQ(answer.events, 151);
  EXPECT_EQ(answer.note, "a CPU job has no device work");
  EXPECT_TRUE(answer.fingerprint->finite);
  EXPECT_FALSE(answer.partial);
}

TEST(Explain, SaysWhenTheTimedStepsCameAfterCollection) {
  Trace trace = MakeCpuTrace(30);
  EXPECT_THAT(Explain(trace).note, Not(HasSubstr("timed steps")));

  trace.header.timed.armed_before = true;
  EXPECT_THAT(Explain(trace).note, HasSubstr("before the timed steps"));
}

TEST(Explain, AGpuTraceHasABreakdownAndAStructure) {
  const Answer answer = Explain(MakeGpuTrace(30));

  ASSERT_THAT(answer.breakdown, SizeIs(1));
  EXPECT_EQ(answer.breakdown[0].records, 60);
  EXPECT_EQ(answer.breakdown[0].busy_ns + answer.breakdown[0].idle_ns,
            answer.breakdown[0].window_ns);
  EXPECT_TRUE(answer.structure.stable);
  EXPECT_EQ(answer.completeness.unmatched_call, 0);
}

TEST(Explain, ADamagedTraceIsPartOfTheAnswer) {
  Trace trace = MakeCpuTrace(3);
  trace.parent.cells()[2] = 1'000'000;

  const Answer answer = Explain(trace);

  EXPECT_EQ(answer.validity.level, ValidityLevel::kInvalid);
  ASSERT_THAT(answer.validity.criteria, SizeIs(1));
  EXPECT_EQ(answer.validity.criteria[0].id, "file");
  EXPECT_THAT(answer.validity.criteria[0].observed, HasSubstr("row 2"));
  EXPECT_FALSE(answer.verdict.has_value());
}

TEST(Explain, NothingAtAllIsInvalid) {
  const Answer answer = Explain(Trace());

  EXPECT_EQ(answer.validity.level, ValidityLevel::kInvalid);
  EXPECT_EQ(answer.events, 0);
  EXPECT_THAT(answer.structure.per_step, IsEmpty());
}

Trace TraceWithColdStep(int64_t length) {
  RecordBuilder builder;
  builder.Step(Phase::kCold, 0, 0, length);
  for (int i = 0; i < 30; ++i) {
    const int64_t at = 1'000'000'000 + i * 1'000'000;
    builder.Step(Phase::kTraced, i, at, at + 12'000).Op("mm", at, at + 9'000);
  }
  Header header = MakeCpuHeader();
  header.timed.batch_ns.assign(30, 12'000);
  return builder.Build(std::move(header));
}

TEST(Findings, AColdStepFarAboveTheOthersIsTold) {
  const Answer answer = Explain(TraceWithColdStep(12'000'000));

  ASSERT_THAT(answer.findings, SizeIs(1));
  const Finding& finding = answer.findings[0];
  EXPECT_EQ(finding.id, "cold-step");
  EXPECT_EQ(finding.severity, "info");
  EXPECT_EQ(finding.title,
            "The first step took 12.0 ms, 1,000 times a timed one (12.0 us).");
  EXPECT_EQ(finding.numbers.at("cold_factor").value, 1'000);
  EXPECT_EQ(finding.numbers.at("first_cold_step").value, 12'000'000);
  EXPECT_THAT(finding.event_ids, ElementsAre(0));
}

TEST(Findings, AColdStepLikeTheOthersIsNone) {
  EXPECT_THAT(Explain(TraceWithColdStep(30'000)).findings, IsEmpty());
  EXPECT_THAT(Explain(MakeCpuTrace(30)).findings, IsEmpty());
}

}  // namespace
}  // namespace traza
