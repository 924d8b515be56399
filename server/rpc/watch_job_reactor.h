// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_RPC_WATCH_JOB_REACTOR_H_
#define SERVER_RPC_WATCH_JOB_REACTOR_H_

#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "grpcpp/grpcpp.h"

#include "base/executor.h"
#include "base/mutex.h"
#include "server/jobs/job_manager.h"
#include "server/rpc/call_record.h"
#include "server/rpc/stream_limit.h"
#include "traza/v1/job.pb.h"

namespace traza {

// Streams a job: as it is, then after each change, until it is final. A slow
// client misses what happened between two writes, never the end.
//
// One write is outstanding at most. It keeps itself alive (shared, because the
// executor may hold it as well) until gRPC is done with it. `manager` and
// `executor` must outlive every call.
class WatchJobReactor final : public grpc::ServerWriteReactor<v1::Job> {
 public:
  static grpc::ServerWriteReactor<v1::Job>* Start(JobManager& manager,
                                                  Executor& executor,
                                                  CallRecord record,
                                                  StreamLimit::Permit permit,
                                                  JobId id);

 private:
  WatchJobReactor(JobManager& manager, CallRecord record,
                  StreamLimit::Permit permit, JobId id);

  void Subscribe() ABSL_LOCKS_EXCLUDED(mu_);
  // Ends the time before which nothing may be written or finished.
  void Open(std::unique_ptr<JobManager::Subscription> subscription,
            const absl::Status& status) ABSL_LOCKS_EXCLUDED(mu_);
  void OnChange(const JobSnapshot& job) ABSL_LOCKS_EXCLUDED(mu_);
  // Starts the next write, or finishes, if it is time for that.
  void Advance() ABSL_LOCKS_EXCLUDED(mu_);

  void OnWriteDone(bool ok) override ABSL_LOCKS_EXCLUDED(mu_);
  void OnCancel() override ABSL_LOCKS_EXCLUDED(mu_);
  void OnDone() override ABSL_LOCKS_EXCLUDED(mu_);

  JobManager& manager_;
  const JobId id_;
  CallRecord record_;           // of whoever finishes
  StreamLimit::Permit permit_;  // given back at the end
  v1::Job message_;             // of the outstanding write

  Mutex mu_;
  std::shared_ptr<WatchJobReactor> self_ ABSL_GUARDED_BY(mu_);
  std::unique_ptr<JobManager::Subscription> subscription_ ABSL_GUARDED_BY(mu_);
  absl::Status status_ ABSL_GUARDED_BY(mu_);  // why to end early
  JobSnapshot latest_ ABSL_GUARDED_BY(mu_);   // what to send next
  JobSnapshot sent_ ABSL_GUARDED_BY(mu_);
  bool open_ ABSL_GUARDED_BY(mu_) = false;
  bool writing_ ABSL_GUARDED_BY(mu_) = false;
  bool finished_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace traza

#endif  // SERVER_RPC_WATCH_JOB_REACTOR_H_
