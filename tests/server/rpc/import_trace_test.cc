// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "server/rpc/limits.h"
#include "tests/server/rpc/rpc_fixture.h"
#include "tests/support/wait_until.h"

namespace traza {
namespace {

using absl::StatusCode;
using testing::HasSubstr;

constexpr char kProfilerJson[] = R"({"schemaVersion": 1, "traceEvents": [
  {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 5, "tid": 5,
   "ts": 1000.5, "dur": 20.25, "args": {"External id": 1}},
  {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 5, "tid": 5,
   "ts": 1030.0, "dur": 10.0, "args": {"External id": 2}}]})";

class ImportTraceTest : public RpcFixture {
 protected:
  // The bytes of a file of ours.
  std::string OwnFile(int64_t steps = 30) {
    Trace trace = MakeCpuTrace(steps);
    trace.header.host = "elsewhere";
    trace.header.job.workload = "linear";
    trace.header.job.device = "cpu";
    const std::filesystem::path path = dir_ / "own.parquet";
    EXPECT_THAT(WriteParquet(trace, path), IsOk());
    return *ReadFile(path, int64_t{1} << 30);
  }

  absl::StatusOr<v1::Trace> Send(
      const std::vector<v1::ImportTraceRequest>& messages) {
    TestContext context;
    v1::Trace trace;
    const auto writer = trace_stub_->ImportTrace(&context, &trace);
    for (const v1::ImportTraceRequest& message : messages) {
      if (!writer->Write(message)) break;
    }
    writer->WritesDone();
    const grpc::Status status = writer->Finish();
    if (!status.ok()) return FromGrpc(status);
    return trace;
  }

  absl::StatusOr<v1::Trace> Import(const std::string& bytes,
                                   const v1::ImportTraceHeader& header = {}) {
    std::vector<v1::ImportTraceRequest> messages = {HeaderMessage(header)};
    for (size_t at = 0; at < bytes.size(); at += kMaxImportBlockBytes) {
      messages.push_back(DataMessage(bytes.substr(at, kMaxImportBlockBytes)));
    }
    return Send(messages);
  }

  static v1::ImportTraceRequest HeaderMessage(
      const v1::ImportTraceHeader& header = {}) {
    v1::ImportTraceRequest message;
    *message.mutable_header() = header;
    return message;
  }
  static v1::ImportTraceRequest DataMessage(const std::string& bytes) {
    v1::ImportTraceRequest message;
    message.set_data(bytes);
    return message;
  }

  int64_t Temporaries() const {
    std::error_code ignored;
    return std::ranges::distance(
        std::filesystem::directory_iterator(dir_ / "tmp", ignored),
        std::filesystem::directory_iterator());
  }
  int64_t Stored() const { return jobs_->SumTraces()->count; }
};

TEST_F(ImportTraceTest, AFileOfOursIsStoredAsItIs) {
  const std::string bytes = OwnFile();
  v1::ImportTraceHeader header;
  (*header.mutable_labels())["from"] = "laptop";
  header.set_size_bytes(static_cast<int64_t>(bytes.size()));
  header.set_sha256(Sha256(bytes));

  const auto trace = Import(bytes, header);

  ASSERT_THAT(trace, IsOk());
  EXPECT_FALSE(trace->has_job());
  EXPECT_EQ(trace->workload(), "linear");
  EXPECT_EQ(trace->device(), "cpu");
  EXPECT_EQ(trace->host(), "elsewhere");
  EXPECT_EQ(trace->sha256(), Sha256(bytes));
  EXPECT_EQ(trace->labels().at("from"), "laptop");
  EXPECT_EQ(trace->validity(), v1::VALIDITY_LEVEL_VALID);
  EXPECT_EQ(trace->verdict(), v1::VERDICT_KIND_CPU_ONLY);
  EXPECT_EQ(Temporaries(), 0);
}

