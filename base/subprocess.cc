// SPDX-License-Identifier: Apache-2.0
#include "base/subprocess.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/status_macros.h"

namespace traza {
namespace {

// How long a killed process may take to go away. One that hangs in a driver
// does not even die of SIGKILL; whoever waits for it must not hang with it.
constexpr absl::Duration kReapLimit = absl::Seconds(30);

constexpr int64_t kMaxEnvironmentBytes = 4 << 20;

int OpenPidfd(pid_t pid) {
  return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
}

// The actions and attributes of one posix_spawn, freed with it.
class SpawnPlan {
 public:
  SpawnPlan() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  // A group of its own, no blocked signals, default dispositions: the daemon
  // blocks and ignores some.
  absl::Status SetAttributes() {
    sigset_t all;
    sigset_t none;
    sigfillset(&all);
    sigemptyset(&none);
    Note(posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP |
                                                    POSIX_SPAWN_SETSIGDEF |
                                                    POSIX_SPAWN_SETSIGMASK));
    Note(posix_spawnattr_setpgroup(&attributes_, 0));
    Note(posix_spawnattr_setsigdefault(&attributes_, &all));
    Note(posix_spawnattr_setsigmask(&attributes_, &none));
    return status();
  }

  absl::Status SetDescriptors(
      const std::vector<std::pair<int, int>>& descriptors) {
    std::set<int> targets;
    int last = STDERR_FILENO;
    for (const auto& [ours, target] : descriptors) {
      if (target < 0) return absl::InvalidArgumentError("Negative descriptor");
      targets.insert(target);
      last = std::max(last, target);
    }
    if (targets.count(STDIN_FILENO) == 0) {
      Note(posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO,
                                            "/dev/null", O_RDONLY, 0));
    }
    for (const auto& [ours, target] : descriptors) {
      // Copies above every target number: no dup2 in the child can overwrite
      // a descriptor that a later one still needs.
      const int copy = ::fcntl(ours, F_DUPFD_CLOEXEC, last + 1);
      if (copy < 0) {
        return ErrnoStatus(errno,
                           absl::StrCat("Cannot pass on descriptor ", ours));
      }
      copies_.emplace_back(copy);
      Note(posix_spawn_file_actions_adddup2(&actions_, copy, target));
    }
    for (int fd = STDERR_FILENO + 1; fd <= last; ++fd) {
      if (targets.count(fd) == 0) {
        Note(posix_spawn_file_actions_addclose(&actions_, fd));
      }
    }
    Note(posix_spawn_file_actions_addclosefrom_np(&actions_, last + 1));
    return status();
  }

  // Returns an errno.
  int Spawn(const SubprocessOptions& options, pid_t* pid) {
    std::vector<char*> argv;
    argv.push_back(const_cast<char*>(options.program.c_str()));
    for (const std::string& arg : options.args) {
      argv.push_back(const_cast<char*>(arg.c_str()));
    }
    argv.push_back(nullptr);
    std::vector<char*> environment;
    for (const std::string& entry : options.environment) {
      environment.push_back(const_cast<char*>(entry.c_str()));
    }
    environment.push_back(nullptr);
    return posix_spawn(pid, options.program.c_str(), &actions_, &attributes_,
                       argv.data(), environment.data());
  }

 private:
  void Note(int error) {
    if (error_ == 0) error_ = error;
  }
  absl::Status status() const {
    return error_ == 0 ? absl::OkStatus()
                       : ErrnoStatus(error_, "Cannot prepare a process");
  }

  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
  std::vector<UniqueFd> copies_;
  int error_ = 0;
};

absl::Status StartError(int error, const std::filesystem::path& program) {
  absl::StatusCode code = absl::StatusCode::kFailedPrecondition;
  absl::string_view advice = "";
  switch (error) {
    case ENOENT:
      advice =
          " The file, or the interpreter it names, does not exist: check "
          "the path and the installation.";
      break;
    case EACCES:
    case ENOEXEC:
      advice =
          " Check that it is a program and that its mode and mount allow "
          "running it.";
      break;
    case EAGAIN:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
      code = absl::StatusCode::kResourceExhausted;
      advice =
          " The system is short of processes, memory or descriptors: "
          "raise the limits, or retry later.";
      break;
    default:
      break;
  }
  return ErrorBuilder(code, Reason::kWorkerNotStarted)
      .With("program", program.native())
      .Build(absl::StrCat(
          absl::ErrnoToStatus(error,
                              absl::StrCat("Cannot start ", program.native()))
              .message(),
          ".", advice));
}

