// SPDX-License-Identifier: Apache-2.0
// How many calls a second the server answers over loopback, and how long each
// takes: GetJob of a queued and of a finished job with 8 clients, a page of
// ListJobs with 100,000 jobs with one.
//
// usage: rpc_bench [seconds a case] [jobs]
//
// Client and server share this process and its cores; the server's parts are
// those of the daemon, but for workers and HTTP.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "grpcpp/grpcpp.h"

#include "api/convert_trace.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/executor.h"
#include "base/status_macros.h"
#include "server/host/host_registry.h"
#include "server/jobs/job_manager.h"
#include "server/jobs/trace_importer.h"
#include "server/metrics/metrics.h"
#include "server/rpc/grpc_server.h"
#include "server/store/job_rows.h"
#include "server/store/job_store.h"
#include "server/store/sqlite.h"
#include "server/store/trace_store.h"
#include "tests/support/make_job.h"
#include "tests/support/sample_description.h"
#include "tests/support/temp_dir.h"
#include "traza/v1/job_service.grpc.pb.h"

namespace traza {
namespace {

constexpr int kClients = 8;

// A store with that many finished jobs, written in one transaction: one each
// would take minutes.
std::unique_ptr<JobStore> MakeStore(const std::filesystem::path& path,
                                    int jobs) {
  TRAZA_CHECK(JobStore::Open(path).ok());
  const auto fill = [jobs](SqlTransaction& sql) -> absl::Status {
    for (int i = 0; i < jobs; ++i) {
      Job job = MakeJob(absl::StrCat("done-", i), i);
      job.state = JobState::kSucceeded;
      RETURN_IF_ERROR(InsertJob(sql, job));
    }
    return absl::OkStatus();
  };
  TRAZA_CHECK(
      (*Sqlite::Open(path, Sqlite::Access::kReadWrite))->Write(fill).ok());
  return *JobStore::Open(path);
}

// The parts of the daemon that answer calls, on a free port.
class BenchServer {
 public:
  explicit BenchServer(int finished_jobs)
      : jobs_(MakeStore(dir_ / "traza.db", finished_jobs)) {
    host_.SetDescription(SampleDescription());
    GrpcServerOptions options;
    options.address = "127.0.0.1:0";
    server_ = *GrpcServer::Start(options, {.manager = manager_,
                                           .jobs = *jobs_,
                                           .traces = *traces_,
                                           .importer = importer_,
                                           .host = host_,
                                           .executor = executor_,
                                           .metrics = metrics_});
  }

  // Each client gets a connection of its own.
  std::unique_ptr<v1::JobService::Stub> NewClient() const {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return v1::JobService::NewStub(grpc::CreateCustomChannel(
        absl::StrCat("127.0.0.1:", server_->port()),
        grpc::InsecureChannelCredentials(), arguments));
  }

  std::string CreateQueuedJob() {
    JobRequest request;
    request.workload = "matmul_add";
    request.device = "cpu";
    return absl::StrCat("jobs/", manager_.Create(request, {})->id.value);
  }

 private:
  TempDir dir_;
  HostRegistry host_;
  Metrics metrics_;
  std::unique_ptr<JobStore> jobs_;
  std::unique_ptr<TraceStore> traces_ = *TraceStore::Open(dir_.path());
  JobManager manager_{{}, host_, *jobs_, *traces_, metrics_, Clock::Real()};
  TraceImporter importer_{{.encode_answer = EncodeAnswer},
                          *jobs_,
                          *traces_,
                          metrics_,
                          Clock::Real()};
  Executor executor_{{}};
  std::unique_ptr<GrpcServer> server_;
};

using Call = std::function<grpc::Status(v1::JobService::Stub&)>;

// Calls in a loop until `stop`, and notes how long each call took.
std::vector<double> RunClient(const BenchServer& server, const Call& call,
                              const std::atomic<bool>& stop) {
  const auto stub = server.NewClient();
  TRAZA_CHECK(call(*stub).ok());  // connects
  std::vector<double> times_ms;
  while (!stop) {
    const absl::Duration start = Clock::Real().Monotonic();
    TRAZA_CHECK(call(*stub).ok());
    times_ms.push_back(
        absl::ToDoubleMilliseconds(Clock::Real().Monotonic() - start));
  }
  return times_ms;
}

void Report(const char* name, const BenchServer& server, int clients,
            absl::Duration length, const Call& call) {
  std::atomic<bool> stop = false;
  std::vector<std::vector<double>> times(static_cast<size_t>(clients));
  std::vector<std::thread> threads;
  const absl::Duration start = Clock::Real().Monotonic();
  for (std::vector<double>& of_client : times) {
    threads.emplace_back([&] { of_client = RunClient(server, call, stop); });
  }
  absl::SleepFor(length);
  stop = true;
  for (std::thread& thread : threads) thread.join();
  const absl::Duration took = Clock::Real().Monotonic() - start;

  std::vector<double> all;
  for (const std::vector<double>& of_client : times) {
    all.insert(all.end(), of_client.begin(), of_client.end());
  }
  TRAZA_CHECK(!all.empty());
  std::ranges::sort(all);
  const auto at = [&all](double share) {
    return all[std::min(
        all.size() - 1,
        static_cast<size_t>(share * static_cast<double>(all.size())))];
  };
  std::printf("%-36s %2d clients %9.0f calls/s  p50 %7.3f ms  p99 %7.3f ms\n",
              name, clients,
              static_cast<double>(all.size()) / absl::ToDoubleSeconds(took),
              at(0.5), at(0.99));
}

Call GetJob(const std::string& name) {
  return [name](v1::JobService::Stub& stub) {
    grpc::ClientContext context;
    v1::GetJobRequest request;
    request.set_name(name);
    v1::Job job;
    return stub.GetJob(&context, request, &job);
  };
}

Call ListJobs(const std::string& filter) {
  return [filter](v1::JobService::Stub& stub) {
    grpc::ClientContext context;
    v1::ListJobsRequest request;
    request.set_filter(filter);
    v1::ListJobsResponse response;
    return stub.ListJobs(&context, request, &response);
  };
}

void RunAll(absl::Duration length, int jobs) {
  BenchServer server(jobs);
  const std::string queued = server.CreateQueuedJob();
  Report("GetJob, queued", server, kClients, length, GetJob(queued));
  Report("GetJob, finished", server, kClients, length, GetJob("jobs/done-0"));
  Report("ListJobs, 50 of all", server, 1, length, ListJobs(""));
  Report("ListJobs, 50 of state and workload", server, 1, length,
         ListJobs("state=SUCCEEDED AND workload=matmul_add"));
  Report("ListJobs, 50 of a label", server, 1, length,
         ListJobs("labels.team=a"));
  Report("ListJobs, 50 of all", server, kClients, length, ListJobs(""));
}

}  // namespace
}  // namespace traza

int main(int argc, char** argv) {
  const int seconds = argc > 1 ? std::atoi(argv[1]) : 5;
  const int jobs = argc > 2 ? std::atoi(argv[2]) : 100'000;
  traza::RunAll(absl::Seconds(seconds), jobs);
  return 0;
}
