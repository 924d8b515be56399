// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_WORKER_SESSION_FIXTURE_H_
#define TESTS_WORKER_SESSION_FIXTURE_H_

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "gtest/gtest.h"

#include "base/clock.h"
#include "tests/support/temp_dir.h"
#include "tests/worker/session_fakes.h"
#include "trace/file/parquet_file.h"
#include "worker/null_collector.h"
#include "worker/session.h"

namespace traza {

// Runs a session of a FakeWorkload, whose parts a test may exchange.
class SessionTest : public testing::Test {
 protected:
  SessionTest() {
    spec_.workload = "fake";
    spec_.variant = "eager";
    spec_.device = "cpu";
    spec_.warmup = {.automatic = false, .steps = 4};
    spec_.timed_steps = 5;
    spec_.traced_steps = 6;
  }

  absl::StatusOr<WorkerResult> Run() {
    SessionOptions options = {.out = out(),
                              .start_ns = RealtimeNs(),
                              .ops_per_step = ops_per_step_,
                              .memory_bytes = memory_bytes_,
                              .max_window_openings = max_window_openings_};
    options.header.job = spec_;
    options.header.device.id = spec_.device;
    options.header.device.kind = device_;
    options.header.standby = standby_;
    Session session(std::move(options),
                    {.compile = compile_,
                     .make_workload =
                         [this]() -> absl::StatusOr<std::unique_ptr<Workload>> {
                       return std::make_unique<FakeWorkload>(recorder_,
                                                             on_step_);
                     },
                     .synchronize = [this] { ++waits_; },
                     .device_allocations = [this] { return allocations_; },
                     .clock = clock_,
                     .recorder = recorder_,
                     .collector = *collector_,
                     .progress = progress_,
                     .stop = stop_,
                     .flush_l2 = [this] { on_flush_(); },
                     .sampler = sampler_});
    absl::StatusOr<WorkerResult> result = session.Run();
    phase_ = session.phase();
    if (result.ok()) trace_ = *ReadParquet(out());
    return result;
  }

  std::filesystem::path out() const { return dir_ / "out.parquet"; }

  // Rows of one kind by phase.
  std::map<Phase, int> Count(EventKind kind) const {
    std::map<Phase, int> counts;
    for (size_t row = 0; row < trace_.rows(); ++row) {
      if (trace_.kind[row] != kind) continue;
      ++counts[static_cast<Phase>(trace_.phase.at(row))];
    }
    return counts;
  }

  TempDir dir_;
  JobSpec spec_;
  DeviceKind device_ = DeviceKind::kCpu;
  bool standby_ = false;
  std::optional<double> ops_per_step_ = FakeWorkload::kRowsPerStep;
  int64_t memory_bytes_ = 0;
  int max_window_openings_ = 1;  // a busy machine must not change a test
  WindowClock clock_;
  FakeOpRecorder recorder_{clock_};
  std::unique_ptr<Collector> collector_ =
      std::make_unique<NullCollector>("no device");
  DeviceSampler* sampler_ = nullptr;
  std::function<absl::Status()> compile_;  // null: nothing is compiled
  FakeProgress progress_;
  std::atomic<bool> stop_{false};
  // Called in every step with its number, from 0.
  std::function<void(int64_t)> on_step_ = [](int64_t) {};
  int waits_ = 0;
  std::function<void()> on_flush_ = [] {};
  int64_t allocations_ = 0;  // of the device so far
  Phase phase_ = Phase::kSetup;
  Trace trace_;
};

}  // namespace traza

#endif  // TESTS_WORKER_SESSION_FIXTURE_H_