// Lowers limits of a running process; a hard limit is never raised.
absl::Status SetLimits(pid_t pid,
                       const std::vector<std::pair<int, uint64_t>>& limits) {
  for (const auto& [resource, value] : limits) {
    const auto which = static_cast<__rlimit_resource>(resource);
    rlimit limit{};
    int failed = ::prlimit(pid, which, nullptr, &limit);
    if (failed == 0) {
      limit.rlim_max = std::min<rlim_t>(value, limit.rlim_max);
      limit.rlim_cur = limit.rlim_max;
      failed = ::prlimit(pid, which, &limit, nullptr);
    }
    // ESRCH: it has ended already, and its exit status says more.
    if (failed != 0 && errno != ESRCH) {
      return ErrnoStatus(errno,
                         absl::StrCat("Cannot set resource limit ", resource));
    }
  }
  return absl::OkStatus();
}

ExitStatus FromSignalInfo(const siginfo_t& info) {
  ExitStatus exit;
  if (info.si_code == CLD_EXITED) {
    exit.code = info.si_status;
  } else {
    exit.signal = info.si_status;
  }
  return exit;
}

// Whether `fd` is readable within `timeout`, across EINTR.
bool PollReadable(int fd, absl::Duration timeout) {
  const Clock& clock = Clock::Real();
  const absl::Duration deadline = clock.Monotonic() + timeout;
  while (true) {
    const absl::Duration left =
        std::max(absl::ZeroDuration(), deadline - clock.Monotonic());
    // Rounded up, so that the last round does not spin.
    const int64_t ms =
        absl::ToInt64Milliseconds(absl::Ceil(left, absl::Milliseconds(1)));
    pollfd entry{fd, POLLIN, 0};
    const int ready =
        ::poll(&entry, 1, static_cast<int>(std::min<int64_t>(ms, 1 << 30)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
    if (clock.Monotonic() >= deadline) return false;
  }
}

bool EnvironmentHas(pid_t pid, absl::string_view entry) {
  const absl::StatusOr<std::string> environment =
      ReadFile(absl::StrCat("/proc/", pid, "/environ"), kMaxEnvironmentBytes);
  if (!environment.ok()) return false;
  for (const absl::string_view part : absl::StrSplit(*environment, '\0')) {
    if (part == entry) return true;
  }
  return false;
}

// Kills the process if it is of this user and carries `entry`. The descriptor
// returned becomes readable when it has ended; invalid if it was not killed.
UniqueFd KillIfMarked(pid_t pid, absl::string_view entry) {
  struct stat info;
  const std::string folder = absl::StrCat("/proc/", pid);
  if (::stat(folder.c_str(), &info) != 0 || info.st_uid != ::geteuid()) {
    return UniqueFd();
  }
  // The pidfd comes first: a number may be given to another process between
  // the look and the kill, a pidfd stays what it was.
  UniqueFd pidfd(OpenPidfd(pid));
  if (!pidfd.valid() || !EnvironmentHas(pid, entry)) return UniqueFd();
  if (::syscall(SYS_pidfd_send_signal, pidfd.get(), SIGKILL, nullptr, 0) != 0) {
    return UniqueFd();
  }
  return pidfd;
}

std::vector<pid_t> AllPids() {
  std::vector<pid_t> pids;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc"),
                                                   ::closedir);
  if (folder == nullptr) return pids;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is this thread's own.
  while (const dirent* entry = ::readdir(folder.get())) {
    pid_t pid = 0;
    if (absl::SimpleAtoi(entry->d_name, &pid)) pids.push_back(pid);
  }
  return pids;
}

}  // namespace

std::string ExitStatus::ToString() const {
  if (code.has_value()) return absl::StrCat("exit ", *code);
  if (!signal.has_value()) return "unknown";
  const char* name = ::sigdescr_np(*signal);
  return absl::StrCat("signal ", *signal, " (",
                      name == nullptr ? "unknown" : name, ")");
}

Subprocess::Subprocess(pid_t pid, UniqueFd pidfd)
    : pid_(pid), pidfd_(std::move(pidfd)) {}

