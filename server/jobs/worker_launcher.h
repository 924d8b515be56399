// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_JOBS_WORKER_LAUNCHER_H_
#define SERVER_JOBS_WORKER_LAUNCHER_H_

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

#include "base/subprocess.h"
#include "base/unique_fd.h"
#include "spec/worker_description.h"

namespace traza {

// A worker process as its supervisor sees it. The destructor kills and reaps
// it, and what it let go of (a child in a session of its own): that takes some
// milliseconds. Thread-compatible.
class WorkerProcess {
 public:
  virtual ~WorkerProcess() = default;

  virtual int pid() const = 0;
  // Readable when the process has ended; for poll(2).
  virtual int exit_fd() const = 0;
  // Sends a signal to the process and all that it forked.
  virtual void Signal(int signal) = 0;
  // Reaps it if it ends within `timeout`; what it forked is killed then.
  virtual std::optional<ExitStatus> WaitFor(absl::Duration timeout) = 0;
  // Kills it and all that it forked, then reaps it.
  virtual ExitStatus Kill() = 0;
};

// A running worker and our ends of what connects us; both do not block.
struct LaunchedWorker {
  std::unique_ptr<WorkerProcess> process;
  UniqueFd socket;  // messages (spec/worker_message.h)
  UniqueFd stderr_pipe;
};

struct LaunchOptions {
  std::string device;
  bool standby = false;  // load everything, say Ready, wait for the job
};

// Starts workers: the seam at which tests put a fake.
//
// Thread-safe. The kernel kills a worker when the thread that launched it ends
// (PR_SET_PDEATHSIG in the worker), so only threads that live as long as the
// daemon launch.
class WorkerLauncher {
 public:
  virtual ~WorkerLauncher() = default;

  // WORKER_NOT_STARTED, with the path and why.
  virtual absl::StatusOr<LaunchedWorker> Launch(
      const LaunchOptions& options) = 0;

  // Runs `traza-worker --describe`, which may take a while: it measures the
  // devices. WORKER_NOT_STARTED with what the worker said.
  virtual absl::StatusOr<WorkerDescription> Describe() = 0;

  // Runs `traza-worker --measure --device ID`, which takes some seconds.
  // WORKER_NOT_STARTED with what the worker said.
  virtual absl::StatusOr<DeviceRoofs> Measure(const std::string& device) = 0;
};

struct ProcessLauncherOptions {
  std::filesystem::path program;   // traza-worker
  std::filesystem::path data_dir;  // marks the workers as ours
  std::filesystem::path models;    // where packages and own models are
  int64_t max_trace_bytes = int64_t{1} << 30;
  absl::Duration compile_timeout = absl::Minutes(10);
  absl::Duration describe_timeout = absl::Seconds(60);
  // "NAME=value": where the environment of the workers is taken from. Only the
  // names of an allow list get through.
  std::vector<std::string> environment;
};

// The launcher of the daemon: `traza-worker --daemon --device ID [--standby]
// --models DIR --compile-timeout D`.
//
// Workers get no descriptors of ours but the socket, a small environment (no
// profiler of somebody else gets in), no core dumps, and no file larger than
// the largest trace or unpacked model.
class ProcessLauncher final : public WorkerLauncher {
 public:
  explicit ProcessLauncher(const ProcessLauncherOptions& options);

  absl::StatusOr<LaunchedWorker> Launch(const LaunchOptions& options) override;
  absl::StatusOr<WorkerDescription> Describe() override;
  absl::StatusOr<DeviceRoofs> Measure(const std::string& device) override;

 private:
  // What the worker prints when it is run with `args`.
  absl::StatusOr<std::string> OutputOf(const std::vector<std::string>& args);

  const ProcessLauncherOptions options_;
  const std::vector<std::string> environment_;  // what workers get
  std::atomic<int64_t> launched_{0};
};

// The entry in the environment of every worker of the daemon on `data_dir`:
// how a restarted daemon finds those that a killed one left behind.
std::string WorkerMark(const std::filesystem::path& data_dir);

// What of `environment` a worker may see.
std::vector<std::string> WorkerEnvironment(
    const std::vector<std::string>& environment,
    const std::filesystem::path& data_dir);

}  // namespace traza

#endif  // SERVER_JOBS_WORKER_LAUNCHER_H_
