// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/trace_service.h"

#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "server/rpc/limits.h"
#include "tests/server/rpc/rpc_fixture.h"

namespace traza {
namespace {

using absl::StatusCode;

class TraceServiceTest : public RpcFixture {
 protected:
  TraceRow StoreTrace(const std::string& id, int64_t steps = 30) {
    CreateNamed(absl::StrCat("job-of-", id));
    return Succeed(StartNext(), id, MakeCpuTrace(steps));
  }

  // Calls `method` of the stub with `request`.
  template <typename Response, typename Request>
  absl::StatusOr<Response> Call(
      grpc::Status (v1::TraceService::Stub::*method)(grpc::ClientContext*,
                                                     const Request&, Response*),
      const Request& request) {
    TestContext context;
    Response response;
    const grpc::Status status =
        (trace_stub_.get()->*method)(&context, request, &response);
    if (!status.ok()) return FromGrpc(status);
    return response;
  }

  template <typename Request>
  static Request Named(const std::string& name) {
    Request request;
    request.set_name(name);
    return request;
  }
};

TEST_F(TraceServiceTest, GetShowsTheRow) {
  const TraceRow row = StoreTrace("t");

  const auto trace = Call(&v1::TraceService::Stub::GetTrace,
                          Named<v1::GetTraceRequest>("traces/t"));

  ASSERT_THAT(trace, IsOk());
  EXPECT_EQ(trace->name(), "traces/t");
  EXPECT_EQ(trace->job(), "jobs/job-of-t");
  EXPECT_EQ(trace->workload(), "matmul_add");
  EXPECT_EQ(trace->size_bytes(), row.size_bytes);
  EXPECT_EQ(trace->sha256(), row.sha256);
  EXPECT_EQ(trace->validity(), v1::VALIDITY_LEVEL_VALID);
  EXPECT_EQ(trace->verdict(), v1::VERDICT_KIND_CPU_ONLY);
}

TEST_F(TraceServiceTest, ListGoesThroughAllPages) {
  for (int i = 0; i < 3; ++i) {
    StoreTrace(absl::StrCat("t", i), 1);
    clock_.Advance(absl::Seconds(1));
  }
  v1::ListTracesRequest request;
  request.set_page_size(2);

  const auto first = Call(&v1::TraceService::Stub::ListTraces, request);
  ASSERT_THAT(first, IsOk());
  request.set_page_token(first->next_page_token());
  const auto second = Call(&v1::TraceService::Stub::ListTraces, request);

  ASSERT_THAT(second, IsOk());
  EXPECT_EQ(first->traces(0).name(), "traces/t2");
  EXPECT_EQ(first->traces(1).name(), "traces/t1");
  ASSERT_EQ(second->traces_size(), 1);
  EXPECT_EQ(second->traces(0).name(), "traces/t0");
  EXPECT_EQ(second->next_page_token(), "");
}

TEST_F(TraceServiceTest, ListHasNoStateToFilterBy) {
  v1::ListTracesRequest request;
  request.set_filter("state=SUCCEEDED");

  EXPECT_THAT(Call(&v1::TraceService::Stub::ListTraces, request),
              HasViolation("filter"));
}

TEST_F(TraceServiceTest, DeleteTakesRowAndFileAndLeavesTheJob) {
  const TraceRow row = StoreTrace("t");

  const auto deleted = Call(&v1::TraceService::Stub::DeleteTrace,
                            Named<v1::DeleteTraceRequest>("traces/t"));

  EXPECT_THAT(deleted, IsOk());
  EXPECT_FALSE(
      std::filesystem::exists(traces_->PathOf(row.id, row.create_time)));
  EXPECT_THAT(Call(&v1::TraceService::Stub::GetTrace,
                   Named<v1::GetTraceRequest>("traces/t")),
              HasReason("TRACE_NOT_FOUND"));
  EXPECT_THAT(Call(&v1::TraceService::Stub::DeleteTrace,
                   Named<v1::DeleteTraceRequest>("traces/t")),
              HasReason("TRACE_NOT_FOUND"));
  EXPECT_THAT(Get("jobs/job-of-t"), IsOk());
}

TEST_F(TraceServiceTest, TableSumsTheOperatorsOfTheFile) {
  StoreTrace("t", 30);

  const auto table = Call(&v1::TraceService::Stub::GetTable,
                          Named<v1::GetTableRequest>("traces/t"));

  ASSERT_THAT(table, IsOk());
  EXPECT_EQ(table->by(), v1::TABLE_BY_OP);
  EXPECT_EQ(table->all_rows(), 4) << "three operators and the range";
  EXPECT_EQ(table->rows(0).name(), "aten::mm");
  EXPECT_EQ(table->rows(0).count(), 30);
}

TEST_F(TraceServiceTest, TableTakesLimitSortAndPhase) {
  StoreTrace("t", 30);
  v1::GetTableRequest request = Named<v1::GetTableRequest>("traces/t");
  request.set_by(v1::TABLE_BY_STEP);
  request.set_phase(v1::PHASE_TRACED);
  request.set_limit(2);

  const auto table = Call(&v1::TraceService::Stub::GetTable, request);

  ASSERT_THAT(table, IsOk());
  EXPECT_EQ(table->rows_size(), 2);
  EXPECT_EQ(table->all_rows(), 30);
  EXPECT_EQ(table->rows(1).step(), 1);
}

TEST_F(TraceServiceTest, TableRefusesWhatItDoesNotKnow) {
  StoreTrace("t", 1);
  v1::GetTableRequest sort = Named<v1::GetTableRequest>("traces/t");
  sort.set_sort("beauty");
  v1::GetTableRequest by = Named<v1::GetTableRequest>("traces/t");
  by.set_by(static_cast<v1::TableBy>(99));
  v1::GetTableRequest limit = Named<v1::GetTableRequest>("traces/t");
  limit.set_limit(-1);

  EXPECT_THAT(
      Call(&v1::TraceService::Stub::GetTable, sort),
      StatusIs(StatusCode::kInvalidArgument, HasReason("INVALID_ARGUMENT")));
  EXPECT_THAT(Call(&v1::TraceService::Stub::GetTable, by), HasViolation("by"));
  EXPECT_THAT(Call(&v1::TraceService::Stub::GetTable, limit),
              HasViolation("limit"));
}

TEST_F(TraceServiceTest, TableThatIsTooLargeToSendAsksForALimit) {
  StoreTrace("t", 100'000);
  v1::GetTableRequest request = Named<v1::GetTableRequest>("traces/t");
  request.set_by(v1::TABLE_BY_STEP);

  EXPECT_THAT(Call(&v1::TraceService::Stub::GetTable, request),
              HasViolation("limit"));
}

TEST_F(TraceServiceTest, TableOfAMissingFileIsCorrupt) {
  const TraceRow row = StoreTrace("t", 1);
  std::filesystem::remove(traces_->PathOf(row.id, row.create_time));

  EXPECT_THAT(Call(&v1::TraceService::Stub::GetTable,
                   Named<v1::GetTableRequest>("traces/t")),
              StatusIs(StatusCode::kDataLoss, HasReason("TRACE_CORRUPT")));
}

TEST_F(TraceServiceTest, ExplainGivesTheStoredAnswer) {
  StoreTrace("t", 30);

  const auto answer = Call(&v1::TraceService::Stub::ExplainTrace,
                           Named<v1::ExplainTraceRequest>("traces/t"));

  ASSERT_THAT(answer, IsOk());
  EXPECT_EQ(answer->verdict().kind(), v1::VERDICT_KIND_CPU_ONLY);
  EXPECT_EQ(answer->workload(), "matmul_add");
  EXPECT_GT(answer->validity().criteria_size(), 0);
}

v1::DiffTracesRequest DiffOf(const std::string& before,
                             const std::string& after) {
  v1::DiffTracesRequest request;
  request.set_before(before);
  request.set_after(after);
  return request;
}

TEST_F(TraceServiceTest, DiffComparesTwoStoredTraces) {
  StoreTrace("a", 40);
  StoreTrace("b", 30);

  const auto diff =
      Call(&v1::TraceService::Stub::DiffTraces, DiffOf("traces/a", "traces/b"));

  ASSERT_THAT(diff, IsOk());
  EXPECT_EQ(diff->verdict(), v1::DIFF_VERDICT_NO_DIFFERENCE);
  EXPECT_EQ(diff->fingerprint_before(), diff->fingerprint_after());
  EXPECT_TRUE(diff->same_output());
  EXPECT_EQ(diff->confidence(), 0.95);
  EXPECT_EQ(diff->entries_size(), diff->all_entries());
}

TEST_F(TraceServiceTest, DiffTakesALimitAndAConfidence) {
  StoreTrace("a", 30);
  v1::DiffTracesRequest request = DiffOf("traces/a", "traces/a");
  request.set_limit(1);
  request.set_confidence(0.9);

  const auto diff = Call(&v1::TraceService::Stub::DiffTraces, request);

  ASSERT_THAT(diff, IsOk());
  EXPECT_EQ(diff->entries_size(), 1);
  EXPECT_GT(diff->all_entries(), 1);
  EXPECT_EQ(diff->confidence(), 0.9);

  request.set_limit(0);
  EXPECT_THAT(Call(&v1::TraceService::Stub::DiffTraces, request),
              HasViolation("limit"));
  request.set_limit(1);
  request.set_confidence(1);
  EXPECT_THAT(Call(&v1::TraceService::Stub::DiffTraces, request),
              HasViolation("confidence"));
}

TEST_F(TraceServiceTest, DiffRefusesUnlikeRunsUnlessForced) {
  StoreTrace("a", 30);
  Trace other = MakeCpuTrace(30);
  other.header.job.params["size"] = "128";
  CreateNamed("other");
  Succeed(StartNext(), "b", other);
  v1::DiffTracesRequest request = DiffOf("traces/a", "traces/b");

  EXPECT_THAT(
      Call(&v1::TraceService::Stub::DiffTraces, request),
      StatusIs(StatusCode::kFailedPrecondition, HasReason("RUNS_UNLIKE")));
  request.set_force(true);
  const auto forced = Call(&v1::TraceService::Stub::DiffTraces, request);

  ASSERT_THAT(forced, IsOk());
  EXPECT_THAT(forced->reasons(0),
              testing::HasSubstr("parameter size: 64 before, 128 after"));
}

TEST_F(TraceServiceTest, DiffNamesTheTraceThatItCannotFind) {
  StoreTrace("a", 1);

  EXPECT_THAT(
      Call(&v1::TraceService::Stub::DiffTraces, DiffOf("traces/a", "traces/x")),
      HasReason("TRACE_NOT_FOUND"));
  EXPECT_THAT(
      Call(&v1::TraceService::Stub::DiffTraces, DiffOf("traces/a", "b")),
      HasViolation("after"));
  EXPECT_THAT(Call(&v1::TraceService::Stub::DiffTraces, DiffOf("", "b")),
              HasViolation("before"));
}

TEST_F(TraceServiceTest, UnknownTracesAreNotFound) {
  EXPECT_THAT(Call(&v1::TraceService::Stub::ExplainTrace,
                   Named<v1::ExplainTraceRequest>("traces/x")),
              HasReason("TRACE_NOT_FOUND"));
  EXPECT_THAT(Call(&v1::TraceService::Stub::GetTable,
                   Named<v1::GetTableRequest>("traces/x")),
              HasReason("TRACE_NOT_FOUND"));
  EXPECT_THAT(Call(&v1::TraceService::Stub::GetTable,
                   Named<v1::GetTableRequest>("jobs/x")),
              HasViolation("name"));
}

TEST_F(TraceServiceTest, CheckComparesWithWhatIsExpected) {
  StoreTrace("t", 30);
  v1::CheckTraceRequest request = Named<v1::CheckTraceRequest>("traces/t");
  request.add_expressions("ops_per_step(aten::mm) == 1");
  request.add_expressions("ops_per_step(aten::mm) == 2");
  request.add_expressions("kernels_per_step == 0");

  const auto response = Call(&v1::TraceService::Stub::CheckTrace, request);

  ASSERT_THAT(response, IsOk());
  EXPECT_FALSE(response->passed());
  ASSERT_EQ(response->results_size(), 3);
  EXPECT_EQ(response->results(0).outcome(), v1::CHECK_OUTCOME_PASSED);
  EXPECT_EQ(response->results(1).outcome(), v1::CHECK_OUTCOME_FAILED);
  EXPECT_EQ(response->results(1).number().value(), 1);
  EXPECT_EQ(response->results(2).outcome(), v1::CHECK_OUTCOME_UNKNOWN);
}

TEST_F(TraceServiceTest, CheckReadsTheBaselinesThatAreNamed) {
  StoreTrace("t", 30);
  StoreTrace("b", 20);
  v1::CheckTraceRequest request = Named<v1::CheckTraceRequest>("traces/t");
  request.add_expressions("ops_per_step == baseline(b)");
  request.add_expressions("ops_per_step == baseline(traces/b)");
  request.add_expressions("ops_per_step == baseline(jobs/job-of-b)");

  const auto response = Call(&v1::TraceService::Stub::CheckTrace, request);

  ASSERT_THAT(response, IsOk());
  EXPECT_TRUE(response->passed()) << response->DebugString();
}

TEST_F(TraceServiceTest, CheckRefusesWhatMakesNoSense) {
  StoreTrace("t", 1);
  const auto check = [&](const std::string& expression) {
    v1::CheckTraceRequest request = Named<v1::CheckTraceRequest>("traces/t");
    request.add_expressions("stable");
    request.add_expressions(expression);
    return Call(&v1::TraceService::Stub::CheckTrace, request);
  };

  EXPECT_THAT(check("beauty == 1"), HasViolation("expressions[1]"));
  EXPECT_THAT(check("step_time_p50 < 1"), HasViolation("expressions[1]"));
  EXPECT_THAT(check(std::string(1025, 'x')), HasViolation("expressions[1]"));
  EXPECT_THAT(check("same_kernels(/etc/passwd)"), HasViolation("expressions"));
  EXPECT_THAT(check("same_kernels(x)"), HasReason("TRACE_NOT_FOUND"));
  EXPECT_THAT(check("same_kernels(jobs/x)"), HasReason("JOB_NOT_FOUND"));
  EXPECT_THAT(Call(&v1::TraceService::Stub::CheckTrace,
                   Named<v1::CheckTraceRequest>("traces/t")),
              HasViolation("expressions"));
  EXPECT_THAT(Call(&v1::TraceService::Stub::CheckTrace,
                   Named<v1::CheckTraceRequest>("jobs/t")),
              HasViolation("name"));
}

TEST_F(TraceServiceTest, CheckOfAJobWithoutATraceHasNoBaseline) {
  StoreTrace("t", 1);
  CreateNamed("pending");
  v1::CheckTraceRequest request = Named<v1::CheckTraceRequest>("traces/t");
  request.add_expressions("same_kernels(jobs/pending)");

  EXPECT_THAT(Call(&v1::TraceService::Stub::CheckTrace, request),
              HasReason("JOB_HAS_NO_TRACE"));
}

TEST_F(TraceServiceTest, TimelineShowsTheLanesOfTheFile) {
  StoreTrace("t", 3);
  v1::GetTimelineRequest request = Named<v1::GetTimelineRequest>("traces/t");
  request.set_width(10'000);

  const auto timeline = Call(&v1::TraceService::Stub::GetTimeline, request);

  ASSERT_THAT(timeline, IsOk());
  ASSERT_EQ(timeline->lanes_size(), 2);
  EXPECT_EQ(timeline->lanes(0).id(), "steps");
  EXPECT_EQ(timeline->lanes(1).id(), "thread/4242/4242");
  // A range and three operators in each of three steps.
  EXPECT_EQ(timeline->lanes(1).events_size(), 12);
  EXPECT_EQ(timeline->lanes(1).max_depth(), 2);
  EXPECT_FALSE(timeline->truncated());
}

TEST_F(TraceServiceTest, TimelineFitsIntoAMessage) {
  StoreTrace("t", 100'000);
  v1::GetTimelineRequest request = Named<v1::GetTimelineRequest>("traces/t");
  request.set_width(10'000);

  const auto timeline = Call(&v1::TraceService::Stub::GetTimeline, request);

  ASSERT_THAT(timeline, IsOk());
  EXPECT_LT(timeline->ByteSizeLong(), kMaxPageBytes);
}

TEST_F(TraceServiceTest, TimelineRefusesWhatMakesNoSense) {
  StoreTrace("t", 1);
  const auto named = [] { return Named<v1::GetTimelineRequest>("traces/t"); };
  v1::GetTimelineRequest width = named();
  width.set_width(0);
  v1::GetTimelineRequest reversed = named();
  reversed.set_start_ns(10);
  reversed.set_end_ns(9);
  v1::GetTimelineRequest lane = named();
  lane.add_lanes("stream/0/7");

  EXPECT_THAT(Call(&v1::TraceService::Stub::GetTimeline, width),
              HasViolation("width"));
  EXPECT_THAT(Call(&v1::TraceService::Stub::GetTimeline, reversed),
              HasViolation("end_ns"));
  EXPECT_THAT(Call(&v1::TraceService::Stub::GetTimeline, lane),
              HasViolation("lanes"));
  EXPECT_THAT(Call(&v1::TraceService::Stub::GetTimeline,
                   Named<v1::GetTimelineRequest>("traces/x")),
              HasReason("TRACE_NOT_FOUND"));
}

TEST_F(TraceServiceTest, WhatComesLaterSaysSo) {
  const auto not_implemented =
      StatusIs(StatusCode::kUnimplemented, HasReason("NOT_IMPLEMENTED"));

  TestContext exporting;
  v1::FileChunk chunk;
  const auto reader =
      trace_stub_->ExportTrace(&exporting, v1::ExportTraceRequest{});
  EXPECT_FALSE(reader->Read(&chunk));
  EXPECT_THAT(FromGrpc(reader->Finish()), not_implemented);
}

}  // namespace
}  // namespace traza
