// SPDX-License-Identifier: Apache-2.0
#include "tests/client/cli/fake_daemon.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

#include "api/convert_status.h"
#include "base/check.h"

namespace traza {
namespace {

constexpr size_t kChunkBytes = 1000;

grpc::Status ToGrpc(const absl::Status& status) {
  const WireError error = ToWireError(status);
  return {static_cast<grpc::StatusCode>(error.code), error.message,
          error.details};
}

}  // namespace

class FakeDaemon::Jobs final : public v1::JobService::Service {
 public:
  explicit Jobs(FakeDaemon& fake) : fake_(fake) {}

  grpc::Status CreateJob(grpc::ServerContext*,
                         const v1::CreateJobRequest* request,
                         v1::Job* reply) override {
    const grpc::Status status = fake_.Enter("CreateJob");
    MutexLock lock(fake_.mu_);
    fake_.calls_.create = *request;
    fake_.calls_.creates.push_back(*request);
    *reply = fake_.replies_.created;
    return status;
  }
  grpc::Status GetJob(grpc::ServerContext*, const v1::GetJobRequest*,
                      v1::Job* reply) override {
    return Reply("GetJob", reply);
  }
  grpc::Status WaitJob(grpc::ServerContext*, const v1::WaitJobRequest*,
                       v1::Job* reply) override {
    return Reply("WaitJob", reply);
  }
  grpc::Status CancelJob(grpc::ServerContext*, const v1::CancelJobRequest*,
                         v1::Job* reply) override {
    return Reply("CancelJob", reply);
  }
  grpc::Status ListJobs(grpc::ServerContext*,
                        const v1::ListJobsRequest* request,
                        v1::ListJobsResponse* reply) override {
    const grpc::Status status = fake_.Enter("ListJobs");
    MutexLock lock(fake_.mu_);
    fake_.calls_.list = *request;
    *reply = fake_.replies_.jobs;
    return status;
  }
  grpc::Status DeleteJob(grpc::ServerContext*,
                         const v1::DeleteJobRequest* request,
                         google::protobuf::Empty*) override {
    const grpc::Status status = fake_.Enter("DeleteJob");
    MutexLock lock(fake_.mu_);
    fake_.calls_.deleted = request->name();
    return status;
  }
  grpc::Status WatchJob(grpc::ServerContext*, const v1::WatchJobRequest*,
                        grpc::ServerWriter<v1::Job>* writer) override {
    const grpc::Status status = fake_.Enter("WatchJob");
    if (!status.ok()) return status;
    std::vector<v1::Job> script;
    {
      MutexLock lock(fake_.mu_);
      auto& watches = fake_.replies_.watches;
      if (!watches.empty()) {
        script = watches.front();
        watches.erase(watches.begin());
      }
    }
    for (const v1::Job& job : script) writer->Write(job);
    // A script without an end is a connection that breaks.
    const bool ended =
        !script.empty() && script.back().state() >= v1::JOB_STATE_SUCCEEDED;
    return ended ? grpc::Status::OK
                 : grpc::Status(grpc::StatusCode::UNAVAILABLE, "gone");
  }

 private:
  grpc::Status Reply(const std::string& name, v1::Job* reply) {
    const grpc::Status status = fake_.Enter(name);
    MutexLock lock(fake_.mu_);
    *reply = fake_.replies_.job;
    return status;
  }

  FakeDaemon& fake_;
};

class FakeDaemon::Traces final : public v1::TraceService::Service {
 public:
  explicit Traces(FakeDaemon& fake) : fake_(fake) {}

