// SPDX-License-Identifier: Apache-2.0
#include "server/host/gpu_watch.h"

#include <unistd.h>

#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"

#include "base/log.h"
#include "base/mutex.h"
#include "base/status_macros.h"

namespace traza {
namespace {

constexpr char kWholeDevice[] = "device";

// What is known of one GPU.
struct Known {
  std::optional<GpuReading> reading;  // the last one that worked
  absl::Duration read_at;
  bool answers = false;  // the last attempt worked
  int64_t foreign_processes = 0;
  std::map<std::string, int64_t> errors;
};

std::map<std::string, int64_t> NoErrors() {
  std::map<std::string, int64_t> errors = {{kWholeDevice, 0}};
  for (const absl::string_view field : kGpuFields) {
    errors[std::string(field)] = 0;
  }
  return errors;
}

}  // namespace

absl::string_view GpuStateName(GpuState state) {
  switch (state) {
    case GpuState::kIdle:
      return "idle";
    case GpuState::kLeased:
      return "leased";
    case GpuState::kExternal:
      return "external";
    case GpuState::kUnhealthy:
      return "unhealthy";
  }
  return "unhealthy";
}

// The thread and what it shares with callers. Owned by both, so that a thread
// that hangs in the driver keeps what it needs.
class GpuWatch::Reader {
 public:
  Reader(const GpuWatchOptions& options, std::vector<std::string> uuids,
         OpenMonitor open, const Clock& clock)
      : options_(options),
        uuids_(std::move(uuids)),
        clock_(clock),
        open_(std::move(open)),
        known_(uuids_.size(), Known{.errors = NoErrors()}) {}

  // The thread. Once it has to stop it touches nothing of the caller's.
  void Run() {
    while (AwaitRequest()) {
      ReadAll();
      const MutexLock lock(mu_);
      if (stop_) break;
      requested_ = false;
      last_end_ = clock_.Monotonic();
      changed_.SignalAll();
    }
    const MutexLock lock(mu_);
    ended_ = true;
    changed_.SignalAll();
  }

  // Waits for a reading, within limits, and tells what is known then.
  std::vector<Known> Ask() ABSL_LOCKS_EXCLUDED(mu_) {
    const MutexLock lock(mu_);
    if (!requested_ && Due()) {
      requested_ = true;
      changed_.SignalAll();
    }
    const absl::Duration end = Clock::Real().Monotonic() + options_.max_wait;
    while (requested_) {
      const absl::Duration left = end - Clock::Real().Monotonic();
      if (left <= absl::ZeroDuration()) break;
      changed_.WaitFor(mu_, left);
    }
    return opened_ ? known_ : std::vector<Known>();
  }

  // Whether the thread has ended in time.
  bool Stop() ABSL_LOCKS_EXCLUDED(mu_) {
    const MutexLock lock(mu_);
    stop_ = true;
    changed_.SignalAll();
    const absl::Duration end = Clock::Real().Monotonic() + options_.patience;
    while (!ended_) {
      const absl::Duration left = end - Clock::Real().Monotonic();
      if (left <= absl::ZeroDuration()) return false;
      changed_.WaitFor(mu_, left);
    }
    return true;
  }

 private:
  bool Due() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return clock_.Monotonic() - last_end_ >=
           (opened_ ? options_.min_interval : options_.retry);
  }

  // False when the thread has to end.
  bool AwaitRequest() ABSL_LOCKS_EXCLUDED(mu_) {
    const MutexLock lock(mu_);
    while (!stop_ && !requested_) changed_.Wait(mu_);
    return !stop_;
  }

  absl::Status Open() ABSL_LOCKS_EXCLUDED(mu_) {
    if (monitor_ != nullptr) return absl::OkStatus();
    ASSIGN_OR_RETURN(monitor_, open_());
    const MutexLock lock(mu_);
    opened_ = true;
    return absl::OkStatus();
  }

  void ReadAll() ABSL_LOCKS_EXCLUDED(mu_) {
    const absl::Status opened = Open();
    LogFault("The GPUs", opened);
    bool any = false;
    for (size_t i = 0; i < uuids_.size(); ++i) {
      absl::StatusOr<GpuReading> reading =
          opened.ok() ? monitor_->Read(uuids_[i], GpuFields::kAll)
                      : absl::StatusOr<GpuReading>(opened);
      if (opened.ok()) LogFault(uuids_[i], reading.status());
      any = any || reading.ok();
      Note(std::move(reading), i);
    }
    // The driver itself may be gone, or another one by now.
    if (!any) monitor_ = nullptr;
  }

