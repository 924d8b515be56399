// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_JOBS_JOB_MANAGER_H_
#define SERVER_JOBS_JOB_MANAGER_H_

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
#include "server/metrics/metrics.h"
#include "server/store/job_store.h"
#include "server/store/trace_store.h"
#include "spec/admission.h"
#include "spec/job.h"

namespace traza {

struct JobManagerOptions {
  int max_queued_jobs = 1000;  // of each device
  AdmissionLimits admission;
};

struct CreateJobOptions {
  std::string job_id;      // empty: the daemon makes one
  std::string request_id;  // empty: not deduplicated
  bool validate_only = false;
};

// A job after a change. Shared with streams, which may outlive the change.
using JobSnapshot = std::shared_ptr<const Job>;

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
  absl::Status Delete(const JobId& id);  // JOB_NOT_DONE, JOB_NOT_FOUND

  // Ends a subscription when destroyed; a callback that is running then is
  // waited for, so its captures may die afterwards. Never destroy it from
  // inside its own callback.
  class Subscription {
   public:
    virtual ~Subscription() = default;
  };
  // Calls `callback` with the job as it is now, then after every change, in
  // order, until it is final. Callbacks must be quick and must not block; they
  // run on the thread that made the change, under no lock of the manager.
  absl::StatusOr<std::unique_ptr<Subscription>> Subscribe(
      const JobId& id, std::function<void(const JobSnapshot&)> callback);

  // From now on Create answers UNAVAILABLE / DRAINING. No I/O.
  void Drain();

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace traza

#endif  // SERVER_JOBS_JOB_MANAGER_H_
