// SPDX-License-Identifier: Apache-2.0
#include "server/jobs/worker_supervisor.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <optional>
#include <utility>
#include <variant>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "server/jobs/phase_track.h"
#include "server/jobs/worker_end.h"

namespace traza {

// One worker and one job, from the first message to the last.
class WorkerSupervisor::Watch {
 public:
  Watch(const WorkerSupervisor& supervisor, WorkerChannel worker,
        const Job& job, const std::string& out, const DeviceRoofs& roofs)
      : limits_(supervisor.limits_),
        hooks_(supervisor.hooks_),
        wakeup_(supervisor.wakeup_),
        clock_(supervisor.clock_),
        worker_(std::move(worker)),
        job_(job),
        out_(out),
        roofs_(roofs),
        started_(clock_.Monotonic()),
        phases_(started_) {}

  Outcome Run() {
    Heard();
    while (!over()) {
      LookAtRequests();
      LookAtDeadlines();
      if (over()) break;
      Wait();
      LookAtProgress();
    }
    return Conclude();
  }

 private:
  absl::Duration now() const { return clock_.Monotonic(); }
  bool over() const { return exited_.has_value() || result_.has_value(); }

  void Wait();
  void Heard();
  void Hear(const WorkerMessage& message);
  void LookAtRequests();
  void LookAtDeadlines();
  void LookAtProgress();
  void SendJob();
  absl::Duration NextDeadline() const;
  std::optional<absl::Duration> PhaseLimit() const;
  absl::Duration JobDeadline() const;
  // The first reason counts; later ones are its consequences.
  void Note(Reason reason, std::string message, WorkerExitReason exit);
  void Stop(Reason reason, std::string message, WorkerExitReason exit);
  void Kill();
  Outcome Conclude();

  const SupervisorLimits& limits_;
  const SupervisorHooks& hooks_;
  Wakeup& wakeup_;
  const Clock& clock_;
  WorkerChannel worker_;
  const Job& job_;
  const std::string& out_;
  const DeviceRoofs& roofs_;

