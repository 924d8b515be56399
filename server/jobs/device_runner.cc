// SPDX-License-Identifier: Apache-2.0
#include "server/jobs/device_runner.h"

#include <poll.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/error.h"
#include "base/log.h"
#include "base/status_macros.h"

namespace traza {
namespace {

// A deadline for poll(2): at most an hour, rounded up so that it has come.
int PollTimeout(absl::Duration left) {
  left = std::clamp(left, absl::ZeroDuration(), absl::Hours(1));
  return static_cast<int>(
      absl::ToInt64Milliseconds(absl::Ceil(left, absl::Milliseconds(1))));
}

JobError ErrorFrom(const absl::Status& status, std::optional<Phase> phase) {
  const std::optional<ErrorDetails> details = DetailsOf(status);
  return {details ? details->reason : Reason::kInternal,
          std::string(status.message()), phase, ""};
}

}  // namespace

absl::StatusOr<std::unique_ptr<DeviceRunner>> DeviceRunner::Create(
    const DeviceRunnerOptions& options, const DeviceRunnerRooms& rooms) {
  ASSIGN_OR_RETURN(std::shared_ptr<Wakeup> wakeup, Wakeup::Create());
  return std::unique_ptr<DeviceRunner>(
      new DeviceRunner(options, rooms, std::move(wakeup)));
}

DeviceRunner::DeviceRunner(const DeviceRunnerOptions& options,
                           const DeviceRunnerRooms& rooms,
                           std::shared_ptr<Wakeup> wakeup)
    : options_(options),
      rooms_(rooms),
      wakeup_(std::move(wakeup)),
      pool_({.device = options.device, .workers = options.standby_workers},
            rooms.launcher, rooms.metrics, rooms.clock),
      thread_([this] { RunLoop(); }) {}

DeviceRunner::~DeviceRunner() {
  if (!draining()) Drain(absl::ZeroDuration());
  thread_.join();
}

void DeviceRunner::Drain(absl::Duration patience) {
  {
    const MutexLock lock(mu_);
    draining_ = true;
    stop_time_ = std::min(stop_time_, rooms_.clock.Monotonic() + patience);
  }
  wakeup_->Notify();
}

bool DeviceRunner::draining() const {
  const MutexLock lock(mu_);
  return draining_;
}

absl::Duration DeviceRunner::stop_time() const {
  const MutexLock lock(mu_);
  return stop_time_;
}

void DeviceRunner::RunLoop() {
  rooms_.manager.AttachRunner(options_.device, wakeup_);
  while (!draining()) {
    if (!RunNext()) AwaitWork();
  }
  ReleaseLease();
  rooms_.manager.DetachRunner(options_.device);
}

bool DeviceRunner::RunNext() {
  const bool wanted = rooms_.manager.HasQueued(options_.device);
  const bool leased = wanted && TryLease(DeviceLease::IfTaken::kQueueUp);
  NoteWaiting(wanted && !leased);
  if (!leased) return false;
  absl::StatusOr<std::optional<Job>> job =
      rooms_.manager.TakeNext(options_.device, !pool_.empty());
  if (!job.ok()) {
    LogError("The next job of ", options_.device,
             " cannot be started: ", job.status().message());
    ReleaseLease();
    AwaitRetry(store_failures_++);
    return true;
  }
  store_failures_ = 0;
  if (!job->has_value()) return false;
  RunJob(**std::move(job));
  // Also when more jobs wait: another daemon may be next.
  ReleaseLease();
  return true;
}

// Standby workers are started here, while no job runs: loading one would
// disturb a measurement, of ours or of another daemon.
absl::Duration DeviceRunner::MaintainPool() {
  const absl::Duration retry = rooms_.clock.Monotonic() + options_.lease_retry;
  if (waiting_for_lease_) {
    pool_.Maintain(/*may_start=*/false);
    return retry;
  }
  const bool leased = TryLease(DeviceLease::IfTaken::kGiveUp);
  pool_.Maintain(/*may_start=*/leased);
  if (!pool_.loading()) ReleaseLease();
  const absl::Duration deadline = pool_.NextDeadline();
  return leased ? deadline : std::max(deadline, retry);
}

bool DeviceRunner::TryLease(DeviceLease::IfTaken if_taken) {
  if (rooms_.lease_or_null == nullptr) return true;
  const absl::StatusOr<bool> leased =
      rooms_.lease_or_null->TryAcquire(if_taken);
  if (leased.ok()) return *leased;
  // Better a measurement that somebody may disturb than none.
  if (lease_fault_ != leased.status().message()) {
    lease_fault_ = std::string(leased.status().message());
    LogWarning("Jobs of ", options_.device,
               " run without a lease: ", lease_fault_);
  }
  return true;
}

void DeviceRunner::ReleaseLease() {
  if (rooms_.lease_or_null != nullptr) rooms_.lease_or_null->Release();
}

void DeviceRunner::NoteWaiting(bool waiting) {
  if (waiting && !waiting_for_lease_) {
    const std::optional<pid_t> holder = rooms_.lease_or_null->Holder();
    LogInfo("Jobs of ", options_.device, " wait: ",
            holder ? absl::StrCat("process ", *holder) : "another process",
            " has its lease.");
  }
  waiting_for_lease_ = waiting;
}

void DeviceRunner::AwaitWork() {
  const absl::Duration deadline = MaintainPool();
  std::vector<pollfd> fds = {{wakeup_->fd(), POLLIN, 0}};
  pool_.AddTo(&fds);
  ::poll(fds.data(), fds.size(),
         PollTimeout(deadline - rooms_.clock.Monotonic()));
  if (fds[0].revents != 0) wakeup_->Clear();
}

void DeviceRunner::RunJob(Job job) {
  Outcome outcome = Supervise(&job);
  rooms_.metrics.WorkerExit(outcome.exit);
  job.error = outcome.error;
  job.phase_times = outcome.phase_times;
  std::optional<TakenTrace> taken = TakeTrace(&job, outcome);
  const absl::Duration phase_time =
      rooms_.clock.Monotonic() - outcome.last_phase_started;
  job.phase_times[outcome.progress.phase] = phase_time;
  job.state = FinalState(job.error);
  job.end_time = rooms_.clock.Now();
  if (job.error.has_value()) {
    LogInfo("Job ", job.id.value, " is ", JobStateName(job.state), ": ",
            TextOf(job.error->reason).name, ": ", job.error->message);
  }
  Record(std::move(job), std::move(taken));
  // Whoever waits for the job has it; the next one waits until the device is
  // free of this worker.
  outcome.dying.reset();
}

Outcome DeviceRunner::Supervise(Job* job) {
  const absl::Duration started = rooms_.clock.Monotonic();
  absl::StatusOr<WorkerChannel> worker = WorkerFor(job);
  rooms_.manager.WorkerStarted(worker.status());
  if (!worker.ok()) {
    Outcome outcome;
    outcome.error = ErrorFrom(worker.status(), Phase::kSetup);
    outcome.exit = WorkerExitReason::kError;
    outcome.last_phase_started = started;
    return outcome;
  }
  const JobId id = job->id;
  SupervisorHooks hooks = {
      .cancelled = [this, id] { return rooms_.manager.CancelRequested(id); },
      .stop_time = [this] { return stop_time(); },
      .progressed =
          [this, id](const Progress& progress,
                     const std::map<Phase, absl::Duration>& times) {
            rooms_.manager.ReportProgress(id, progress, times);
          }};
  WorkerSupervisor supervisor(options_.limits, std::move(hooks), *wakeup_,
                              rooms_.clock);
  return supervisor.Run(*std::move(worker), *job,
                        rooms_.intake.PathFor(id).native(), options_.roofs);
}

absl::StatusOr<WorkerChannel> DeviceRunner::WorkerFor(Job* job) {
  std::optional<WorkerChannel> standby;
  if (job->standby.value_or(false)) standby = pool_.Take();
  pool_.DropLoading();
  job->standby = standby.has_value();
  if (standby.has_value()) return *std::move(standby);
  ASSIGN_OR_RETURN(LaunchedWorker worker,
                   rooms_.launcher.Launch({.device = options_.device}));
  return WorkerChannel(std::move(worker), rooms_.clock);
}

absl::StatusOr<TakenTrace> DeviceRunner::ReadAndCommit(const Job& job,
                                                       const Outcome& outcome) {
  if (!outcome.result.has_value()) return absl::NotFoundError("No result");
  ASSIGN_OR_RETURN(TraceIntake::ReadTrace read,
                   rooms_.intake.Read(job, *outcome.result));
  return rooms_.intake.Commit(job, std::move(read), rooms_.clock.Now());
}

std::optional<TakenTrace> DeviceRunner::TakeTrace(Job* job, Outcome& outcome) {
  absl::StatusOr<TakenTrace> taken = ReadAndCommit(*job, outcome);
  if (taken.ok()) {
    job->trace = taken->row.id;
    return *std::move(taken);
  }
  rooms_.intake.RemoveTemporary(job->id);
  if (!job->error.has_value()) {
    job->error = ErrorFrom(taken.status(), Phase::kStore);
  } else if (outcome.result.has_value()) {
    LogWarning("The partial trace of job ", job->id.value,
               " could not be kept: ", taken.status().message());
  }
  return std::nullopt;
}

// The end of a job has to get into the store: until it is there, nothing else
// runs on the device. Only a daemon that must stop gives up; the next one finds
// the job RUNNING and fails it.
void DeviceRunner::Record(Job job, std::optional<TakenTrace> taken) {
  for (int failures = 0;; ++failures) {
    const absl::StatusOr<Job> recorded =
        rooms_.manager.Finish(job, taken ? &*taken : nullptr);
    if (recorded.ok() && recorded->state == job.state) return;
    if (taken) {
      rooms_.intake.Undo(*taken);
      taken.reset();
      job.trace.reset();
      if (!job.error.has_value() && !recorded.ok()) {
        job.error = ErrorFrom(recorded.status(), Phase::kStore);
        job.state = FinalState(job.error);
      }
    }
    if (recorded.ok() || absl::IsNotFound(recorded.status())) return;
    LogError("The end of job ", job.id.value,
             " cannot be stored: ", recorded.status().message());
    if (failures == 0) continue;  // without the trace there may be room
    if (rooms_.clock.Monotonic() >= stop_time()) return;
    AwaitRetry(failures - 1);
  }
}

absl::Duration DeviceRunner::RetryDelay(int failures) const {
  absl::Duration delay = options_.first_retry;
  for (int i = 0; i < failures && delay < options_.last_retry; ++i) delay *= 2;
  return std::min(delay, options_.last_retry);
}

void DeviceRunner::AwaitRetry(int failures) {
  const absl::Duration until = rooms_.clock.Monotonic() + RetryDelay(failures);
  while (!draining() && rooms_.clock.Monotonic() < until) {
    pollfd entry{wakeup_->fd(), POLLIN, 0};
    ::poll(&entry, 1, PollTimeout(until - rooms_.clock.Monotonic()));
    if (entry.revents != 0) wakeup_->Clear();
  }
}

}  // namespace traza
