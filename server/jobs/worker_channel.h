// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_JOBS_WORKER_CHANNEL_H_
#define SERVER_JOBS_WORKER_CHANNEL_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

#include "base/clock.h"
#include "server/jobs/worker_launcher.h"
#include "spec/worker_message.h"

namespace traza {

// How many bytes of the end of a worker's stderr are kept.
inline constexpr size_t kLastWordsBytes = 4096;

// The conversation with one worker: reads its messages and its stderr without
// ever blocking or buffering more than a line, and keeps the handshake.
//
// What a worker sends is hostile input: garbage, a line too long, messages out
// of order, or more than kMaxMessagesPerSecond make Read() fail with
// WORKER_PROTOCOL. Thread-compatible.
class WorkerChannel {
 public:
  // A worker sends a heartbeat a second and some tens of progress messages.
  static constexpr int kMaxMessagesPerSecond = 1000;
  static constexpr int kMaxMessageBurst = 10'000;

  WorkerChannel(LaunchedWorker worker, const Clock& clock);
  WorkerChannel(WorkerChannel&&) noexcept = default;
  WorkerChannel& operator=(WorkerChannel&&) noexcept = default;

  // Takes in what there is to read, a bounded part of it at a time. An end of
  // the stream is no error: see `closed()`.
  absl::Status Read();
  // The next message, Hello and Ready excepted: those show below.
  std::optional<WorkerMessage> Next();
  // Takes in stderr, a bounded part of it at a time.
  void ReadStderr();

  // Sends the job. Fails when the worker is gone or does not read.
  absl::Status Start(const StartJob& message);

  WorkerProcess& process() { return *worker_.process; }
  // Nothing else of the channel may be used afterwards.
  std::unique_ptr<WorkerProcess> TakeProcess() {
    return std::move(worker_.process);
  }
  int socket_fd() const { return worker_.socket.get(); }
  int stderr_fd() const { return worker_.stderr_pipe.get(); }
  bool hello() const { return hello_; }
  bool ready() const { return ready_; }
  bool closed() const { return !worker_.socket.valid(); }
  absl::Duration last_message() const { return last_message_; }
  // The end of stderr as printable text.
  std::string LastWords() const;

 private:
  absl::Status Take(absl::string_view line);
  absl::Status Spend();

  LaunchedWorker worker_;
  const Clock* clock_;
  LineSplitter lines_;
  std::deque<WorkerMessage> messages_;
  std::string stderr_tail_;
  bool hello_ = false;
  bool ready_ = false;
  absl::Duration last_message_;  // by Clock::Monotonic()
  double allowance_ = kMaxMessageBurst;
  absl::Duration allowance_time_;
};

}  // namespace traza

#endif  // SERVER_JOBS_WORKER_CHANNEL_H_
