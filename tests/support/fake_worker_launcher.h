// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SUPPORT_FAKE_WORKER_LAUNCHER_H_
#define TESTS_SUPPORT_FAKE_WORKER_LAUNCHER_H_

#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

#include "base/check.h"
#include "base/mutex.h"
#include "base/subprocess.h"
#include "base/unique_fd.h"
#include "server/jobs/worker_launcher.h"
#include "spec/worker_message.h"
#include "tests/support/make_job.h"

namespace traza {

// How long a test waits for what has to come; never reached by a good one.
inline constexpr absl::Duration kTestPatience = absl::Seconds(60);

// A worker without a process: the test says what it says and when it ends.
// Thread-safe.
class FakeWorker {
 public:
  explicit FakeWorker(LaunchOptions o)
      : options(std::move(o)),
        exit_fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    auto sockets = MakeSocketPair();
    TRAZA_CHECK(sockets.ok());
    ours = std::move(sockets->first);
    theirs = std::move(sockets->second);
    int pipe[2];
    TRAZA_CHECK(::pipe2(pipe, O_CLOEXEC | O_NONBLOCK) == 0);
    stderr_read = UniqueFd(pipe[0]);
    stderr_write = UniqueFd(pipe[1]);
  }

  // ---- for the test

  void Say(const WorkerMessage& message) { SayBytes(Encode(message)); }
  void SayBytes(const std::string& bytes) {
    TRAZA_CHECK(::send(theirs.get(), bytes.data(), bytes.size(),
                       MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size()));
  }
  // Whether the supervisor has read all that was said.
  [[nodiscard]] bool heard() const {
    int unread = 0;
    TRAZA_CHECK(::ioctl(theirs.get(), SIOCOUTQ, &unread) == 0);
    return unread == 0;
  }
  void SayHello() { Say(Hello{kWorkerProtocol, "0.1.0"}); }
  void SayReady() {
    SayHello();
    Say(Ready{});
  }
  void Complain(const std::string& text) {
    TRAZA_CHECK(::write(stderr_write.get(), text.data(), text.size()) ==
                static_cast<ssize_t>(text.size()));
  }
  // The job that the daemon sent.
  std::optional<StartJob> AwaitJob() {
    LineSplitter lines;
    char chunk[4096];
    pollfd entry{theirs.get(), POLLIN, 0};
    while (::poll(&entry, 1, 20'000) > 0) {
      const ssize_t n = ::recv(theirs.get(), chunk, sizeof(chunk), 0);
      if (n <= 0) break;
      TRAZA_CHECK(
          lines.Add(absl::string_view(chunk, static_cast<size_t>(n))).ok());
      if (const auto line = lines.Next(); line.has_value()) {
        auto start = DecodeStartJob(*line);
        if (start.ok()) return *std::move(start);
        break;
      }
    }
    return std::nullopt;
  }
  void Exit(const ExitStatus& status) ABSL_LOCKS_EXCLUDED(mu_) {
    const MutexLock lock(mu_);
    End(status);
  }
  bool AwaitSignal(int signal) ABSL_LOCKS_EXCLUDED(mu_) {
    const MutexLock lock(mu_);
    while (!Got(signal)) {
      if (!changed_.WaitFor(mu_, kTestPatience)) return false;
    }
    return true;
  }
  bool got(int signal) ABSL_LOCKS_EXCLUDED(mu_) {
    const MutexLock lock(mu_);
    return Got(signal);
  }
  bool killed() { return got(SIGKILL); }

  // ---- for the process object

  void Signal(int signal) ABSL_LOCKS_EXCLUDED(mu_) {
    const MutexLock lock(mu_);
    signals_.push_back(signal);
    if (signal == SIGKILL) End({std::nullopt, SIGKILL});
    changed_.SignalAll();
  }
  std::optional<ExitStatus> exit() ABSL_LOCKS_EXCLUDED(mu_) {
    const MutexLock lock(mu_);
    return ended_;
  }

  const LaunchOptions options;
  UniqueFd ours, theirs;  // `ours` is moved to the daemon
  UniqueFd stderr_read, stderr_write;
  const UniqueFd exit_fd;

 private:
  bool Got(int signal) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    for (const int s : signals_) {
      if (s == signal) return true;
    }
    return false;
  }
  void End(const ExitStatus& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (ended_.has_value()) return;
    ended_ = status;
    const uint64_t one = 1;
    TRAZA_CHECK(::write(exit_fd.get(), &one, sizeof(one)) == sizeof(one));
  }