absl::StatusOr<Subprocess> Subprocess::Start(const SubprocessOptions& options) {
  SpawnPlan plan;
  RETURN_IF_ERROR(plan.SetAttributes());
  RETURN_IF_ERROR(plan.SetDescriptors(options.descriptors));
  pid_t pid = -1;
  if (const int error = plan.Spawn(options, &pid); error != 0) {
    return StartError(error, options.program);
  }
  // The child is ours to reap, so its number is still its own here.
  UniqueFd pidfd(OpenPidfd(pid));
  if (!pidfd.valid()) {
    const int error = errno;
    ::kill(-pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return ErrnoStatus(error, "Cannot watch a process");
  }
  Subprocess process(pid, std::move(pidfd));
  RETURN_IF_ERROR(SetLimits(pid, options.limits));
  return process;
}

Subprocess::Subprocess(Subprocess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      pidfd_(std::move(other.pidfd_)),
      exit_(std::exchange(other.exit_, std::nullopt)) {}

Subprocess& Subprocess::operator=(Subprocess&& other) noexcept {
  if (this != &other) {
    if (pid_ > 0) Kill();
    pid_ = std::exchange(other.pid_, -1);
    pidfd_ = std::move(other.pidfd_);
    exit_ = std::exchange(other.exit_, std::nullopt);
  }
  return *this;
}

Subprocess::~Subprocess() {
  if (pid_ > 0) Kill();
}

void Subprocess::Signal(int signal) const {
  if (pid_ > 0 && !exit_.has_value()) ::kill(-pid_, signal);
}

std::optional<ExitStatus> Subprocess::WaitFor(absl::Duration timeout) {
  if (exit_.has_value()) return exit_;
  if (!PollReadable(pidfd_.get(), timeout)) return std::nullopt;
  // What the child forked dies with it. Before reaping: until then the number
  // of the group cannot be given to another one.
  Signal(SIGKILL);
  siginfo_t info{};
  int failed;
  do {
    failed = ::waitid(P_PIDFD, static_cast<id_t>(pidfd_.get()), &info,
                      WEXITED | WNOHANG);
  } while (failed != 0 && errno == EINTR);
  // ECHILD: the process ignores SIGCHLD, so the kernel has reaped it.
  exit_ = failed == 0 ? FromSignalInfo(info) : ExitStatus{};
  return exit_;
}

ExitStatus Subprocess::Terminate(absl::Duration grace) {
  Signal(SIGTERM);
  const std::optional<ExitStatus> exit = WaitFor(grace);
  return exit.has_value() ? *exit : Kill();
}

ExitStatus Subprocess::Kill() {
  Signal(SIGKILL);
  if (const std::optional<ExitStatus> exit = WaitFor(kReapLimit)) return *exit;
  LogError("Process ", pid_, " does not die of SIGKILL; it is left alone.");
  const ExitStatus given_up{std::nullopt, SIGKILL};
  exit_ = given_up;
  return given_up;
}

absl::StatusOr<std::pair<UniqueFd, UniqueFd>> MakeSocketPair() {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) {
    return ErrnoStatus(errno, "Cannot make a socket pair");
  }
  return std::make_pair(UniqueFd(fds[0]), UniqueFd(fds[1]));
}

int KillProcessesWithEnvironment(absl::string_view entry) {
  std::map<pid_t, UniqueFd> killed;
  // Again until a round finds nothing new: one may fork while we look.
  size_t before;
  do {
    before = killed.size();
    for (const pid_t pid : AllPids()) {
      if (pid == ::getpid() || killed.contains(pid)) continue;
      if (UniqueFd pidfd = KillIfMarked(pid, entry); pidfd.valid()) {
        killed.emplace(pid, std::move(pidfd));
      }
    }
  } while (killed.size() > before);
  // A killed process holds its device and its files until it has ended.
  const Clock& clock = Clock::Real();
  const absl::Duration deadline = clock.Monotonic() + kReapLimit;
  for (const auto& [pid, pidfd] : killed) {
    if (!PollReadable(pidfd.get(), deadline - clock.Monotonic())) {
      LogError("Process ", pid, " does not die of SIGKILL; it is left alone.");
    }
  }
  return static_cast<int>(killed.size());
}

absl::StatusOr<int64_t> ResidentBytes(pid_t pid) {
  ASSIGN_OR_RETURN(const std::string status,
                   ReadFile(absl::StrCat("/proc/", pid, "/status"), 1 << 20));
  for (absl::string_view line : absl::StrSplit(status, '\n')) {
    int64_t kib = 0;
    if (absl::ConsumePrefix(&line, "VmRSS:") &&
        absl::ConsumeSuffix(&line, "kB") && absl::SimpleAtoi(line, &kib)) {
      return kib * 1024;
    }
  }
  return absl::NotFoundError(
      absl::StrCat("Process ", pid, " has no resident memory"));
}

}  // namespace traza
