// SPDX-License-Identifier: Apache-2.0
#include "client/term/interrupt.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"

namespace traza {
namespace {

constexpr int kExitInterrupted = 130;

sigset_t InterruptSet() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  return set;
}

// A shell starts background jobs with SIGINT ignored; it stays so.
bool IsInterruptIgnored() {
  struct sigaction action = {};
  ::sigaction(SIGINT, nullptr, &action);
  return action.sa_handler == SIG_IGN;
}

}  // namespace

void ExitOnInterrupt() {
  struct sigaction action = {};
  // Not the default action: a parent would see a signal instead of 130.
  action.sa_handler = [](int) {
    // Leaves the line that shows progress to the past.
    if (::isatty(STDERR_FILENO) == 1) (void)!::write(STDERR_FILENO, "\n", 1);
    ::_exit(kExitInterrupted);
  };
  sigemptyset(&action.sa_mask);
  if (!IsInterruptIgnored()) ::sigaction(SIGINT, &action, nullptr);
}

InterruptPolicy::InterruptPolicy(bool may_ask, InterruptHooks hooks)
    : may_ask_(may_ask), hooks_(std::move(hooks)) {}

void InterruptPolicy::OnInterrupt() {
  if (state_ == State::kCancelled) {
    hooks_.leave();
  } else if (state_ == State::kIdle && may_ask_) {
    state_ = State::kAsking;
    hooks_.ask();
  } else {
    Cancel();
  }
}

void InterruptPolicy::OnAnswer(absl::string_view line) {
  if (state_ != State::kAsking) return;
  const std::string word =
      absl::AsciiStrToLower(absl::StripAsciiWhitespace(line));
  if (word == "y" || word == "yes") {
    Cancel();
  } else if (word == "d" || word == "detach") {
    hooks_.leave();
  } else {
    state_ = State::kIdle;
    hooks_.resume();
  }
}

void InterruptPolicy::Cancel() {
  state_ = State::kCancelled;
  hooks_.cancel();
}

InterruptWatch::InterruptWatch(const Console& console, InterruptHooks hooks)
    : policy_(console.in_is_terminal && console.err_is_terminal && !console.yes,
              std::move(hooks)) {
  if (IsInterruptIgnored()) return;
  const sigset_t set = InterruptSet();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signals_ = UniqueFd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  stop_ = UniqueFd(::eventfd(0, EFD_CLOEXEC));
  thread_ = std::jthread([this] { Loop(); });
}

InterruptWatch::~InterruptWatch() {
  if (!thread_.joinable()) return;
  const uint64_t one = 1;
  // An eventfd that is never read takes this write.
  (void)!::write(stop_.get(), &one, sizeof(one));
  thread_.join();
  const sigset_t set = InterruptSet();
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

void InterruptWatch::Loop() {
  while (true) {
    // Typed lines are left to the shell unless a question is open.
    pollfd fds[] = {{stop_.get(), POLLIN, 0},
                    {signals_.get(), POLLIN, 0},
                    {policy_.asking() ? STDIN_FILENO : -1, POLLIN, 0}};
    if (::poll(fds, 3, -1) < 0 && errno != EINTR) return;
    if (fds[0].revents != 0) return;
    signalfd_siginfo info;
    if (fds[1].revents != 0 &&
        ::read(signals_.get(), &info, sizeof(info)) == sizeof(info)) {
      policy_.OnInterrupt();
    } else if (fds[2].revents != 0) {
      char line[256];
      const ssize_t n = ::read(STDIN_FILENO, line, sizeof(line));
      policy_.OnAnswer(
          absl::string_view(line, n < 0 ? 0 : static_cast<size_t>(n)));
    }
  }
}

}  // namespace traza
