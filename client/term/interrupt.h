// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_TERM_INTERRUPT_H_
#define CLIENT_TERM_INTERRUPT_H_

#include <functional>
#include <thread>

#include "absl/status/statusor.h"

#include "base/unique_fd.h"
#include "client/term/console.h"

namespace traza {

// Makes Ctrl-C end the process with exit code 130, at once.
void ExitOnInterrupt();

// What the user may wish by pressing Ctrl-C while a job runs. All hooks are
// called on the thread of InterruptWatch, one at a time.
struct InterruptHooks {
  // Shows the question; the answer is read from the terminal.
  std::function<void()> ask;
  // The answer was to go on.
  std::function<void()> resume;
  // The job is to be cancelled. Called once.
  std::function<void()> cancel;
  // The program is to end now, without waiting for the job.
  std::function<void()> leave;
};

// Decides what a Ctrl-C means: on a terminal the first one asks and the second
// cancels; elsewhere, and with --yes, the first one cancels. One more after
// that leaves. Thread-compatible: give it all events from one thread.
class InterruptPolicy {
 public:
  InterruptPolicy(bool may_ask, InterruptHooks hooks);

  void OnInterrupt();
  // A line that was typed while asking(): y cancels, d (detach) leaves.
  void OnAnswer(absl::string_view line);

  bool asking() const { return state_ == State::kAsking; }

 private:
  enum class State { kIdle, kAsking, kCancelled };

  void Cancel();

  const bool may_ask_;
  const InterruptHooks hooks_;
  State state_ = State::kIdle;
};

// Catches Ctrl-C for its lifetime. Make it before anything that starts
// threads, such as the first call of a Client: threads inherit that they leave
// the signal to this one. The destructor joins its thread.
class InterruptWatch {
 public:
  InterruptWatch(const Console& console, InterruptHooks hooks);
  ~InterruptWatch();

  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

 private:
  void Loop();

  InterruptPolicy policy_;  // of the thread
  UniqueFd signals_;
  UniqueFd stop_;
  std::jthread thread_;
};

}  // namespace traza

#endif  // CLIENT_TERM_INTERRUPT_H_
