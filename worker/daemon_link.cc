// SPDX-License-Identifier: Apache-2.0
#include "worker/daemon_link.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "absl/time/clock.h"

#include "base/version.h"
#include "spec/worker_description.h"

namespace traza {
namespace {

// The exit code when the daemon is gone. Nobody reads it; a person may.
constexpr int kDaemonGone = 3;

}  // namespace

DaemonLink::DaemonLink(UniqueFd socket) : socket_(std::move(socket)) {
  fcntl(socket_.get(), F_SETFD, FD_CLOEXEC);
  Send(Hello{.protocol = kWorkerProtocol, .version = kVersion});
  thread_ =
      std::jthread([this](const std::stop_token& stop) { RunLoop(stop); });
}

DaemonLink::~DaemonLink() = default;

void DaemonLink::Send(const WorkerMessage& message) {
  const MutexLock lock(mu_);
  SendLocked(message);
}

void DaemonLink::SendLocked(const WorkerMessage& message) {
  const std::string line = Encode(message);
  size_t sent = 0;
  while (sent < line.size()) {
    const ssize_t bytes = send(socket_.get(), line.data() + sent,
                               line.size() - sent, MSG_NOSIGNAL);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) _exit(kDaemonGone);
    sent += static_cast<size_t>(bytes);
  }
}

absl::StatusOr<StartJob> DaemonLink::WaitForJob(const std::atomic<bool>& stop) {
  const MutexLock lock(mu_);
  while (!job_) {
    if (stop.load(std::memory_order_relaxed)) {
      return absl::CancelledError("Stopped before there was a job.");
    }
    // A signal handler cannot signal a condition: look again now and then.
    changed_.WaitFor(mu_, kProgressPeriod);
  }
  return *job_;
}

void DaemonLink::OnPhase(Phase phase, std::optional<int64_t> total) {
  const MutexLock lock(mu_);
  SendLocked(PhaseStarted{.phase = phase});
  phase_ = phase;
  total_ = total;
  reported_ = 0;
  set_done(0);
}

void DaemonLink::ReportProgress() {
  const MutexLock lock(mu_);
  const int64_t steps = done();
  if (!phase_ || steps == reported_) return;
  SendLocked(StepsDone{.phase = *phase_, .done = steps, .total = total_});
  reported_ = steps;
}

void DaemonLink::Listen() {
  char bytes[4096];
  const ssize_t read = recv(socket_.get(), bytes, sizeof bytes, 0);
  if (read < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (read <= 0) _exit(kDaemonGone);
  const absl::Status added =
      lines_.Add(absl::string_view(bytes, static_cast<size_t>(read)));
  // The daemon has one thing to say; what follows it is not looked at.
  while (const std::optional<std::string> line = lines_.Next()) {
    TakeJob(DecodeStartJob(*line));
  }
  if (!added.ok()) TakeJob(added);
}

void DaemonLink::TakeJob(absl::StatusOr<StartJob> job) {
  const MutexLock lock(mu_);
  if (job_) return;
  job_ = std::move(job);
  changed_.SignalAll();
}

void DaemonLink::RunLoop(const std::stop_token& stop) {
  absl::Time next_heartbeat = absl::Now() + kHeartbeatPeriod;
  while (!stop.stop_requested()) {
    pollfd poll_socket = {.fd = socket_.get(), .events = POLLIN, .revents = 0};
    const int ready =
        poll(&poll_socket, 1,
             static_cast<int>(absl::ToInt64Milliseconds(kProgressPeriod)));
    if (ready > 0) Listen();
    ReportProgress();
    if (absl::Now() < next_heartbeat) continue;
    Send(Heartbeat{});
    next_heartbeat = absl::Now() + kHeartbeatPeriod;
  }
}

}  // namespace traza