  void Note(absl::StatusOr<GpuReading> reading, size_t number)
      ABSL_LOCKS_EXCLUDED(mu_) {
    // Asks the kernel, so not under the lock.
    int64_t foreign = 0;
    if (reading.ok() && reading->processes.has_value()) {
      foreign = CountForeignProcesses(*reading->processes, /*self=*/0,
                                      /*daemon=*/::getpid());
    }
    const MutexLock lock(mu_);
    if (stop_) return;
    Known& known = known_[number];
    known.answers = reading.ok();
    if (!reading.ok()) {
      ++known.errors[kWholeDevice];
      return;
    }
    for (const auto& [field, why] : reading->errors) ++known.errors[field];
    known.foreign_processes = foreign;
    known.read_at = clock_.Monotonic();
    known.reading = *std::move(reading);
  }

  // Once, however often it comes.
  void LogFault(const std::string& what, const absl::Status& status) {
    std::string& last = faults_[what];
    if (last == status.message()) return;
    last = std::string(status.message());
    if (!last.empty()) LogWarning(what, " cannot be watched: ", last);
  }

  const GpuWatchOptions options_;
  const std::vector<std::string> uuids_;
  const Clock& clock_;

  // Of the thread.
  const OpenMonitor open_;
  std::unique_ptr<GpuMonitor> monitor_;
  std::map<std::string, std::string> faults_;  // what was logged last

  Mutex mu_;
  CondVar changed_;
  std::vector<Known> known_ ABSL_GUARDED_BY(mu_);
  bool requested_ ABSL_GUARDED_BY(mu_) = false;
  bool opened_ ABSL_GUARDED_BY(mu_) = false;
  absl::Duration last_end_ ABSL_GUARDED_BY(mu_) = -absl::InfiniteDuration();
  bool stop_ ABSL_GUARDED_BY(mu_) = false;
  bool ended_ ABSL_GUARDED_BY(mu_) = false;
};

namespace {

std::vector<std::string> UuidsOf(const std::vector<WatchedGpu>& gpus) {
  std::vector<std::string> uuids;
  for (const WatchedGpu& gpu : gpus) uuids.push_back(gpu.uuid);
  return uuids;
}

GpuState StateOf(const WatchedGpu& gpu, const Known& known, bool fresh) {
  if (!known.answers || !fresh) return GpuState::kUnhealthy;
  if (known.foreign_processes > 0) return GpuState::kExternal;
  if (gpu.lease_or_null != nullptr && gpu.lease_or_null->Holder()) {
    return GpuState::kLeased;
  }
  return GpuState::kIdle;
}

}  // namespace

GpuWatch::GpuWatch(const GpuWatchOptions& options, std::vector<WatchedGpu> gpus,
                   OpenMonitor open, const Clock& clock)
    : options_(options),
      clock_(clock),
      gpus_(std::move(gpus)),
      reader_(std::make_shared<Reader>(options, UuidsOf(gpus_), std::move(open),
                                       clock)) {
  // Not joined: a thread that hangs in the driver cannot be ended.
  std::thread([reader = reader_] { reader->Run(); }).detach();
}

GpuWatch::~GpuWatch() {
  if (!reader_->Stop()) {
    LogWarning("The driver hangs: the thread that reads it is left behind.");
  }
}

std::vector<GpuSample> GpuWatch::Latest() {
  const std::vector<Known> known = reader_->Ask();
  std::vector<GpuSample> samples;
  for (size_t i = 0; i < known.size(); ++i) {
    GpuSample& sample = samples.emplace_back();
    sample.device = gpus_[i].device;
    sample.errors = known[i].errors;
    if (known[i].reading.has_value()) {
      sample.age = clock_.Monotonic() - known[i].read_at;
    }
    const bool fresh =
        sample.age.has_value() && *sample.age <= options_.max_age;
    if (fresh && known[i].answers) sample.reading = known[i].reading;
    sample.state = StateOf(gpus_[i], known[i], fresh);
  }
  return samples;
}

}  // namespace traza
