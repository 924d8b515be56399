// SPDX-License-Identifier: Apache-2.0
#ifndef BASE_SUBPROCESS_H_
#define BASE_SUBPROCESS_H_

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

#include "base/unique_fd.h"

namespace traza {

struct SubprocessOptions {
  std::filesystem::path program;
  std::vector<std::string> args;  // Without argv[0].
  // The whole environment of the child: "NAME=value".
  std::vector<std::string> environment;
  // Descriptors of ours and the numbers they get in the child. 0 is /dev/null
  // unless mapped; 1 and 2 are ours unless mapped; all others are closed
  // (closefrom).
  std::vector<std::pair<int, int>> descriptors;  // {ours, in the child}
  // Limits set with prlimit right after the start: {RLIMIT_..., value}. One
  // that is lower already stays.
  std::vector<std::pair<int, uint64_t>> limits;
};

// How a process ended.
struct ExitStatus {
  std::optional<int> code;    // exit(code)
  std::optional<int> signal;  // killed by this signal

  bool ok() const { return code == 0; }
  // "exit 3", "signal 11 (Segmentation fault)".
  std::string ToString() const;
};

// A child process in a process group of its own, started by posix_spawn
// (never a bare fork: gRPC and CUDA do not survive one).
//
// The destructor kills the group and reaps the child. Thread-compatible.
class Subprocess {
 public:
  static absl::StatusOr<Subprocess> Start(const SubprocessOptions& options);

  Subprocess(Subprocess&&) noexcept;
  Subprocess& operator=(Subprocess&&) noexcept;
  ~Subprocess();

  pid_t pid() const { return pid_; }
  // Readable when the child has ended; for poll(2).
  int pidfd() const { return pidfd_.get(); }
  bool running() const { return !exit_.has_value(); }

  // Sends a signal to the whole group; nothing when the child was reaped.
  void Signal(int signal) const;

  // Reaps the child if it has ended within `timeout`. Whatever it forked and
  // left in its group is killed then.
  std::optional<ExitStatus> WaitFor(absl::Duration timeout);

  // TERM, `grace`, KILL of the group, then reaps.
  ExitStatus Terminate(absl::Duration grace);

  // KILL of the group (also of what the child forked), then reaps. Gives up
  // after 30 s on a child that hangs in a driver, says so in the log, and
  // calls it killed.
  ExitStatus Kill();

 private:
  Subprocess(pid_t pid, UniqueFd pidfd);

  pid_t pid_ = -1;
  UniqueFd pidfd_;
  std::optional<ExitStatus> exit_;
};

// A connected pair of close-on-exec stream sockets.
absl::StatusOr<std::pair<UniqueFd, UniqueFd>> MakeSocketPair();

// Kills (SIGKILL) every process of this user whose environment contains
// `entry` ("NAME=value") exactly, except ourselves, and waits until they have
// ended (30 s at most); returns how many. It finds workers that a killed daemon
// left behind, and what a worker let go of.
int KillProcessesWithEnvironment(absl::string_view entry);

// Resident memory of a process in bytes (VmRSS of /proc/PID/status).
absl::StatusOr<int64_t> ResidentBytes(pid_t pid);

}  // namespace traza

#endif  // BASE_SUBPROCESS_H_
