// SPDX-License-Identifier: Apache-2.0
#include "api/convert_job.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "api/proto_json.h"
#include "tests/support/status_matchers.h"

namespace traza {
namespace {

JobRequest FullRequest() {
  JobRequest request;
  request.workload = "matmul_add";
  request.variant = "eager";
  request.device = "cpu";
  request.params = {{"size", "64"}};
  request.cold_steps = 0;
  request.warmup = Warmup{.automatic = false, .steps = 5};
  request.timed_steps = 10;
  request.traced_steps = 20;
  request.depth = Depth::kShapes;
  request.seed = 7;
  request.timeout = absl::Milliseconds(1500);
  request.labels = {{"team", "perf"}};
  request.l2 = L2Policy::kFlush;
  return request;
}

Job FullJob() {
  Job job;
  job.id.value = "abc";
  job.state = JobState::kFailed;
  job.spec.workload = "matmul_add";
  job.spec.variant = "eager";
  job.spec.device = "cpu";
  job.spec.params = {{"size", "64"}};
  job.spec.seed = 7;
  job.spec.labels = {{"team", "perf"}};
  job.prediction.step = absl::Microseconds(12);
  job.prediction.total = absl::Seconds(2);
  job.prediction.memory_bytes = 1;
  job.prediction.trace_rows = 2;
  job.prediction.trace_bytes = 3;
  job.adjustments = {{"device", "cpu", "default"}};
  job.request_id = "r1";
  job.create_time = absl::FromUnixMillis(1'767'225'600'123);
  job.start_time = absl::FromUnixSeconds(1'767'225'601);
  job.end_time = absl::FromUnixSeconds(1'767'225'602);
  job.progress = Progress{Phase::kTraced, 3, 30};
  job.phase_times = {{Phase::kSetup, absl::Milliseconds(250)}};
  job.standby = true;
  job.trace = TraceId{"xyz"};
  job.error =
      JobError{Reason::kWorkerCrashed, "signal 11", Phase::kTimed, "last \xff"};
  return job;
}

TEST(ConvertJob, RequestSurvivesTheRoundTrip) {
  EXPECT_THAT(JobRequestFromProto(ToProto(FullRequest())),
              IsOkAndHolds(FullRequest()));
}

TEST(ConvertJob, WhatARequestLeavesOutStaysOut) {
  v1::JobRequest request;
  request.set_workload("linear");

  JobRequest expected;
  expected.workload = "linear";
  EXPECT_THAT(JobRequestFromProto(request), IsOkAndHolds(expected));
}

TEST(ConvertJob, EveryFaultOfARequestIsAViolation) {
  v1::JobRequest request;
  request.mutable_warmup();
  request.set_depth(static_cast<v1::Depth>(77));
  request.mutable_timeout()->set_seconds(1);
  request.mutable_timeout()->set_nanos(-1);

  const auto result = JobRequestFromProto(request);

  EXPECT_THAT(result, StatusIs(absl::StatusCode::kInvalidArgument,
                               HasReason("INVALID_ARGUMENT")));
  EXPECT_THAT(result, HasViolation("job.warmup"));
  EXPECT_THAT(result, HasViolation("job.depth"));
  EXPECT_THAT(result, HasViolation("job.timeout"));
}

TEST(ConvertJob, WarmupThatIsNotAutomaticNeedsSteps) {
  v1::JobRequest request;
  request.set_workload("linear");
  request.mutable_warmup()->set_automatic(false);

  EXPECT_THAT(JobRequestFromProto(request),
              HasViolation("job.warmup.automatic"));
}

TEST(ConvertJob, UnspecifiedDepthIsTheDefault) {
  v1::JobRequest request;
  request.set_workload("linear");
  request.set_depth(v1::DEPTH_UNSPECIFIED);

  const auto result = JobRequestFromProto(request);

  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->depth, std::nullopt);
}

TEST(ConvertJob, JobShowsEveryField) {
  EXPECT_EQ(
      ToJsonText(ToProto(FullJob()), {.indent = 0}),
      R"({"name":"jobs/abc","state":"FAILED","spec":{"workload":"matmul_add",)"
      R"("variant":"eager","device":"cpu","params":{"size":"64"},)"
      R"("cold_steps":0,"warmup":{"automatic":true},"timed_steps":30,)"
      R"("traced_steps":30,"depth":"ops","seed":7,"timeout":"300s",)"
      R"("labels":{"team":"perf"},"l2":"warm"},)"
      R"("prediction":{"step":"0.000012s",)"
      R"("total":"2s","memory_bytes":1,"trace_rows":2,"trace_bytes":3},)"
      R"("adjustments":[{"field":"device","value":"cpu","why":"default"}],)"
      R"("request_id":"r1","create_time":"2026-01-01T00:00:00.123Z",)"
      R"("start_time":"2026-01-01T00:00:01Z","end_time":"2026-01-01T00:00:02Z",)"
      R"("progress":{"phase":"traced","done":3,"total":30},)"
      R"("phase_times":[{"phase":"setup","duration":"0.25s"}],"standby":true,)"
      R"("trace":"traces/xyz","error":{"reason":"WORKER_CRASHED",)"
      R"("message":"signal 11","remedy":"See the last words of the worker in )"
      R"(the job; report a bug if they point at traza.","phase":"timed",)"
      "\"last_words\":\"last \xEF\xBF\xBD\"}}");
}

TEST(ConvertJob, NewJobHasNothingThatIsNotKnown) {
  const v1::Job job = ToProto(Job{});

  EXPECT_EQ(job.name(), "");
  EXPECT_FALSE(job.has_start_time());
  EXPECT_FALSE(job.has_end_time());
  EXPECT_FALSE(job.has_progress());
  EXPECT_FALSE(job.has_standby());
  EXPECT_FALSE(job.has_trace());
  EXPECT_FALSE(job.has_error());
  EXPECT_FALSE(job.prediction().has_step());
  EXPECT_FALSE(job.prediction().has_total());
}

TEST(ConvertJob, TimesBefore1970AndNegativeDurationsAreRight) {
  const absl::Time time = absl::FromUnixNanos(-1);

  EXPECT_EQ(FromProto(ToProto(time)), time);
  EXPECT_EQ(ToProto(time).nanos(), 999'999'999);
  EXPECT_THAT(FromProto(ToProto(-absl::Milliseconds(1500))),
              IsOkAndHolds(-absl::Milliseconds(1500)));
}

}  // namespace
}  // namespace traza
