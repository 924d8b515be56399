// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_DEVICE_SAMPLER_H_
#define WORKER_DEVICE_SAMPLER_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"

#include "base/gpu_monitor.h"
#include "base/mutex.h"
#include "trace/correlate/raw_records.h"
#include "trace/header.h"

namespace traza {

struct DeviceSamplerOptions {
  std::string uuid;
  int32_t device = 0;  // column `device` of the counters
  // The first sample comes one interval after Start(), so a job of a few
  // milliseconds has those before and after it alone. A reading takes the
  // driver's locks: choose some milliseconds at least.
  absl::Duration interval = absl::Milliseconds(20);
  // With more, every other one goes and the interval doubles.
  size_t max_samples = 4096;
  // The daemon that started this worker; its other workers wait and count as
  // ours.
  std::optional<pid_t> daemon;
};

// Watches the GPU of a job: its state before and after for the header, and
// clocks, power, temperature and memory as counters between Start() and Stop(),
// read by a thread of its own.
//
// One thread calls its methods, in this order, each at most once; any may be
// left out. `monitor` must outlive this object. What cannot be read is left
// unknown: no call fails.
class DeviceSampler {
 public:
  DeviceSampler(const DeviceSamplerOptions& options, GpuMonitor& monitor);
  ~DeviceSampler();
  DeviceSampler(const DeviceSampler&) = delete;
  DeviceSampler& operator=(const DeviceSampler&) = delete;

  // Call it before the job makes a context, if there is none yet.
  void ReadBefore();
  void Start();
  void Stop() ABSL_LOCKS_EXCLUDED(mu_);
  // Call it while the job's context is there: a list of processes without
  // ourselves is one that hides processes.
  void ReadAfter();

  // Adds the counters to `records`, and state_before and state_after to
  // `header`.
  void Drain(RawRecords* records, Header* header);

 private:
  struct Sample {
    int64_t time_ns = 0;
    GpuReading reading;
    std::optional<int64_t> others;  // processes that are not ours
    bool sees_us = false;           // we are in the list of processes
  };

  std::optional<Sample> Read(GpuFields fields) const;
  void RunLoop() ABSL_LOCKS_EXCLUDED(mu_);
  // False when Stop() was called.
  bool Wait(absl::Duration time) ABSL_LOCKS_EXCLUDED(mu_);
  void Keep(Sample sample);
  DeviceState StateOf(const std::optional<Sample>& sample) const;
  std::vector<std::string> ReasonsSinceBefore(const Sample& after) const;
  void CountOthers(DeviceState* before, DeviceState* after) const;
  void AddCounters(RawRecords* records) const;

  const DeviceSamplerOptions options_;
  GpuMonitor& monitor_;

  std::optional<Sample> before_;
  std::optional<Sample> after_;

  Mutex mu_;
  CondVar stopped_;
  bool stop_ ABSL_GUARDED_BY(mu_) = false;

  // Of the thread while it runs.
  std::vector<Sample> samples_;
  int64_t most_others_ = 0;
  absl::Duration interval_;

  std::jthread thread_;  // last: uses all of the above
};

}  // namespace traza

#endif  // WORKER_DEVICE_SAMPLER_H_
