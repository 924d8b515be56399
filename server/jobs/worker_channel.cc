// SPDX-License-Identifier: Apache-2.0
#include "server/jobs/worker_channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"

#include "base/error.h"
#include "base/status_macros.h"
#include "base/utf8.h"

namespace traza {
namespace {

// What one call reads at most, so that a flood starves nothing else.
constexpr size_t kReadBytes = 64 << 10;
// A worker that waits for a job reads it at once.
constexpr int kSendTimeoutMs = 2000;

absl::Status Nonsense(absl::string_view what) {
  return ErrorBuilder(absl::StatusCode::kInternal, Reason::kWorkerProtocol)
      .Build(absl::StrCat("The worker ", what));
}

absl::Status WrongVersion(const Hello& hello) {
  return Nonsense(absl::StrCat("speaks version ", hello.protocol,
                               " of the messages, this daemon version ",
                               kWorkerProtocol, "; it is traza ",
                               EscapeControlCharacters(hello.version), "."));
}

}  // namespace

WorkerChannel::WorkerChannel(LaunchedWorker worker, const Clock& clock)
    : worker_(std::move(worker)),
      clock_(&clock),
      last_message_(clock.Monotonic()),
      allowance_time_(last_message_) {}

absl::Status WorkerChannel::Read() {
  std::array<char, 16 << 10> chunk;
  for (size_t total = 0; total < kReadBytes && !closed();) {
    const ssize_t n =
        ::recv(socket_fd(), chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (n <= 0) {
      worker_.socket.Reset();
      break;
    }
    total += static_cast<size_t>(n);
    const absl::Status added =
        lines_.Add(absl::string_view(chunk.data(), static_cast<size_t>(n)));
    while (const std::optional<std::string> line = lines_.Next()) {
      RETURN_IF_ERROR(Take(*line));
    }
    if (!added.ok()) {
      return Nonsense(absl::StrCat("sent a line of more than ",
                                   kMaxMessageBytes, " bytes."));
    }
  }
  return absl::OkStatus();
}

absl::Status WorkerChannel::Take(absl::string_view line) {
  RETURN_IF_ERROR(Spend());
  absl::StatusOr<WorkerMessage> message = DecodeWorkerMessage(line);
  if (!message.ok()) {
    return Nonsense(absl::StrCat("sent a message that cannot be read: ",
                                 std::string(message.status().message())));
  }
  if (const Hello* hello = std::get_if<Hello>(&*message); hello != nullptr) {
    if (hello->protocol != kWorkerProtocol) return WrongVersion(*hello);
    if (hello_) return Nonsense("said hello twice.");
    hello_ = true;
  } else if (!hello_) {
    return Nonsense("did not say hello first.");
  } else if (std::holds_alternative<Ready>(*message)) {
    ready_ = true;
  } else {
    messages_.push_back(*std::move(message));
  }
  return absl::OkStatus();
}

// A leaky bucket: room for a burst, which refills with time.
absl::Status WorkerChannel::Spend() {
  const absl::Duration now = clock_->Monotonic();
  last_message_ = now;
  allowance_ +=
      absl::ToDoubleSeconds(now - allowance_time_) * kMaxMessagesPerSecond;
  allowance_ = std::min<double>(allowance_, kMaxMessageBurst) - 1;
  allowance_time_ = now;
  if (allowance_ >= 0) return absl::OkStatus();
  return Nonsense(absl::StrCat("sent more than ", kMaxMessagesPerSecond,
                               " messages a second."));
}

std::optional<WorkerMessage> WorkerChannel::Next() {
  if (messages_.empty()) return std::nullopt;
  WorkerMessage message = std::move(messages_.front());
  messages_.pop_front();
  return message;
}

void WorkerChannel::ReadStderr() {
  std::array<char, 16 << 10> chunk;
  for (size_t total = 0; total < kReadBytes && worker_.stderr_pipe.valid();) {
    const ssize_t n = ::read(stderr_fd(), chunk.data(), chunk.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (n <= 0) {
      worker_.stderr_pipe.Reset();
      return;
    }
    total += static_cast<size_t>(n);
    stderr_tail_.append(chunk.data(), static_cast<size_t>(n));
    if (stderr_tail_.size() > kLastWordsBytes) {
      stderr_tail_.erase(0, stderr_tail_.size() - kLastWordsBytes);
    }
  }
}

absl::Status WorkerChannel::Start(const StartJob& message) {
  const std::string line = Encode(message);
  absl::string_view left = line;
  while (!left.empty()) {
    const ssize_t n = ::send(socket_fd(), left.data(), left.size(),
                             MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0) {
      left.remove_prefix(static_cast<size_t>(n));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      pollfd entry{socket_fd(), POLLOUT, 0};
      if (::poll(&entry, 1, kSendTimeoutMs) == 0) {
        return absl::DeadlineExceededError("The worker does not read");
      }
    } else if (errno != EINTR) {
      return ErrnoStatus(errno, "Cannot send the job to the worker");
    }
  }
  return absl::OkStatus();
}

std::string WorkerChannel::LastWords() const {
  std::string text;
  for (const char c : ToValidUtf8(stderr_tail_)) {
    const bool control = (c >= 0 && c < ' ') || c == '\x7f';
    if (!control || c == '\n' || c == '\t') text.push_back(c);
  }
  // U+FFFD is longer than the byte that it stands for.
  size_t begin =
      text.size() > kLastWordsBytes ? text.size() - kLastWordsBytes : 0;
  const auto inside_character = [&](size_t at) {
    return at < text.size() &&
           (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
  };
  while (inside_character(begin)) ++begin;
  return text.substr(begin);
}

}  // namespace traza
