// SPDX-License-Identifier: Apache-2.0
// trazad: parses the settings, starts the daemon, waits for signals.

#include <malloc.h>
#include <signal.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/unique_fd.h"
#include "server/daemon.h"
#include "server/options.h"
#include "server/systemd_notify.h"

namespace traza {
namespace {

constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;
// Between looks at the store; also well below the watchdog of the unit, 30 s.
constexpr timespec kTick = {.tv_sec = 5, .tv_nsec = 0};

// "trazad: message", then the reason and what to do.
void PrintError(const absl::Status& status) {
  std::string text =
      absl::StrCat("trazad: ", std::string(status.message()), "\n");
  if (const auto details = DetailsOf(status); details.has_value()) {
    const ReasonText& reason = TextOf(details->reason);
    absl::StrAppend(&text, "reason: ", reason.name, "\n", reason.remedy, "\n");
  }
  (void)WriteAll(STDERR_FILENO, text);
}

// Blocks the signals that ask us to stop, in this thread and all that it will
// start, so that only sigtimedwait() sees them.
sigset_t BlockSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  // A client that went away is an error of that write, not of the process.
  (void)signal(SIGPIPE, SIG_IGN);
  return signals;
}

void TellReady(const Daemon& daemon, int ready_fd) {
  if (ready_fd < 0) return;
  const UniqueFd fd(ready_fd);
  // Addresses need no escapes.
  const absl::Status written =
      WriteAll(fd.get(), absl::StrCat("{\"grpc\":\"", daemon.grpc_address(),
                                      "\",\"http\":\"", daemon.http_address(),
                                      "\",\"pid\":", getpid(), "}\n"));
  if (!written.ok()) {
    LogWarning("--ready-fd ", ready_fd, ": ", std::string(written.message()));
  }
}

// Serves until a signal says stop.
void Serve(Daemon& daemon, const sigset_t& signals,
           const std::string& notify_socket) {
  while (true) {
    const int signal_number = sigtimedwait(&signals, nullptr, &kTick);
    if (signal_number > 0) {
      LogInfo("signal ", signal_number, ": draining");
      return;
    }
    daemon.CheckReadiness();
    NotifySystemd(notify_socket, "WATCHDOG=1");
  }
}

std::vector<std::string> EnvironmentOfProcess() {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    entries.emplace_back(*entry);
  }
  return entries;
}

std::string NotifySocket(const std::vector<std::string>& environment) {
  static constexpr absl::string_view kName = "NOTIFY_SOCKET=";
  for (const std::string& entry : environment) {
    if (entry.rfind(kName.data(), 0) == 0) return entry.substr(kName.size());
  }
  return "";
}

int Main(const std::vector<std::string>& args) {
  const std::vector<std::string> environment = EnvironmentOfProcess();
  const absl::StatusOr<DaemonCommand> command =
      ParseDaemonOptions(args, environment);
  if (!command.ok()) {
    PrintError(command.status());
    return kExitUsage;
  }
  if (command->print.has_value()) {
    return WriteAll(STDOUT_FILENO, *command->print).ok() ? 0 : kExitFailed;
  }
  const DaemonOptions& options = command->options;
  SetLogLevel(options.log_level);
  // By default glibc keeps up to eight heaps a core, each with the largest
  // reply that its threads ever built (measured: 57 MB resident, 46 so).
  mallopt(M_ARENA_MAX, 2);
  const sigset_t signals = BlockSignals();
  const std::string notify_socket = NotifySocket(environment);

  absl::StatusOr<std::unique_ptr<Daemon>> daemon =
      Daemon::Create(options, environment);
  if (!daemon.ok()) {
    PrintError(daemon.status());
    return kExitFailed;
  }
  LogInfo("serving gRPC on ", (*daemon)->grpc_address(), ", HTTP on ",
          (*daemon)->http_address(), ", data in ", options.data_dir.string());
  if (!options.listen.loopback() || !options.http_listen.loopback()) {
    LogWarning(
        "other machines can reach this daemon, and it neither encrypts nor "
        "authenticates (--insecure-listen)");
  }
  TellReady(**daemon, options.ready_fd);
  NotifySystemd(notify_socket, "READY=1");

  Serve(**daemon, signals, notify_socket);

  NotifySystemd(notify_socket, "STOPPING=1");
  (*daemon)->Drain();
  daemon->reset();
  LogInfo("stopped");
  return 0;
}

}  // namespace
}  // namespace traza

int main(int argc, char** argv) {
  return traza::Main(std::vector<std::string>(argv + 1, argv + argc));
}