  grpc::Status GetTrace(grpc::ServerContext*, const v1::GetTraceRequest*,
                        v1::Trace* reply) override {
    const grpc::Status status = fake_.Enter("GetTrace");
    MutexLock lock(fake_.mu_);
    *reply = fake_.replies_.trace;
    return status;
  }
  grpc::Status ListTraces(grpc::ServerContext*, const v1::ListTracesRequest*,
                          v1::ListTracesResponse* reply) override {
    const grpc::Status status = fake_.Enter("ListTraces");
    MutexLock lock(fake_.mu_);
    *reply->add_traces() = fake_.replies_.trace;
    return status;
  }
  grpc::Status DeleteTrace(grpc::ServerContext*,
                           const v1::DeleteTraceRequest* request,
                           google::protobuf::Empty*) override {
    const grpc::Status status = fake_.Enter("DeleteTrace");
    MutexLock lock(fake_.mu_);
    fake_.calls_.deleted = request->name();
    return status;
  }
  grpc::Status GetTable(grpc::ServerContext*,
                        const v1::GetTableRequest* request,
                        v1::GetTableResponse* reply) override {
    const grpc::Status status = fake_.Enter("GetTable");
    MutexLock lock(fake_.mu_);
    fake_.calls_.table = *request;
    *reply = fake_.replies_.table;
    return status;
  }
  grpc::Status ExplainTrace(grpc::ServerContext*,
                            const v1::ExplainTraceRequest*,
                            v1::Answer* reply) override {
    const grpc::Status status = fake_.Enter("ExplainTrace");
    MutexLock lock(fake_.mu_);
    *reply = fake_.replies_.answer;
    return status;
  }
  grpc::Status ImportTrace(grpc::ServerContext*,
                           grpc::ServerReader<v1::ImportTraceRequest>* reader,
                           v1::Trace* reply) override {
    const grpc::Status status = fake_.Enter("ImportTrace");
    if (!status.ok()) return status;
    FakeImport import;
    for (v1::ImportTraceRequest message; reader->Read(&message);) {
      if (message.has_header()) import.header = message.header();
      import.bytes += message.data();
    }
    MutexLock lock(fake_.mu_);
    *reply = fake_.replies_.trace;
    fake_.calls_.imports.push_back(std::move(import));
    return grpc::Status::OK;
  }
  grpc::Status CheckTrace(grpc::ServerContext*,
                          const v1::CheckTraceRequest* request,
                          v1::CheckTraceResponse* reply) override {
    const grpc::Status status = fake_.Enter("CheckTrace");
    MutexLock lock(fake_.mu_);
    fake_.calls_.check = *request;
    *reply = fake_.replies_.checks;
    return status;
  }
  grpc::Status DiffTraces(grpc::ServerContext*,
                          const v1::DiffTracesRequest* request,
                          v1::Diff* reply) override {
    const grpc::Status status = fake_.Enter("DiffTraces");
    MutexLock lock(fake_.mu_);
    fake_.calls_.diff = *request;
    *reply = fake_.replies_.diff;
    return status;
  }
  grpc::Status ReadTrace(grpc::ServerContext*,
                         const v1::ReadTraceRequest* request,
                         grpc::ServerWriter<v1::FileChunk>* writer) override {
    const grpc::Status status = fake_.Enter("ReadTrace");
    if (!status.ok()) return status;
    std::string file;
    size_t limit = std::string::npos;
    {
      MutexLock lock(fake_.mu_);
      file = fake_.replies_.file;
      auto& breaks = fake_.replies_.read_breaks;
      if (!breaks.empty()) {
        limit = breaks.front();
        breaks.erase(breaks.begin());
      }
      fake_.calls_.read_offsets.push_back(request->read_offset());
    }
    for (auto at = static_cast<size_t>(request->read_offset());
         at < file.size(); at += kChunkBytes) {
      if (at >= limit) return {grpc::StatusCode::UNAVAILABLE, "gone"};
      v1::FileChunk chunk;
      chunk.set_offset(static_cast<int64_t>(at));
      chunk.set_data(file.substr(at, kChunkBytes));
      chunk.set_last(at + kChunkBytes >= file.size());
      writer->Write(chunk);
    }
    return grpc::Status::OK;
  }

 private:
  FakeDaemon& fake_;
};

class FakeDaemon::Host final : public v1::HostService::Service {
 public:
  explicit Host(FakeDaemon& fake) : fake_(fake) {}

