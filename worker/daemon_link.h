// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_DAEMON_LINK_H_
#define WORKER_DAEMON_LINK_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "base/mutex.h"
#include "base/unique_fd.h"
#include "spec/worker_message.h"
#include "worker/step_progress.h"

namespace traza {

// At most this often, a phase's progress is reported.
inline constexpr absl::Duration kProgressPeriod = absl::Milliseconds(100);

// The worker's end of the socket to the daemon.
//
// Says Hello, then a thread of its own sends heartbeats and progress and
// listens. The daemon's end closed means that nobody wants the job any more:
// the process ends at once, without clean-up, wherever it is.
//
// Thread-safe.
class DaemonLink : public StepProgress {
 public:
  explicit DaemonLink(UniqueFd socket);
  ~DaemonLink() override;

  void SendReady() { Send(Ready{}); }
  void Send(const WorkerMessage& message) ABSL_LOCKS_EXCLUDED(mu_);

  // Waits for the job. CANCELLED once `stop` is set; INVALID_ARGUMENT when the
  // daemon sent something else.
  absl::StatusOr<StartJob> WaitForJob(const std::atomic<bool>& stop)
      ABSL_LOCKS_EXCLUDED(mu_);

  void OnPhase(Phase phase, std::optional<int64_t> total) override
      ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void RunLoop(const std::stop_token& stop);
  void Listen();
  void TakeJob(absl::StatusOr<StartJob> job) ABSL_LOCKS_EXCLUDED(mu_);
  void ReportProgress() ABSL_LOCKS_EXCLUDED(mu_);
  void SendLocked(const WorkerMessage& message)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const UniqueFd socket_;
  LineSplitter lines_;  // of the thread

  // Also held while writing to the socket, so that lines stay whole and no
  // progress of a phase follows the next phase. Nothing of ours is called
  // under it.
  Mutex mu_;
  CondVar changed_;
  std::optional<absl::StatusOr<StartJob>> job_ ABSL_GUARDED_BY(mu_);
  std::optional<Phase> phase_ ABSL_GUARDED_BY(mu_);
  std::optional<int64_t> total_ ABSL_GUARDED_BY(mu_);
  int64_t reported_ ABSL_GUARDED_BY(mu_) = 0;

  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace traza

#endif  // WORKER_DAEMON_LINK_H_