  const absl::Duration started_;
  PhaseTrack phases_;
  bool sent_ = false;
  bool stopping_ = false;
  absl::Duration kill_at_ = absl::InfiniteDuration();
  absl::Duration progress_at_ = absl::InfiniteDuration();
  absl::Duration progressed_ = -absl::InfiniteDuration();
  std::optional<WorkerResult> result_;
  std::optional<JobError> error_;
  WorkerExitReason exit_reason_ = WorkerExitReason::kOk;
  std::optional<ExitStatus> exited_;
};

void WorkerSupervisor::Watch::Wait() {
  // poll(2) ignores a descriptor of -1: a stream that has ended.
  std::array<pollfd, 4> fds = {{{wakeup_.fd(), POLLIN, 0},
                                {worker_.process().exit_fd(), POLLIN, 0},
                                {worker_.socket_fd(), POLLIN, 0},
                                {worker_.stderr_fd(), POLLIN, 0}}};
  const absl::Duration left =
      std::clamp(NextDeadline() - now(), absl::ZeroDuration(), absl::Hours(1));
  // Rounded up, so that the last round does not spin.
  const absl::Duration rounded = absl::Ceil(left, absl::Milliseconds(1));
  ::poll(fds.data(), fds.size(),
         static_cast<int>(absl::ToInt64Milliseconds(rounded)));
  if (fds[0].revents != 0) wakeup_.Clear();
  if (fds[3].revents != 0) worker_.ReadStderr();
  if (fds[2].revents != 0) Heard();
  if (fds[1].revents != 0) {
    // It said all that it will ever say; what it forked may hold the streams
    // open, so their ends are not waited for.
    Heard();
    worker_.ReadStderr();
    exited_ = worker_.process().WaitFor(absl::ZeroDuration());
  }
}

void WorkerSupervisor::Watch::Heard() {
  const absl::Status read = worker_.Read();
  while (const std::optional<WorkerMessage> message = worker_.Next()) {
    Hear(*message);
  }
  if (result_.has_value()) return;
  if (!read.ok()) {
    Note(Reason::kWorkerProtocol, std::string(read.message()),
         WorkerExitReason::kError);
    Kill();
    return;
  }
  if (worker_.hello() && !sent_) SendJob();
  if (worker_.closed()) kill_at_ = std::min(kill_at_, now() + limits_.exit);
}

void WorkerSupervisor::Watch::SendJob() {
  sent_ = true;
  const absl::Status sent = worker_.Start({.spec = job_.spec,
                                           .out = out_,
                                           .job_id = job_.id.value,
                                           .roofs = roofs_});
  if (sent.ok()) return;
  Note(Reason::kWorkerCrashed,
       absl::StrCat("The worker did not take the job: ",
                    std::string(sent.message())),
       WorkerExitReason::kError);
  Kill();
}

void WorkerSupervisor::Watch::Hear(const WorkerMessage& message) {
  // After its last word nothing counts.
  if (over()) return;
  if (const auto* phase = std::get_if<PhaseStarted>(&message)) {
    if (!phases_.Enter(phase->phase, now())) {
      Note(Reason::kWorkerProtocol,
           absl::StrCat("The worker went back to the phase ",
                        std::string(PhaseName(phase->phase)), "."),
           WorkerExitReason::kError);
      Kill();
      return;
    }
    progress_at_ = now();
  } else if (const auto* steps = std::get_if<StepsDone>(&message)) {
    if (phases_.Report(*steps)) {
      progress_at_ =
          std::min(progress_at_, progressed_ + limits_.progress_period);
    }
  } else if (const auto* result = std::get_if<WorkerResult>(&message)) {
    // Its file is complete. Killed, it cannot change the file any more.
    result_ = *result;
    worker_.process().Signal(SIGKILL);
  } else if (const auto* error = std::get_if<WorkerError>(&message)) {
    // Its own words; a reason of ours came before them.
    if (!error_.has_value()) {
      const WorkerEnd end = EndOf(*error);
      Note(end.reason, end.message, end.exit);
      if (error->phase.has_value()) error_->phase = error->phase;
    }
    kill_at_ = std::min(kill_at_, now() + limits_.exit);
  }
}

void WorkerSupervisor::Watch::LookAtRequests() {
  if (stopping_) return;
  if (hooks_.cancelled()) {
    Stop(Reason::kCancelled, "The job was cancelled on request.",
         WorkerExitReason::kCancelled);
  } else if (now() >= hooks_.stop_time()) {
    Stop(Reason::kDraining, "The daemon was stopped while the job ran.",
         WorkerExitReason::kCancelled);
  }
}

std::optional<absl::Duration> WorkerSupervisor::Watch::PhaseLimit() const {
  switch (phases_.progress().phase) {
    case Phase::kSetup:
      return limits_.setup;
    case Phase::kCompiling:
      return limits_.compiling;
    case Phase::kFlush:
      return limits_.flush;
    case Phase::kStore:
      return limits_.store;
    default:
      return std::nullopt;
  }
}

// Compiling takes as long as it takes, once: what the job is allowed is for the
// job itself. Infinite while it is compiled.
absl::Duration WorkerSupervisor::Watch::JobDeadline() const {
  if (phases_.progress().phase == Phase::kCompiling) {
    return absl::InfiniteDuration();
  }
  const auto compiling = phases_.times().find(Phase::kCompiling);
  return started_ + job_.spec.timeout +
         (compiling == phases_.times().end() ? absl::ZeroDuration()
                                             : compiling->second);
}

void WorkerSupervisor::Watch::LookAtDeadlines() {
  const absl::Duration time = now();
  if (time >= kill_at_) {
    Note(Reason::kWorkerCrashed,
         "The worker closed its socket before the job was done.",
         WorkerExitReason::kError);
    return Kill();
  }
  if (stopping_) return;
  const Progress& progress = phases_.progress();
  std::string where = absl::StrCat(std::string(PhaseName(progress.phase)));
  if (progress.done > 0) absl::StrAppend(&where, ", step ", progress.done);
  if (progress.total) absl::StrAppend(&where, " of ", *progress.total);
  const std::optional<absl::Duration> limit = PhaseLimit();
  if (time >= JobDeadline()) {
    Stop(Reason::kPhaseTimeout,
         absl::StrCat("The job did not end within its timeout of ",
                      absl::FormatDuration(job_.spec.timeout), "; it was in ",
                      where, "."),
         WorkerExitReason::kTimeout);
  } else if (limit.has_value() && time >= phases_.entered() + *limit) {
    Stop(Reason::kPhaseTimeout,
         absl::StrCat("The phase ", where, " did not end within ",
                      absl::FormatDuration(*limit), "."),
         WorkerExitReason::kTimeout);
  } else if (worker_.hello() &&
             time >= worker_.last_message() + limits_.silence) {
    Stop(Reason::kPhaseTimeout,
         absl::StrCat("The worker has said nothing for ",
                      absl::FormatDuration(limits_.silence), "; it was in ",
                      where, "."),
         WorkerExitReason::kTimeout);
  }
}

absl::Duration WorkerSupervisor::Watch::NextDeadline() const {
  absl::Duration next = std::min(kill_at_, progress_at_);
  if (stopping_) return next;
  next = std::min({next, JobDeadline(), hooks_.stop_time()});
  if (const auto limit = PhaseLimit(); limit.has_value()) {
    next = std::min(next, phases_.entered() + *limit);
  }
  if (worker_.hello()) {
    next = std::min(next, worker_.last_message() + limits_.silence);
  }
  return next;
}

void WorkerSupervisor::Watch::LookAtProgress() {
  if (now() < progress_at_) return;
  progress_at_ = absl::InfiniteDuration();
  progressed_ = now();
  hooks_.progressed(phases_.progress(), phases_.times());
}

void WorkerSupervisor::Watch::Note(Reason reason, std::string message,
                                   WorkerExitReason exit) {
  if (error_.has_value()) return;
  exit_reason_ = exit;
  error_ = JobError{reason, std::move(message), phases_.progress().phase, ""};
}

void WorkerSupervisor::Watch::Stop(Reason reason, std::string message,
                                   WorkerExitReason exit) {
  Note(reason, std::move(message), exit);
  stopping_ = true;
  kill_at_ = std::min(kill_at_, now() + limits_.grace);
  worker_.process().Signal(SIGTERM);
}

void WorkerSupervisor::Watch::Kill() {
  exited_ = worker_.process().Kill();
  worker_.ReadStderr();
}

Outcome WorkerSupervisor::Watch::Conclude() {
  if (!result_.has_value() && !error_.has_value()) {
    const WorkerEnd end = EndOf(*exited_, limits_.max_trace_bytes);
    Note(end.reason, end.message, end.exit);
  }
  if (result_.has_value() && !result_->partial) {
    // It was asked to stop after it had done everything.
    error_.reset();
    exit_reason_ = WorkerExitReason::kOk;
  }
  if (result_.has_value() && result_->partial && !error_.has_value()) {
    Note(Reason::kWorkerCrashed,
         "Somebody other than the daemon stopped the worker.",
         WorkerExitReason::kSignal);
  }
  worker_.ReadStderr();
  if (error_.has_value()) error_->last_words = worker_.LastWords();
  Outcome outcome;
  outcome.result = result_;
  outcome.error = error_;
  outcome.exit = exit_reason_;
  outcome.progress = phases_.progress();
  outcome.last_phase_started = phases_.entered();
  outcome.phase_times = phases_.times();
  if (!exited_.has_value()) outcome.dying = worker_.TakeProcess();
  return outcome;
}

WorkerSupervisor::WorkerSupervisor(const SupervisorLimits& limits,
                                   SupervisorHooks hooks, Wakeup& wakeup,
                                   const Clock& clock)
    : limits_(limits),
      hooks_(std::move(hooks)),
      wakeup_(wakeup),
      clock_(clock) {}

Outcome WorkerSupervisor::Run(WorkerChannel worker, const Job& job,
                              const std::string& out,
                              const DeviceRoofs& roofs) {
  return Watch(*this, std::move(worker), job, out, roofs).Run();
}

}  // namespace traza
