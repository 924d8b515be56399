// SPDX-License-Identifier: Apache-2.0
// What JobManager does for device runners and for streams.
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/error.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "base/subprocess.h"
#include "server/jobs/job_manager.h"

namespace traza {
namespace {

constexpr int kMaxRounds = 100;

class LiveSubscription final : public JobManager::Subscription {
 public:
  LiveSubscription(LiveJobs& live, std::shared_ptr<LiveJobs::Watcher> watcher)
      : live_(live), watcher_(std::move(watcher)) {}
  ~LiveSubscription() override { live_.Unwatch(watcher_); }

 private:
  LiveJobs& live_;
  const std::shared_ptr<LiveJobs::Watcher> watcher_;
};

// Why a job that was accepted by an earlier daemon has no runner now: it would
// wait for ever.
std::optional<JobError> CannotRun(const Job& job,
                                  const WorkerDescription& host) {
  const DeviceDescription* device = host.FindDevice(job.spec.device);
  JobError error;
  if (device == nullptr) {
    error.reason = Reason::kDeviceNotFound;
    error.message =
        absl::StrCat("The host has no device ", job.spec.device, " any more.");
    return error;
  }
  if (!device->unavailable.has_value()) return std::nullopt;
  error.reason = Reason::kDeviceUnavailable;
  error.message = *device->unavailable;
  return error;
}

// A final job changes no more.
class EndedSubscription final : public JobManager::Subscription {};

}  // namespace

absl::StatusOr<std::unique_ptr<JobManager::Subscription>> JobManager::Subscribe(
    const JobId& id, std::function<void(const JobSnapshot&)> callback) {
  // A job that is neither live nor final was created or has ended between the
  // two looks.
  for (int round = 0; round < kMaxRounds; ++round) {
    if (auto watcher = live_.Watch(id, callback); watcher != nullptr) {
      return std::make_unique<LiveSubscription>(live_, std::move(watcher));
    }
    ASSIGN_OR_RETURN(Job job, jobs_.Get(id));
    if (IsFinal(job.state)) {
      callback(std::make_shared<const Job>(std::move(job)));
      return std::make_unique<EndedSubscription>();
    }
  }
  return absl::UnavailableError("The job cannot be watched yet; try again");
}

absl::Status JobManager::Recover(const std::string& worker_mark) {
  const int killed = KillProcessesWithEnvironment(worker_mark);
  if (killed > 0) {
    LogWarning("Killed ", killed, " worker processes of the last daemon.");
  }
  RETURN_IF_ERROR(traces_.EmptyTemporary());
  ASSIGN_OR_RETURN(const std::vector<Job> failed,
                   jobs_.FailInterrupted(clock_.Now()));
  for (const Job& job : failed) {
    LogWarning("Job ", job.id.value, " ran when the last daemon ended; it is ",
               JobStateName(job.state), " now.");
    metrics_.JobFinished(job);
  }
  ASSIGN_OR_RETURN(const int removed,
                   traces_.RemoveUnknown([this](const TraceId& id) {
                     // On any doubt the file stays.
                     return !absl::IsNotFound(jobs_.GetTrace(id).status());
                   }));
  if (removed > 0) LogWarning("Removed ", removed, " traces without a row.");
  CountStored();
  return Requeue();
}

absl::Status JobManager::Requeue() {
  ASSIGN_OR_RETURN(std::vector<Job> pending, jobs_.Pending());
  const auto description = host_.description();
  for (Job& job : pending) {
    live_.Publish(job);
    std::optional<JobError> error = CannotRun(job, *description);
    if (!error.has_value()) continue;
    job.state = JobState::kFailed;
    job.end_time = clock_.Now();
    job.error = std::move(error);
    RETURN_IF_ERROR(Move(job, nullptr).status());
  }
  metrics_.SetQueuedJobs(live_.queued());
  return absl::OkStatus();
}

void JobManager::AttachRunner(const std::string& device,
                              std::shared_ptr<Wakeup> wakeup) {
  live_.SetWakeup(device, std::move(wakeup));
}

void JobManager::DetachRunner(const std::string& device) {
  live_.SetWakeup(device, nullptr);
}

bool JobManager::HasQueued(const std::string& device) const {
  return live_.HasQueued(device);
}

absl::StatusOr<std::optional<Job>> JobManager::TakeNext(
    const std::string& device, bool have_standby) {
  while (!draining_) {
    const std::optional<Job> queued = live_.Pop(device);
    if (!queued.has_value()) break;
    Job job = *queued;
    job.state = JobState::kRunning;
    job.start_time = clock_.Now();
    // A cold job is about what the first steps cost: a warm worker has no
    // first steps.
    job.standby = have_standby && job.spec.cold_steps == 0;
    absl::StatusOr<TransitionResult> result = Move(job, nullptr);
    if (!result.ok()) {
      live_.PushFront(*queued);
      return result.status();
    }
    if (!result->moved) continue;
    return std::optional<Job>(std::move(job));
  }
  return std::optional<Job>();
}

bool JobManager::CancelRequested(const JobId& id) const {
  const JobSnapshot live = live_.Find(id);
  return live != nullptr && live->state == JobState::kCancelling;
}

void JobManager::ReportProgress(
    const JobId& id, const Progress& progress,
    const std::map<Phase, absl::Duration>& phase_times) {
  live_.Report(id, progress, phase_times);
}

void JobManager::WorkerStarted(const absl::Status& status) {
  host_.SetHealth("worker", status);
}

absl::StatusOr<Job> JobManager::Finish(const Job& job,
                                       const TakenTrace* trace_or_null) {
  ASSIGN_OR_RETURN(TransitionResult result, Move(job, trace_or_null));
  return std::move(result.job);
}

}  // namespace traza