  grpc::Status GetHost(grpc::ServerContext*, const v1::GetHostRequest*,
                       v1::Host* reply) override {
    const grpc::Status status = fake_.Enter("GetHost");
    MutexLock lock(fake_.mu_);
    *reply = fake_.replies_.host;
    return status;
  }
  grpc::Status ListDevices(grpc::ServerContext*, const v1::ListDevicesRequest*,
                           v1::ListDevicesResponse* reply) override {
    const grpc::Status status = fake_.Enter("ListDevices");
    MutexLock lock(fake_.mu_);
    *reply = fake_.replies_.devices;
    return status;
  }
  grpc::Status ListWorkloads(grpc::ServerContext*,
                             const v1::ListWorkloadsRequest*,
                             v1::ListWorkloadsResponse* reply) override {
    const grpc::Status status = fake_.Enter("ListWorkloads");
    MutexLock lock(fake_.mu_);
    *reply = fake_.replies_.workloads;
    return status;
  }

 private:
  FakeDaemon& fake_;
};

FakeDaemon::FakeDaemon()
    : address_(absl::StrCat("unix:", (dir_ / "socket").native())),
      jobs_(std::make_unique<Jobs>(*this)),
      traces_(std::make_unique<Traces>(*this)),
      host_(std::make_unique<Host>(*this)) {
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address_, grpc::InsecureServerCredentials());
  builder.RegisterService(jobs_.get());
  builder.RegisterService(traces_.get());
  builder.RegisterService(host_.get());
  server_ = builder.BuildAndStart();
  TRAZA_CHECK(server_ != nullptr);
}

FakeDaemon::~FakeDaemon() { server_->Shutdown(); }

void FakeDaemon::Set(FakeReplies replies) {
  MutexLock lock(mu_);
  replies_ = std::move(replies);
}

FakeCalls FakeDaemon::calls() {
  MutexLock lock(mu_);
  return calls_;
}

grpc::Status FakeDaemon::Enter(const std::string& name) {
  MutexLock lock(mu_);
  calls_.names.push_back(name);
  if (replies_.errors.empty()) return grpc::Status::OK;
  const absl::Status error = replies_.errors.front();
  replies_.errors.pop_front();
  // OK lets a call pass, so that a later one can fail.
  return error.ok() ? grpc::Status::OK : ToGrpc(error);
}

v1::Job FakeJob(v1::JobState state) {
  v1::Job job;
  job.set_name("jobs/j1");
  job.set_state(state);
  v1::JobSpec& spec = *job.mutable_spec();
  spec.set_workload("matmul_add");
  spec.set_variant("eager");
  spec.set_device("cpu");
  (*spec.mutable_params())["size"] = "64";
  (*spec.mutable_params())["dtype"] = "fp32";
  spec.mutable_warmup()->set_automatic(true);
  spec.set_timed_steps(30);
  spec.set_traced_steps(30);
  spec.set_depth(v1::DEPTH_OPS);
  spec.mutable_timeout()->set_seconds(300);
  job.mutable_create_time()->set_seconds(1'767'225'600);
  if (state == v1::JOB_STATE_SUCCEEDED) job.set_trace("traces/t1");
  if (state >= v1::JOB_STATE_SUCCEEDED) {
    job.mutable_start_time()->set_seconds(1'767'225'600);
    job.mutable_end_time()->set_seconds(1'767'225'602);
  }
  if (state == v1::JOB_STATE_FAILED) {
    v1::JobError& error = *job.mutable_error();
    error.set_reason("WORKER_CRASHED");
    error.set_message("The worker ended with signal 11 (Segmentation fault).");
    error.set_remedy("See the last words of the worker.");
    error.set_phase(v1::PHASE_TIMED);
    error.set_last_words("line one\nline \033two\n");
  }
  return job;
}

v1::Job FakeJobInPhase(v1::Phase phase, int64_t done, int64_t total) {
  v1::Job job = FakeJob(v1::JOB_STATE_RUNNING);
  job.mutable_progress()->set_phase(phase);
  job.mutable_progress()->set_done(done);
  if (total > 0) job.mutable_progress()->set_total(total);
  return job;
}

}  // namespace traza
