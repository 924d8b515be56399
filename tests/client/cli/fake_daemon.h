// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_CLIENT_CLI_FAKE_DAEMON_H_
#define TESTS_CLIENT_CLI_FAKE_DAEMON_H_

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "grpcpp/grpcpp.h"

#include "base/mutex.h"
#include "tests/support/temp_dir.h"
#include "traza/v1/host_service.grpc.pb.h"
#include "traza/v1/job_service.grpc.pb.h"
#include "traza/v1/trace_service.grpc.pb.h"

namespace traza {

// What the fake says, and what it was asked. Set before the calls, read after.
struct FakeReplies {
  // Each call takes the first of these, if any, as its error.
  std::deque<absl::Status> errors;
  v1::Job created;  // of CreateJob
  v1::Job job;      // of GetJob, WaitJob and CancelJob
  std::vector<std::vector<v1::Job>> watches;  // one script for each WatchJob
  v1::ListJobsResponse jobs;
  v1::Trace trace;
  std::string file;                 // the bytes of the trace
  std::vector<size_t> read_breaks;  // ReadTrace i breaks after so many bytes
  v1::GetTableResponse table;
  v1::Answer answer;
  v1::CheckTraceResponse checks;
  v1::Diff diff;
  v1::Host host;
  v1::ListDevicesResponse devices;
  v1::ListWorkloadsResponse workloads;
};

struct FakeImport {
  v1::ImportTraceHeader header;
  std::string bytes;
};

struct FakeCalls {
  std::vector<std::string> names;             // "CreateJob", ... in order
  v1::CreateJobRequest create;                // the last
  std::vector<v1::CreateJobRequest> creates;  // all, trials too
  v1::ListJobsRequest list;
  v1::GetTableRequest table;
  v1::CheckTraceRequest check;
  v1::DiffTracesRequest diff;
  std::vector<int64_t> read_offsets;
  std::string deleted;
  std::vector<FakeImport> imports;
};

// A gRPC server with the services of traza on a unix socket, which answers
// from a script. Thread-safe once it runs.
class FakeDaemon {
 public:
  FakeDaemon();
  ~FakeDaemon();

  // For --server.
  std::string address() const { return address_; }

  void Set(FakeReplies replies) ABSL_LOCKS_EXCLUDED(mu_);
  FakeCalls calls() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  class Jobs;
  class Traces;
  class Host;

  // Notes the call; returns its scripted error.
  grpc::Status Enter(const std::string& name) ABSL_LOCKS_EXCLUDED(mu_);

  TempDir dir_;
  std::string address_;
  Mutex mu_;
  FakeReplies replies_ ABSL_GUARDED_BY(mu_);
  FakeCalls calls_ ABSL_GUARDED_BY(mu_);
  std::unique_ptr<Jobs> jobs_;
  std::unique_ptr<Traces> traces_;
  std::unique_ptr<Host> host_;
  std::unique_ptr<grpc::Server> server_;
};

// A job that succeeded with the trace traces/t1, and one in a phase.
v1::Job FakeJob(v1::JobState state);
v1::Job FakeJobInPhase(v1::Phase phase, int64_t done, int64_t total);

}  // namespace traza

#endif  // TESTS_CLIENT_CLI_FAKE_DAEMON_H_
