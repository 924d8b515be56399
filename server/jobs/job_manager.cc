// SPDX-License-Identifier: Apache-2.0
#include "server/jobs/job_manager.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/error.h"
#include "base/id.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "server/jobs/job_state.h"
#include "server/store/job_json.h"

namespace traza {
namespace {

constexpr absl::Duration kDrainingRetry = absl::Seconds(10);
constexpr absl::Duration kQueueFullRetry = absl::Seconds(5);
// Each round of such a loop is lost to another thread that got something done.
constexpr int kMaxRounds = 100;

absl::Status CheckIds(const CreateJobOptions& options) {
  ErrorBuilder error(absl::StatusCode::kInvalidArgument,
                     Reason::kInvalidArgument);
  std::string message;
  if (!options.job_id.empty() && !IsResourceId(options.job_id)) {
    message = "A job id has the form [a-z0-9][a-z0-9-]{0,62}.";
    error.Violation("job_id", message);
  }
  if (options.request_id.size() > kMaxRequestIdBytes) {
    message = absl::StrCat("A request id has at most ", kMaxRequestIdBytes,
                           " bytes, not ", options.request_id.size(), ".");
    error.Violation("request_id", message);
  }
  return message.empty() ? absl::OkStatus() : error.Build(message);
}

absl::Status Draining() {
  return ErrorBuilder(absl::StatusCode::kUnavailable, Reason::kDraining)
      .RetryAfter(kDrainingRetry)
      .Build("The daemon is shutting down and accepts no jobs.");
}

absl::Status NoWorker(const HostRegistry& host) {
  const auto unhealthy = host.unhealthy();
  const auto why = unhealthy.find("worker");
  return ErrorBuilder(absl::StatusCode::kUnavailable, Reason::kWorkerNotStarted)
      .Build(absl::StrCat("The daemon knows no devices: ",
                          why == unhealthy.end()
                              ? "the worker has not described them yet."
                              : why->second));
}

absl::Status QueueFull(const std::string& device, int max_queued) {
  return ErrorBuilder(absl::StatusCode::kResourceExhausted, Reason::kQueueFull)
      .With("device", device)
      .With("max_queued_jobs", max_queued)
      .RetryAfter(kQueueFullRetry)
      .Build(absl::StrCat("The queue of ", device, " has ", max_queued,
                          " jobs, its limit."));
}

absl::Status AlreadyDone(const Job& job) {
  return ErrorBuilder(absl::StatusCode::kFailedPrecondition,
                      Reason::kJobAlreadyDone)
      .With("job", job.id.value)
      .With("state", JobStateName(job.state))
      .Build(absl::StrCat("Job ", job.id.value, " is ",
                          std::string(JobStateName(job.state)), "."));
}

bool IsOfTheStore(const absl::Status& status) {
  const std::optional<ErrorDetails> details = DetailsOf(status);
  if (!details.has_value()) return false;
  return details->reason == Reason::kStoreFull ||
         details->reason == Reason::kStoreUnwritable ||
         details->reason == Reason::kStoreDamaged;
}

}  // namespace

JobManager::JobManager(const JobManagerOptions& options, HostRegistry& host,
                       JobStore& jobs, TraceStore& traces, Metrics& metrics,
                       const Clock& clock)
    : options_(options),
      host_(host),
      jobs_(jobs),
      traces_(traces),
      metrics_(metrics),
      clock_(clock) {
  metrics_.SetStoreLimit(options_.max_store_bytes);
}

JobManager::~JobManager() = default;

absl::StatusOr<Job> JobManager::Create(const JobRequest& request,
                                       const CreateJobOptions& options) {
  absl::StatusOr<Job> job = TryCreate(request, options);
  if (!job.ok() && !options.validate_only) {
    const std::optional<ErrorDetails> details = DetailsOf(job.status());
    metrics_.JobRejected(details ? details->reason : Reason::kInternal);
  }
  return job;
}

absl::StatusOr<Job> JobManager::TryCreate(const JobRequest& request,
                                          const CreateJobOptions& options) {
  if (draining_) return Draining();
  RETURN_IF_ERROR(CheckIds(options));
  const absl::Time now = clock_.Now();
  std::string hash;
  if (!options.request_id.empty() && !options.validate_only) {
    // Before all limits: a retry gets its job even when the queue is full.
    hash = HashRequest(request, options.job_id);
    ASSIGN_OR_RETURN(std::optional<Job> earlier,
                     jobs_.FindRequest(options.request_id, hash, now));
    if (earlier.has_value()) return WithProgress(*std::move(earlier));
  }
  if (options_.refresh_host) options_.refresh_host();
  const auto description = host_.description();
  if (description->devices.empty()) return NoWorker(host_);
  ASSIGN_OR_RETURN(AdmittedJob admitted,
                   Admit(request, *description, options_.admission));
  RETURN_IF_ERROR(CheckRoom(admitted.prediction));
  Job job;
  job.spec = std::move(admitted.spec);
  job.prediction = admitted.prediction;
  job.adjustments = std::move(admitted.adjustments);
  job.request_id = options.request_id;
  job.create_time = now;
  if (options.validate_only) return job;
  job.id.value = options.job_id.empty() ? NewSortableId(now) : options.job_id;
  return Store(job, hash);
}

absl::Status JobManager::CheckRoom(const Prediction& prediction) const {
  const int64_t stored = jobs_.SumTraces()->bytes;
  // What is not predicted may exceed the limit by one trace.
  const int64_t predicted = prediction.trace_bytes.value_or(0);
  if (stored + predicted <= options_.max_store_bytes) return absl::OkStatus();
  return ErrorBuilder(absl::StatusCode::kResourceExhausted, Reason::kStoreFull)
      .With("stored_bytes", stored)
      .With("max_store_bytes", options_.max_store_bytes)
      .Build(absl::StrCat(
          "The traces have ", stored, " bytes",
          prediction.trace_bytes.has_value()
              ? absl::StrCat(" and this one is predicted to have ", predicted)
              : "",
          "; the limit is ", options_.max_store_bytes, "."));
}

absl::StatusOr<Job> JobManager::Store(const Job& job,
                                      const std::string& request_hash) {
  const std::string& device = job.spec.device;
  const LiveJobs::Place place =
      live_.Reserve(job.id, device, options_.max_queued_jobs);
  if (place.full) return QueueFull(device, options_.max_queued_jobs);
  absl::StatusOr<JobStore::Inserted> inserted = jobs_.Insert(job, request_hash);
  (void)Noted(inserted.status());
  if (!inserted.ok() || !inserted->created) {
    live_.Forget(job.id, device, place);
    RETURN_IF_ERROR(inserted.status());
    return WithProgress(std::move(inserted->job));
  }
  metrics_.JobSubmitted(job.spec.workload);
  live_.Publish(job);
  metrics_.SetQueuedJobs(live_.queued());
  return job;
}

absl::StatusOr<Job> JobManager::Get(const JobId& id) {
  if (const JobSnapshot live = live_.Find(id); live != nullptr) return *live;
  return jobs_.Get(id);
}

absl::StatusOr<Page<Job>> JobManager::List(
    const ListFilter& filter, int page_size,
    const std::optional<PageEnd>& after) {
  ASSIGN_OR_RETURN(Page<Job> page, jobs_.List(filter, page_size, after));
  for (Job& job : page.items) {
    if (!IsFinal(job.state)) job = WithProgress(std::move(job));
  }
  return page;
}

// Only memory knows how far a job is.
Job JobManager::WithProgress(Job stored) const {
  const JobSnapshot live = live_.Find(stored.id);
  if (live != nullptr && live->state == stored.state) return *live;
  return stored;
}

absl::StatusOr<Job> JobManager::Cancel(const JobId& id) {
  for (int round = 0; round < kMaxRounds; ++round) {
    ASSIGN_OR_RETURN(Job job, jobs_.Get(id));
    if (job.state == JobState::kCancelling ||
        job.state == JobState::kCancelled) {
      return WithProgress(std::move(job));
    }
    if (IsFinal(job.state)) return AlreadyDone(job);
    if (job.state == JobState::kPending) {
      job.state = JobState::kCancelled;
      job.end_time = clock_.Now();
      JobError error;
      error.reason = Reason::kCancelled;
      error.message = "The job was cancelled before it started.";
      job.error = std::move(error);
    } else {
      job.state = JobState::kCancelling;
    }
    ASSIGN_OR_RETURN(TransitionResult result, Move(job, nullptr));
    if (result.moved) return WithProgress(std::move(result.job));
  }
  return absl::InternalError("A job changes faster than it can be cancelled");
}

absl::StatusOr<TransitionResult> JobManager::Move(
    const Job& job, const TakenTrace* trace_or_null) {
  // What a running job may become depends on what it is: PENDING goes to
  // CANCELLED by another road than RUNNING does.
  std::vector<JobState> from = StatesBefore(job.state);
  if (IsFinal(job.state)) {
    std::erase_if(from, [&](JobState state) {
      return (state == JobState::kPending) == job.start_time.has_value();
    });
  }
  absl::StatusOr<TransitionResult> result =
      trace_or_null == nullptr
          ? jobs_.Transition(job, from)
          : jobs_.Finish(job, from, trace_or_null->row, trace_or_null->answer);
  RETURN_IF_ERROR(Noted(result.status()));
  if (result->moved) CountMove(job, trace_or_null);
  live_.Apply(result->job);
  metrics_.SetQueuedJobs(live_.queued());
  return result;
}

void JobManager::CountMove(const Job& job, const TakenTrace* trace_or_null) {
  if (job.state == JobState::kRunning) {
    metrics_.JobStarted(job);
    metrics_.SetRunningJobs(job.spec.device, 1);
  }
  if (!IsFinal(job.state)) return;
  metrics_.JobFinished(job);
  if (job.start_time.has_value()) metrics_.SetRunningJobs(job.spec.device, 0);
  if (trace_or_null == nullptr) return;
  metrics_.TraceCommitted(job.spec.workload, trace_or_null->counts);
  CountStored();
}

absl::Status JobManager::Delete(const JobId& id) {
  return Noted(jobs_.DeleteJob(id));
}

absl::Status JobManager::Noted(const absl::Status& status) {
  if (status.ok() || IsOfTheStore(status)) host_.SetHealth("store", status);
  return status;
}

void JobManager::CountStored() {
  const JobStore::TraceTotals totals = *jobs_.SumTraces();
  metrics_.StoreUsage(totals.count, totals.bytes);
}

void JobManager::Drain() {
  draining_ = true;
  host_.SetHealth("draining", Draining());
}

}  // namespace traza
