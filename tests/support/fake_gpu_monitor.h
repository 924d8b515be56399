// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SUPPORT_FAKE_GPU_MONITOR_H_
#define TESTS_SUPPORT_FAKE_GPU_MONITOR_H_

#include <map>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

#include "base/gpu_monitor.h"
#include "base/mutex.h"

namespace traza {

// A GPU that reads what a test sets. Thread-safe.
class FakeGpuMonitor final : public GpuMonitor {
 public:
  absl::StatusOr<GpuReading> Read(absl::string_view uuid,
                                  GpuFields fields) override
      ABSL_LOCKS_EXCLUDED(mu_) {
    const MutexLock lock(mu_);
    ++reads_;
    changed_.SignalAll();
    while (hanging_) changed_.Wait(mu_);
    const auto found = readings_.find(std::string(uuid));
    if (found == readings_.end()) {
      return absl::NotFoundError("There is no such GPU.");
    }
    absl::StatusOr<GpuReading> reading = found->second;
    if (reading.ok() && fields == GpuFields::kSensors) {
      reading->energy_joules.reset();
      reading->busy_ratio.reset();
      reading->processes.reset();
    }
    return reading;
  }

  void Set(const std::string& uuid, absl::StatusOr<GpuReading> reading)
      ABSL_LOCKS_EXCLUDED(mu_) {
    const MutexLock lock(mu_);
    readings_.insert_or_assign(uuid, std::move(reading));
  }
  // While set, Read() does not return.
  void Hang(bool hanging) ABSL_LOCKS_EXCLUDED(mu_) {
    const MutexLock lock(mu_);
    hanging_ = hanging;
    changed_.SignalAll();
  }
  // Whether so many reads have begun, at last.
  bool AwaitReads(int count) ABSL_LOCKS_EXCLUDED(mu_) {
    const MutexLock lock(mu_);
    while (reads_ < count) {
      if (!changed_.WaitFor(mu_, absl::Seconds(20))) return false;
    }
    return true;
  }
  int reads() ABSL_LOCKS_EXCLUDED(mu_) {
    const MutexLock lock(mu_);
    return reads_;
  }

 private:
  Mutex mu_;
  CondVar changed_;
  std::map<std::string, absl::StatusOr<GpuReading>> readings_
      ABSL_GUARDED_BY(mu_);
  bool hanging_ ABSL_GUARDED_BY(mu_) = false;
  int reads_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace traza

#endif  // TESTS_SUPPORT_FAKE_GPU_MONITOR_H_
