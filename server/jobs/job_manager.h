// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_JOBS_JOB_MANAGER_H_
#define SERVER_JOBS_JOB_MANAGER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "base/clock.h"
#include "server/host/host_registry.h"
#include "server/jobs/live_jobs.h"
#include "server/jobs/taken_trace.h"
#include "server/jobs/wakeup.h"
#include "server/metrics/metrics.h"
#include "server/store/job_store.h"
#include "server/store/trace_store.h"
#include "spec/admission.h"
#include "spec/job.h"

namespace traza {

struct JobManagerOptions {
  int max_queued_jobs = 1000;  // of each device
  // Of all trace files together; above it no job is accepted.
  int64_t max_store_bytes = int64_t{100} << 30;
  AdmissionLimits admission;
  // Brings the registry up to date before workloads are looked up or listed;
  // may do disk I/O. Null: it always is.
  std::function<void()> refresh_host;
};

struct CreateJobOptions {
  std::string job_id;      // empty: the daemon makes one
  std::string request_id;  // empty: not deduplicated
  bool validate_only = false;
};

// Accepts, finds, cancels and deletes jobs and tells watchers of their changes.
// The store is the truth; this class indexes what is live and wakes the
// device runners (server/jobs/device_runner.h).
//
// Thread-safe. Calls do disk I/O unless they say otherwise: not for gRPC's own
// threads. The collaborators must outlive this object.
class JobManager {
 public:
  JobManager(const JobManagerOptions& options, HostRegistry& host,
             JobStore& jobs, TraceStore& traces, Metrics& metrics,
             const Clock& clock);
  ~JobManager();

  // Errors: those of Admit; ALREADY_EXISTS (REQUEST_ID_REUSED, JOB_ID_TAKEN);
  // RESOURCE_EXHAUSTED (QUEUE_FULL, STORE_FULL); UNAVAILABLE (DRAINING). With
  // `validate_only` nothing is stored and the job has no id.
  absl::StatusOr<Job> Create(const JobRequest& request,
                             const CreateJobOptions& options);
  // JOB_NOT_FOUND. The snapshot of a live job has its progress.
  absl::StatusOr<Job> Get(const JobId& id);
  absl::StatusOr<Page<Job>> List(const ListFilter& filter, int page_size,
                                 const std::optional<PageEnd>& after);
  // A queued job is CANCELLED at once, a running one becomes CANCELLING and its
  // worker is asked to stop. Idempotent; JOB_ALREADY_DONE after another end.
  absl::StatusOr<Job> Cancel(const JobId& id);
  // Its trace stays. JOB_NOT_DONE, JOB_NOT_FOUND.
  absl::Status Delete(const JobId& id);

  // Ends a subscription when destroyed; a callback that is running then is
  // waited for, so its captures may die afterwards. Never destroy it from
  // inside its own callback.
  class Subscription {
   public:
    virtual ~Subscription() = default;
  };
  // Calls `callback` with the job as it is now, then after every change, in
  // order and one at a time, until it is final. Callbacks must be quick and
  // must not block; they run on a thread that made a change, under no lock of
  // the manager. A stored final job gets its one call before this returns.
  absl::StatusOr<std::unique_ptr<Subscription>> Subscribe(
      const JobId& id, std::function<void(const JobSnapshot&)> callback);

  // From now on Create answers UNAVAILABLE / DRAINING. No I/O.
  void Drain();

  // Puts the house in order after the last daemon on this data folder, however
  // it ended: kills the workers that carry `worker_mark`, empties tmp/, fails
  // what was running, removes trace files without a row, queues what was
  // queued. Call it once, after the description of the host is known and before
  // anything else.
  absl::Status Recover(const std::string& worker_mark);

  // For the device runners.

  // From now on `wakeup` is notified when the device has a new job and when its
  // running job is cancelled. One runner a device.
  void AttachRunner(const std::string& device, std::shared_ptr<Wakeup> wakeup);
  void DetachRunner(const std::string& device);
  // Whether a job waits for the device. No I/O.
  bool HasQueued(const std::string& device) const;
  // Moves the oldest queued job of the device to RUNNING, on a standby worker
  // if it may and there is one. Nothing when there is none or when draining.
  // Fails when the store does; the job stays queued then.
  absl::StatusOr<std::optional<Job>> TakeNext(const std::string& device,
                                              bool have_standby);
  bool CancelRequested(const JobId& id) const;  // no I/O
  // Tells watchers how far a running job is. No I/O: this is not stored.
  void ReportProgress(const JobId& id, const Progress& progress,
                      const std::map<Phase, absl::Duration>& phase_times);
  // Whether a worker could be started: part of the host's health. No I/O.
  void WorkerStarted(const absl::Status& status);
  // Records the end of a job, with its trace if there is one, in one
  // transaction, then tells everybody. Returns the job as it is then.
  absl::StatusOr<Job> Finish(const Job& job, const TakenTrace* trace_or_null);

 private:
  absl::StatusOr<Job> TryCreate(const JobRequest& request,
                                const CreateJobOptions& options);
  absl::Status CheckRoom(const Prediction& prediction) const;
  absl::StatusOr<Job> Store(const Job& job, const std::string& request_hash);
  // Compare-and-set in the store, then in memory. Also keeps the health of the
  // store up to date.
  absl::StatusOr<TransitionResult> Move(const Job& job,
                                        const TakenTrace* trace_or_null);
  absl::Status Noted(const absl::Status& status);
  Job WithProgress(Job stored) const;
  absl::Status Requeue();
  // Before anybody is told, so that who hears of an end can rely on the counts.
  void CountMove(const Job& job, const TakenTrace* trace_or_null);
  void CountStored();

  const JobManagerOptions options_;
  HostRegistry& host_;
  JobStore& jobs_;
  TraceStore& traces_;
  Metrics& metrics_;
  const Clock& clock_;
  LiveJobs live_;
  std::atomic<bool> draining_ = false;
};

}  // namespace traza

#endif  // SERVER_JOBS_JOB_MANAGER_H_
