// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_RPC_WAIT_JOB_REACTOR_H_
#define SERVER_RPC_WAIT_JOB_REACTOR_H_

#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "grpcpp/alarm.h"
#include "grpcpp/grpcpp.h"

#include "base/executor.h"
#include "base/mutex.h"
#include "server/jobs/job_manager.h"
#include "server/rpc/call_record.h"
#include "traza/v1/job.pb.h"

namespace traza {

// Answers with a job once it is final, or as it is after `timeout`. It holds no
// thread while it waits.
//
// Kept alive (shared) by itself until gRPC is done with it, by the executor and
// by the pending alarm. `manager` and `executor` must outlive every call.
class WaitJobReactor final : public grpc::ServerUnaryReactor {
 public:
  struct Arguments {
    JobId id;
    absl::Duration timeout;
    v1::Job* response;  // of the call
  };
  static grpc::ServerUnaryReactor* Start(JobManager& manager,
                                         Executor& executor, CallRecord record,
                                         Arguments arguments);

 private:
  WaitJobReactor(JobManager& manager, CallRecord record, Arguments arguments);

  void Subscribe(const std::shared_ptr<WaitJobReactor>& self)
      ABSL_LOCKS_EXCLUDED(mu_);
  // Ends the time before which the call may not be finished.
  void Open(std::unique_ptr<JobManager::Subscription> subscription,
            const absl::Status& status) ABSL_LOCKS_EXCLUDED(mu_);
  void OnChange(const JobSnapshot& job) ABSL_LOCKS_EXCLUDED(mu_);
  void OnAlarm() ABSL_LOCKS_EXCLUDED(mu_);
  // Finishes if it is time for that.
  void Advance() ABSL_LOCKS_EXCLUDED(mu_);

  void OnCancel() override ABSL_LOCKS_EXCLUDED(mu_);
  void OnDone() override ABSL_LOCKS_EXCLUDED(mu_);

  JobManager& manager_;
  const Arguments arguments_;
  CallRecord record_;  // of whoever finishes
  grpc::Alarm alarm_;  // set before `open_`

  Mutex mu_;
  std::shared_ptr<WaitJobReactor> self_ ABSL_GUARDED_BY(mu_);
  std::unique_ptr<JobManager::Subscription> subscription_ ABSL_GUARDED_BY(mu_);
  absl::Status status_ ABSL_GUARDED_BY(mu_);
  JobSnapshot latest_ ABSL_GUARDED_BY(mu_);
  bool open_ ABSL_GUARDED_BY(mu_) = false;
  bool timed_out_ ABSL_GUARDED_BY(mu_) = false;
  bool finished_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace traza

#endif  // SERVER_RPC_WAIT_JOB_REACTOR_H_
