// SPDX-License-Identifier: Apache-2.0
#include "api/convert_trace.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "api/proto_json.h"
#include "tests/support/status_matchers.h"

namespace traza {
namespace {

Table FullTable() {
  TableRow row;
  row.name = "aten::mm";
  row.kind = EventKind::kKernel;
  row.bytes = 18;
  row.count = 30;
  row.self_cpu_ns = 1;
  row.total_cpu_ns = 2;
  row.self_device_ns = 3;
  row.total_device_ns = 4;
  row.mean_ns = 5;
  row.p50_ns = 6;
  row.p99_ns = 7;
  row.min_ns = 8;
  row.max_ns = 9;
  row.self_cpu_share = 0.5;
  row.self_device_share = 0.25;
  row.flops = 10;
  row.grid = "128,1,1";
  row.block = "64,1,1";
  row.registers = 11;
  row.shared_bytes = 12;
  row.occupancy = 0.1875;
  row.launchless = 0;
  row.phase = Phase::kTraced;
  row.step = 3;
  Table table;
  table.by = TableBy::kKernel;
  table.rows = {row};
  table.all_rows = 17;
  table.totals = {.count = 40,
                  .self_cpu_ns = 41,
                  .self_device_ns = 42,
                  .unattributed_device_ns = 43,
                  .overhead_ns = 44};
  return table;
}

Number Ratio() { return {0.75, "ratio", "device busy", "window"}; }

StepStats FullSteps(Phase phase) {
  StepStats stats;
  stats.phase = phase;
  stats.count = 30;
  stats.median_ns = 1;
  stats.mad_ns = 2;
  stats.mean_ns = 3;
  stats.min_ns = 4;
  stats.max_ns = 5;
  stats.p99_ns = 6;
  stats.first_ns = {7, 8};
  return stats;
}

Completeness FullCompleteness() {
  Completeness all;
  all.dropped = 1;
  all.zero_ts = 2;
  all.bad_order = 3;
  all.before_launch = 4;
  all.missing_gpu = 5;
  all.unmatched_call = 6;
  all.unmatched_op = 7;
  all.failed_calls = 8;
  all.cut = 9;
  all.overhead_ns_in_window = 10;
  all.buffer_requests_in_window = 11;
  all.pool_misses = 12;
  all.skew_min_ns = -13;
  all.clock_step_ns = 14;
  all.truncated_buffers = 15;
  all.id_stack_depth = 16;
  all.dropped_ops = 17;
  all.captured_calls = 18;
  all.unsure_gpu = 19;
  return all;
}

DeviceBreakdown FullBreakdown() {
  DeviceBreakdown device;
  device.device = 0;
  device.window_ns = 100;
  device.busy_ns = 75;
  device.idle_ns = 25;
  device.records = 60;
  device.compute_ns = 50;
  device.communication_ns = 0;
  device.copy_ns = 25;
  device.communication_overlap = 0.5;
  device.copy_overlap = 0.25;
  device.streams = {{.stream = 7, .busy_ns = 70, .records = 50},
                    {.stream = std::nullopt, .busy_ns = 10, .records = 10}};
  device.stream_count = 2;
  device.head_ns = 5;
  device.inner_ns = 12;
  device.tail_ns = 8;
  device.span_ns = 87;
  device.busy_per_step_p50_ns = 3;
  device.kernel_gap_limit_ns = 2'000;
  IdleClasses& idle = device.idle_classes;
  idle.profiler_ns = 1;
  idle.sync_ns = 2;
  idle.host_ns = 3;
  idle.launch_ns = 4;
  idle.dependency_ns = 5;
  idle.kernel_gap_ns = 6;
  idle.other_ns = 4;
  idle.unknown_ns = 0;
  device.launches = LaunchStats{.launches = 9,
                                .idle = 4,
                                .queued = 5,
                                .late = 6,
                                .latency_samples = 3,
                                .latency_min_ns = 6'000,
                                .latency_p50_ns = 7'000,
                                .latency_p90_ns = 8'000,
                                .latency_p99_ns = 9'000,
                                .queueing_p50_ns = 10,
                                .queueing_p99_ns = 11,
                                .waiting_mean = 0.5,
                                .outstanding_mean = 0.75,
                                .waiting_max = 2,
                                .outstanding_max = 3,
                                .slow_calls = 1,
                                .slow_launches = 2,
                                .short_kernels = 3};
  return device;
}

Answer FullAnswer() {
  Answer answer;
  answer.validity.level = ValidityLevel::kUnstable;
  answer.validity.criteria = {{"loss", false, ValidityLevel::kInvalid,
                               "at most 1 %", "2 %", "Trace fewer steps."}};
  answer.verdict = Verdict{VerdictKind::kOverheadBound,
                           "Launches take longer than the work.",
                           0.75,
                           {"few steps"},
                           {{"busy", Ratio()}}};
  answer.breakdown = {FullBreakdown()};
  answer.steps.cold = FullSteps(Phase::kCold);
  answer.steps.warmup = FullSteps(Phase::kWarmup);
  answer.steps.timed = FullSteps(Phase::kTimed);
  answer.steps.traced = FullSteps(Phase::kTraced);
  answer.steps.own_overhead_ns = -5;
  answer.steps.own_overhead_spread_ns = 2;
  answer.steps.own_overhead_share = 0.125;
  answer.steps.first_traced_over_median = 1.5;
  answer.steps.traced_host = FullSteps(Phase::kTraced);
  answer.steps.perturbed = PerturbedSteps{2, 30, 1'500, {3, 4}};
  answer.findings = {{"unfused-pointwise",
                      "warning",
                      "Fuse.",
                      {{"kernels", {2, "count", "", ""}}},
                      {4, 5},
                      "Try it."}};
  answer.structure = {{{EventKind::kKernel, "gemm", 1}},
                      /*stable=*/false,
                      /*steps=*/30,
                      /*deviating_steps=*/2,
                      /*averaged=*/true,
                      PerStep{2.5, 0.25},
                      PerStep{4, std::nullopt}};
  answer.structure.order = {
      {EventKind::kKernel, "gemm", "aten::matmul > aten::mm", 2}};
  answer.structure.records = 2;
  answer.structure.reordered_steps = 1;
  answer.structure.fingerprint = "0123456789abcdef";
  answer.structure.work_fingerprint = "fedcba9876543210";
  answer.completeness = FullCompleteness();
  answer.fingerprint = Fingerprint{true, 1.5, 2.5, 4096, "float", "[64,64]"};
  answer.workload = "matmul_add";
  answer.variant = "eager";
  answer.device = "gpu0";
  answer.device_model = "NVIDIA H200";
  answer.params = {{"size", "64"}};
  answer.partial = true;
  answer.note = "none";
  answer.events = 270;
  answer.expectations = {{"Two operators.",
                          {.expression = "kernels_per_step == 2",
                           .outcome = CheckOutcome::kFailed,
                           .quantity = "kernels_per_step",
                           .number = Number{3, "count", "", ""},
                           .message = "kernels_per_step is 3, expected == 2.",
                           .event_ids = {7}}}};
  return answer;
}

TEST(ConvertTrace, TableShowsEveryField) {
  EXPECT_EQ(
      ToJsonText(ToProto(FullTable()), {.indent = 0}),
      R"({"rows":[{"name":"aten::mm","count":30,"self_cpu_ns":1,)"
      R"("total_cpu_ns":2,"self_device_ns":3,"total_device_ns":4,)"
      R"("mean_ns":5,"p50_ns":6,"p99_ns":7,"min_ns":8,"max_ns":9,)"
      R"("self_cpu_share":0.5,"self_device_share":0.25,"flops":10,)"
      R"("grid":"128,1,1","block":"64,1,1","registers":11,"shared_bytes":12,)"
      R"("occupancy":0.1875,"launchless":0,"phase":"traced","step":3,)"
      R"("kind":"kernel","bytes":18}],)"
      R"("totals":{"count":40,"self_cpu_ns":41,"self_device_ns":42,)"
      R"("unattributed_device_ns":43,"overhead_ns":44},"by":"kernel",)"
      R"("all_rows":17})");
}

// Equality of messages is that of their texts: the domain structs have none.
TEST(ConvertTrace, TableSurvivesTheRoundTrip) {
  const v1::GetTableResponse once = ToProto(FullTable());

  EXPECT_EQ(ToJsonText(ToProto(FromProto(once))), ToJsonText(once));
}

TEST(ConvertTrace, WhatATableDoesNotKnowIsAbsent) {
  Table table;
  table.rows = {TableRow{.name = "aten::add", .count = 1}};

  EXPECT_EQ(ToJsonText(ToProto(table), {.indent = 0}),
            R"({"rows":[{"name":"aten::add","count":1,"kind":"op"}],)"
            R"("totals":{"count":0},"by":"op","all_rows":0})");
}

TEST(ConvertTrace, NamesThatAreNoUtf8StayReadable) {
  Table table;
  table.rows = {TableRow{.name = "a\xff", .count = 1}};

  v1::GetTableResponse parsed;
  ASSERT_TRUE(parsed.ParseFromString(ToProto(table).SerializeAsString()));
  EXPECT_EQ(parsed.rows(0).name(), "a\xEF\xBF\xBD");
}

TEST(ConvertTrace, AnswerHasTheWordsOfTheCommandLine) {
  const std::string text = ToJsonText(ToProto(FullAnswer()), {.indent = 0});

  EXPECT_THAT(text, testing::StartsWith(R"({"validity":{"level":"UNSTABLE",)"));
  EXPECT_THAT(text,
              testing::HasSubstr(R"("verdict":{"kind":"overhead-bound")"));
  EXPECT_THAT(text,
              testing::HasSubstr(
                  R"("numbers":{"busy":{"value":0.75,"unit":"ratio",)"
                  R"("numerator":"device busy","denominator":"window"}})"));
  EXPECT_THAT(
      text, testing::HasSubstr(
                R"("findings":[{"id":"unfused-pointwise","severity":"warning",)"
                R"("title":"Fuse.","evidence":{"numbers":{"kernels":)"
                R"({"value":2,"unit":"count"}},"event_ids":[4,5]},)"
                R"("suggestion":"Try it."}])"));
  EXPECT_THAT(
      text, testing::HasSubstr(R"("structure":{"per_step":[{"kind":"kernel",)"
                               R"("name":"gemm","count":1}],"stable":false)"));
}

TEST(ConvertTrace, PartsOfTheWindowHaveTheirShares) {
  const std::string text = ToJsonText(ToProto(FullAnswer()), {.indent = 0});

  EXPECT_THAT(text, testing::HasSubstr(R"("busy_share":0.75,)"
                                       R"("idle_share":0.25,)"
                                       R"("compute":{"ns":50,"share":0.5})"));
  EXPECT_THAT(text, testing::HasSubstr(
                        R"("idle_classes":{"profiler":{"ns":1,"share":0.01},)"
                        R"("sync":{"ns":2,"share":0.02})"));
  EXPECT_THAT(text, testing::HasSubstr(R"("unknown":{"ns":0,"share":0}})"));
}

TEST(ConvertTrace, WhatABreakdownDoesNotKnowIsAbsent) {
  Answer answer;
  answer.breakdown = {DeviceBreakdown{.device = 1}};

  EXPECT_THAT(ToJsonText(ToProto(answer), {.indent = 0}),
              testing::HasSubstr(
                  R"("breakdown":[{"device":1,"window_ns":0,"busy_ns":0,)"
                  R"("idle_ns":0,"records":0,"idle_classes":{},)"
                  R"("streams":[],"stream_count":0}])"));
}

TEST(ConvertTrace, AnswerSurvivesTheStore) {
  const absl::StatusOr<Answer> back = DecodeAnswer(EncodeAnswer(FullAnswer()));

  ASSERT_THAT(back, IsOk());
  EXPECT_EQ(ToJsonText(ToProto(*back)), ToJsonText(ToProto(FullAnswer())));
  EXPECT_EQ(back->completeness, FullCompleteness());
  EXPECT_EQ(back->steps.perturbed, FullAnswer().steps.perturbed);
  EXPECT_EQ(back->structure.kernels, FullAnswer().structure.kernels);
  EXPECT_EQ(back->structure.order, FullAnswer().structure.order);
  EXPECT_EQ(back->structure.records, 2);
  EXPECT_EQ(back->structure.reordered_steps, 1);
  EXPECT_EQ(back->structure.fingerprint, "0123456789abcdef");
  EXPECT_EQ(back->structure.work_fingerprint, "fedcba9876543210");
  EXPECT_EQ(back->breakdown[0].idle_classes.host_ns, 3);
  EXPECT_EQ(back->findings[0].severity, "warning");
  EXPECT_EQ(back->expectations, FullAnswer().expectations);
  EXPECT_EQ(back->findings[0].numbers.at("kernels").denominator, "");
}

TEST(ConvertTrace, UnknownCountersStayUnknown) {
  const absl::StatusOr<Answer> back = DecodeAnswer(EncodeAnswer(Answer{}));

  ASSERT_THAT(back, IsOk());
  EXPECT_EQ(back->completeness, Completeness{});
  EXPECT_FALSE(back->verdict.has_value());
  EXPECT_FALSE(back->fingerprint.has_value());
}

TEST(ConvertTrace, BytesThatAreNoAnswerAreDamage) {
  EXPECT_THAT(
      DecodeAnswer("\xff\xff\xff"),
      StatusIs(absl::StatusCode::kDataLoss, HasReason("STORE_DAMAGED")));
}

}  // namespace
}  // namespace traza
