// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SERVER_RPC_RPC_FIXTURE_H_
#define TESTS_SERVER_RPC_RPC_FIXTURE_H_

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"

#include "api/convert_status.h"
#include "api/convert_trace.h"
#include "base/executor.h"
#include "base/file.h"
#include "server/host/host_registry.h"
#include "server/jobs/job_manager.h"
#include "server/jobs/taken_trace.h"
#include "server/jobs/trace_importer.h"
#include "server/metrics/metrics.h"
#include "server/rpc/grpc_server.h"
#include "server/store/job_store.h"
#include "server/store/trace_store.h"
#include "tests/support/fake_clock.h"
#include "tests/support/record_builder.h"
#include "tests/support/sample_description.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "trace/analysis/answer.h"
#include "trace/file/parquet_file.h"
#include "traza/v1/host_service.grpc.pb.h"
#include "traza/v1/job_service.grpc.pb.h"
#include "traza/v1/trace_service.grpc.pb.h"

namespace traza {

// What the client library makes of an error.
inline absl::Status FromGrpc(const grpc::Status& status) {
  return StatusFromWire(static_cast<int>(status.error_code()),
                        status.error_message(), status.error_details());
}

// A client call that cannot hang a test.
class TestContext : public grpc::ClientContext {
 public:
  TestContext() {
    set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
  }
};

// A server with the real parts of the daemon on a free port, and a client of
// it. Jobs do not run by themselves: the test plays the device runner.
class RpcFixture : public testing::Test {
 protected:
  static constexpr int64_t kMaxImportBytes = int64_t{8} << 20;

  explicit RpcFixture(const ExecutorOptions& executor = {})
      : jobs_(*JobStore::Open(dir_ / "traza.db")),
        traces_(*TraceStore::Open(dir_.path())),
        manager_({}, host_, *jobs_, *traces_, metrics_, clock_),
        importer_(
            {.max_trace_bytes = kMaxImportBytes, .encode_answer = EncodeAnswer},
            *jobs_, *traces_, metrics_, clock_),
        executor_(std::make_unique<Executor>(executor)) {
    host_.SetDescription(SampleDescription());
    GrpcServerOptions options;
    options.address = "127.0.0.1:0";
    options.hostname = "testhost";
    options.start_time = clock_.Now();
    server_ = *GrpcServer::Start(options, Parts());
    channel_ = NewChannel();
    job_stub_ = v1::JobService::NewStub(channel_);
    trace_stub_ = v1::TraceService::NewStub(channel_);
    host_stub_ = v1::HostService::NewStub(channel_);
  }

  GrpcServerParts Parts() {
    return {.manager = manager_,
            .jobs = *jobs_,
            .traces = *traces_,
            .importer = importer_,
            .host = host_,
            .executor = *executor_,
            .metrics = metrics_};
  }

  // With a connection of its own.
  std::shared_ptr<grpc::Channel> NewChannel() const {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return grpc::CreateCustomChannel(
        absl::StrCat("127.0.0.1:", server_->port()),
        grpc::InsecureChannelCredentials(), arguments);
  }

  static v1::CreateJobRequest CreateRequest() {
    v1::CreateJobRequest request;
    request.mutable_job()->set_workload("matmul_add");
    request.mutable_job()->set_device("cpu");
    return request;
  }

  absl::StatusOr<v1::Job> Create(const v1::CreateJobRequest& request) {
    TestContext context;
    v1::Job job;
    const grpc::Status status = job_stub_->CreateJob(&context, request, &job);
    if (!status.ok()) return FromGrpc(status);
    return job;
  }

  absl::StatusOr<v1::Job> Get(const std::string& name) {
    TestContext context;
    v1::GetJobRequest request;
    request.set_name(name);
    v1::Job job;
    const grpc::Status status = job_stub_->GetJob(&context, request, &job);
    if (!status.ok()) return FromGrpc(status);
    return job;
  }

  // A queued job with that id.
  std::string CreateNamed(const std::string& id) {
    v1::CreateJobRequest request = CreateRequest();
    request.set_job_id(id);
    const auto job = Create(request);
    EXPECT_THAT(job, IsOk());
    return absl::StrCat("jobs/", id);
  }

  // Plays the device runner: the oldest queued job begins to run ...
  Job StartNext() {
    auto job = manager_.TakeNext("cpu", false);
    EXPECT_THAT(job, IsOk());
    EXPECT_TRUE(job->has_value());
    return **job;
  }

  // ... and ends with an error ...
  void Fail(Job job) {
    job.state = JobState::kFailed;
    job.end_time = clock_.Now();
    JobError error;
    error.reason = Reason::kWorkerCrashed;
    error.message = "signal 11";
    job.error = std::move(error);
    EXPECT_THAT(manager_.Finish(job, nullptr), IsOk());
  }

  // ... or with a trace.
  TraceRow Succeed(Job job, const std::string& trace_id, const Trace& trace) {
    const std::filesystem::path file = dir_ / "written.parquet";
    EXPECT_THAT(WriteParquet(trace, file), IsOk());
    return SucceedWithFile(std::move(job), trace_id, file,
                           EncodeAnswer(Explain(trace)));
  }

  TraceRow SucceedWithFile(Job job, const std::string& trace_id,
                           const std::filesystem::path& file,
                           const std::string& answer) {
    TraceRow row;
    row.id = TraceId{trace_id};
    row.job = job.id;
    row.workload = job.spec.workload;
    row.variant = job.spec.variant;
    row.device = job.spec.device;
    row.host = "testhost";
    row.create_time = clock_.Now();
    row.validity = "VALID";
    row.verdict = "cpu-only";
    row.rows = 5;
    const auto committed = traces_->Commit(file, row.id, row.create_time);
    EXPECT_THAT(committed, IsOk());
    row.size_bytes = committed->size_bytes;
    row.sha256 = committed->sha256;
    job.state = JobState::kSucceeded;
    job.end_time = clock_.Now();
    job.trace = row.id;
    const TakenTrace taken{.row = row, .answer = answer, .counts = {}};
    EXPECT_THAT(manager_.Finish(job, &taken), IsOk());
    return row;
  }

  // A trace whose file has these bytes.
  TraceRow StoreBytes(const std::string& trace_id, const std::string& bytes) {
    CreateNamed(absl::StrCat("job-of-", trace_id));
    EXPECT_THAT(WriteFileAtomically(dir_ / "written.parquet", bytes), IsOk());
    return SucceedWithFile(StartNext(), trace_id, dir_ / "written.parquet", "");
  }

  TempDir dir_;
  FakeClock clock_;
  HostRegistry host_;
  Metrics metrics_;
  std::unique_ptr<JobStore> jobs_;
  std::unique_ptr<TraceStore> traces_;
  JobManager manager_;
  TraceImporter importer_;
  std::unique_ptr<Executor> executor_;
  std::unique_ptr<GrpcServer> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::JobService::Stub> job_stub_;
  std::unique_ptr<v1::TraceService::Stub> trace_stub_;
  std::unique_ptr<v1::HostService::Stub> host_stub_;
};

}  // namespace traza

#endif  // TESTS_SERVER_RPC_RPC_FIXTURE_H_