  Mutex mu_;
  CondVar changed_;
  std::vector<int> signals_ ABSL_GUARDED_BY(mu_);
  std::optional<ExitStatus> ended_ ABSL_GUARDED_BY(mu_);
};

// Starts FakeWorkers. Thread-safe.
class FakeWorkerLauncher final : public WorkerLauncher {
 public:
  absl::StatusOr<LaunchedWorker> Launch(const LaunchOptions& options) override
      ABSL_LOCKS_EXCLUDED(mu_) {
    const MutexLock lock(mu_);
    if (!next_error_.ok()) return next_error_;
    auto worker = std::make_shared<FakeWorker>(options);
    workers_.push_back(worker);
    changed_.SignalAll();
    return LaunchedWorker{std::make_unique<Process>(worker),
                          std::move(worker->ours),
                          std::move(worker->stderr_read)};
  }

  absl::StatusOr<WorkerDescription> Describe() override {
    return MakeDescription();
  }
  absl::StatusOr<DeviceRoofs> Measure(const std::string& device) override
      ABSL_LOCKS_EXCLUDED(mu_) {
    const MutexLock lock(mu_);
    measured_.push_back(device);
    if (!next_error_.ok()) return next_error_;
    return DeviceRoofs{.flops_per_second = {{"bf16", 7e14}},
                       .memory_bytes_per_second = 4e12};
  }
  std::vector<std::string> measured() ABSL_LOCKS_EXCLUDED(mu_) {
    const MutexLock lock(mu_);
    return measured_;
  }

  // From now on Launch() fails so; with OK it works again.
  void FailWith(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mu_) {
    const MutexLock lock(mu_);
    next_error_ = status;
  }
  // The worker that was started as number `index`, from 0. Null if it does
  // not come.
  std::shared_ptr<FakeWorker> Await(size_t index) ABSL_LOCKS_EXCLUDED(mu_) {
    const MutexLock lock(mu_);
    while (workers_.size() <= index) {
      if (!changed_.WaitFor(mu_, kTestPatience)) return nullptr;
    }
    return workers_[index];
  }
  size_t launched() ABSL_LOCKS_EXCLUDED(mu_) {
    const MutexLock lock(mu_);
    return workers_.size();
  }

 private:
  class Process final : public WorkerProcess {
   public:
    explicit Process(std::shared_ptr<FakeWorker> worker)
        : worker_(std::move(worker)) {}
    ~Process() override { worker_->Signal(SIGKILL); }

    int pid() const override { return 4242; }
    int exit_fd() const override { return worker_->exit_fd.get(); }
    void Signal(int signal) override { worker_->Signal(signal); }
    std::optional<ExitStatus> WaitFor(absl::Duration timeout) override {
      pollfd entry{exit_fd(), POLLIN, 0};
      ::poll(&entry, 1, static_cast<int>(absl::ToInt64Milliseconds(timeout)));
      return worker_->exit();
    }
    ExitStatus Kill() override {
      worker_->Signal(SIGKILL);
      return *worker_->exit();
    }

   private:
    const std::shared_ptr<FakeWorker> worker_;
  };

  Mutex mu_;
  CondVar changed_;
  absl::Status next_error_ ABSL_GUARDED_BY(mu_);
  std::vector<std::shared_ptr<FakeWorker>> workers_ ABSL_GUARDED_BY(mu_);
  std::vector<std::string> measured_ ABSL_GUARDED_BY(mu_);
};

}  // namespace traza

#endif  // TESTS_SUPPORT_FAKE_WORKER_LAUNCHER_H_