TEST_F(ImportTraceTest, ATraceOfTorchProfilerBecomesOneOfOurs) {
  const auto trace = Import(kProfilerJson);

  ASSERT_THAT(trace, IsOk());
  EXPECT_EQ(trace->rows(), 2);
  TestContext context;
  v1::GetTableRequest request;
  request.set_name(trace->name());
  v1::GetTableResponse table;
  ASSERT_TRUE(trace_stub_->GetTable(&context, request, &table).ok());
  EXPECT_EQ(table.rows(0).name(), "aten::mm");
  EXPECT_EQ(table.rows(0).total_cpu_ns(), 20'250);
  EXPECT_EQ(Temporaries(), 0);
}

TEST_F(ImportTraceTest, WhatIsStoredCanBeExplainedAndListed) {
  const auto trace = Import(OwnFile());
  ASSERT_THAT(trace, IsOk());

  TestContext explain_context;
  v1::ExplainTraceRequest explain;
  explain.set_name(trace->name());
  v1::Answer answer;
  EXPECT_TRUE(
      trace_stub_->ExplainTrace(&explain_context, explain, &answer).ok());
  EXPECT_EQ(answer.workload(), "linear");
  TestContext list_context;
  v1::ListTracesResponse list;
  EXPECT_TRUE(trace_stub_->ListTraces(&list_context, {}, &list).ok());
  ASSERT_EQ(list.traces_size(), 1);
  EXPECT_EQ(list.traces(0).name(), trace->name());
}

TEST_F(ImportTraceTest, TheSameRequestIdIsTheSameTrace) {
  const std::string bytes = OwnFile();
  v1::ImportTraceHeader header;
  header.set_request_id("once");

  const auto first = Import(bytes, header);
  const auto second = Import(bytes, header);

  ASSERT_THAT(first, IsOk());
  ASSERT_THAT(second, IsOk());
  EXPECT_EQ(first->name(), second->name());
  EXPECT_EQ(Stored(), 1);
  EXPECT_THAT(Import(kProfilerJson, header), HasReason("REQUEST_ID_REUSED"));
  EXPECT_EQ(Stored(), 1);
}

TEST_F(ImportTraceTest, WithoutARequestIdEachImportIsATrace) {
  const std::string bytes = OwnFile();

  ASSERT_THAT(Import(bytes), IsOk());
  ASSERT_THAT(Import(bytes), IsOk());

  EXPECT_EQ(Stored(), 2);
}

TEST_F(ImportTraceTest, ACutOffImportIsNoticed) {
  const std::string bytes = OwnFile();
  v1::ImportTraceHeader header;
  header.set_size_bytes(static_cast<int64_t>(bytes.size()) + 1);
  EXPECT_THAT(Import(bytes, header), HasReason("TRACE_INCOMPLETE"));

  header.clear_size_bytes();
  header.set_sha256(Sha256("something else"));
  EXPECT_THAT(Import(bytes, header), HasReason("TRACE_INCOMPLETE"));
  EXPECT_EQ(Stored(), 0);
  EXPECT_EQ(Temporaries(), 0);
}

TEST_F(ImportTraceTest, WhatIsNoTraceIsRefusedWithItsFault) {
  EXPECT_THAT(Import("hello"), HasReason("TRACE_UNREADABLE"));
  EXPECT_THAT(Import("PAR1 and nothing behind"), HasReason("TRACE_INCOMPLETE"));
  EXPECT_THAT(Import(R"({"traceEvents": [)"), HasReason("TRACE_INCOMPLETE"));
  EXPECT_THAT(Import(R"({"traceEvents": []})"), HasReason("TRACE_EMPTY"));
  EXPECT_THAT(Import(""), StatusIs(StatusCode::kInvalidArgument));
  EXPECT_EQ(Stored(), 0);
  EXPECT_EQ(Temporaries(), 0);
}

TEST_F(ImportTraceTest, FaultsDoNotTellPathsOfTheDaemon) {
  const auto trace = Import("hello");

  EXPECT_THAT(trace.status().message(),
              testing::Not(HasSubstr(dir_.path().native())));
}

TEST_F(ImportTraceTest, AFormatThatIsNotThatOfTheDataIsRefused) {
  v1::ImportTraceHeader header;
  header.set_format(v1::IMPORT_FORMAT_KINETO);
  EXPECT_THAT(Import(OwnFile(), header), HasViolation("format"));
  header.set_format(v1::IMPORT_FORMAT_PARQUET);
  EXPECT_THAT(Import(kProfilerJson, header), HasViolation("format"));
  header.set_format(static_cast<v1::ImportFormat>(99));
  EXPECT_THAT(Import(kProfilerJson, header), HasViolation("format"));
}

TEST_F(ImportTraceTest, AWrongHeaderIsRefusedByField) {
  v1::ImportTraceHeader header;
  (*header.mutable_labels())["Not a key"] = "x";
  EXPECT_THAT(Import(kProfilerJson, header), HasViolation("labels[Not a key]"));
  header.Clear();
  header.set_sha256("ABC");
  EXPECT_THAT(Import(kProfilerJson, header), HasViolation("sha256"));
  header.Clear();
  header.set_size_bytes(-1);
  EXPECT_THAT(Import(kProfilerJson, header), HasViolation("size_bytes"));
  header.Clear();
  header.set_request_id(std::string(129, 'x'));
  EXPECT_THAT(Import(kProfilerJson, header), HasViolation("request_id"));
  EXPECT_EQ(Temporaries(), 0);
}

TEST_F(ImportTraceTest, MessagesInTheWrongOrderAreRefused) {
  EXPECT_THAT(Send({}), HasViolation("header"));
  EXPECT_THAT(Send({DataMessage("x")}), HasViolation("header"));
  EXPECT_THAT(Send({HeaderMessage(), HeaderMessage()}), HasViolation("header"));
  EXPECT_THAT(Send({HeaderMessage(), v1::ImportTraceRequest()}),
              HasViolation("payload"));
  EXPECT_THAT(Send({HeaderMessage(),
                    DataMessage(std::string(kMaxImportBlockBytes + 1, ' '))}),
              HasViolation("data"));
  EXPECT_EQ(Temporaries(), 0);
}

TEST_F(ImportTraceTest, ATraceOverTheLimitIsRefusedWhereverItShows) {
  v1::ImportTraceHeader header;
  header.set_size_bytes(kMaxImportBytes + 1);
  EXPECT_THAT(Send({HeaderMessage(header)}), HasReason("TRACE_TOO_LARGE"));

  EXPECT_THAT(Import(std::string(kMaxImportBytes + 1, ' ')),
              HasReason("TRACE_TOO_LARGE"));
  EXPECT_EQ(Temporaries(), 0);
}

TEST_F(ImportTraceTest, AClientThatGoesLeavesNothing) {
  {
    TestContext context;
    v1::Trace trace;
    const auto writer = trace_stub_->ImportTrace(&context, &trace);
    ASSERT_TRUE(writer->Write(HeaderMessage()));
    ASSERT_TRUE(writer->Write(DataMessage("PAR1")));
    EXPECT_TRUE(WaitUntil([this] { return Temporaries() == 1; }));
    context.TryCancel();
    writer->Finish();
  }
  EXPECT_TRUE(WaitUntil([this] { return Temporaries() == 0; }));
  EXPECT_EQ(Stored(), 0);
}

TEST_F(ImportTraceTest, ManyAtATimeAreToldToComeBack) {
  std::vector<std::unique_ptr<TestContext>> contexts;
  std::vector<std::unique_ptr<grpc::ClientWriter<v1::ImportTraceRequest>>> open;
  std::vector<v1::Trace> traces(kMaxImportStreams);
  for (int i = 0; i < kMaxImportStreams; ++i) {
    contexts.push_back(std::make_unique<TestContext>());
    open.push_back(trace_stub_->ImportTrace(contexts.back().get(), &traces[i]));
    ASSERT_TRUE(open.back()->Write(HeaderMessage()));
  }
  EXPECT_TRUE(WaitUntil([this] { return Temporaries() == kMaxImportStreams; }));

  EXPECT_THAT(Import(kProfilerJson), HasReason("TOO_MANY_REQUESTS"));

  for (auto& writer : open) {
    writer->WritesDone();
    writer->Finish();
  }
  EXPECT_TRUE(WaitUntil([this] { return Temporaries() == 0; }));
  EXPECT_THAT(Import(kProfilerJson), IsOk());
}

}  // namespace
}  // namespace traza
