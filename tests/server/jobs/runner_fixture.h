// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SERVER_JOBS_RUNNER_FIXTURE_H_
#define TESTS_SERVER_JOBS_RUNNER_FIXTURE_H_

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "gtest/gtest.h"

#include "server/jobs/device_runner.h"
#include "server/jobs/job_manager.h"
#include "server/jobs/trace_intake.h"
#include "tests/support/fake_worker_launcher.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace traza {

// A manager and a runner of the device "cpu" on a data folder of their own.
class RunnerFixture {
 public:
  RunnerFixture(WorkerLauncher& launcher, const Clock& clock)
      : launcher_(launcher), clock_(clock) {}

  // Opens the stores and starts the runner; also again after Stop().
  void Start(WorkerDescription description) {
    auto jobs = JobStore::Open(dir.path() / "traza.db");
    auto traces = TraceStore::Open(dir.path());
    ASSERT_THAT(jobs, IsOk());
    ASSERT_THAT(traces, IsOk());
    job_store = *std::move(jobs);
    trace_store = *std::move(traces);
    host.SetDescription(std::move(description));
    manager = std::make_unique<JobManager>(
        JobManagerOptions(), host, *job_store, *trace_store, metrics, clock_);
    ASSERT_THAT(manager->Recover(WorkerMark(dir.path())), IsOk());
    TraceIntakeOptions intake_options;
    intake_options.encode_answer = [](const Answer& answer) {
      return "answer: " + answer.workload;
    };
    intake = std::make_unique<TraceIntake>(intake_options, *trace_store);
    auto created = DeviceRunner::Create(
        options, {*manager, launcher_, *intake, metrics, clock_, lease});
    ASSERT_THAT(created, IsOk());
    runner = *std::move(created);
  }

  void Stop(absl::Duration patience = absl::ZeroDuration()) {
    manager->Drain();
    runner->Drain(patience);
    runner.reset();
  }

  Job Create(const JobRequest& request) {
    const auto job = manager->Create(request, {});
    EXPECT_THAT(job, IsOk());
    return job.ok() ? *job : Job();
  }

  // The job as it is once `condition` holds for it.
  template <typename Condition>
  Job Await(const JobId& id, Condition condition) {
    Mutex mu;
    CondVar changed;
    JobSnapshot found;
    const auto subscription =
        manager->Subscribe(id, [&](const JobSnapshot& job) {
          const MutexLock lock(mu);
          if (found == nullptr && condition(*job)) found = job;
          changed.SignalAll();
        });
    EXPECT_THAT(subscription, IsOk());
    const MutexLock lock(mu);
    while (found == nullptr && changed.WaitFor(mu, kTestPatience)) {
    }
    EXPECT_NE(found, nullptr) << "job " << id.value << " did not get there";
    return found != nullptr ? *found : Job();
  }
  Job AwaitEnd(const JobId& id) {
    return Await(id, [](const Job& job) { return IsFinal(job.state); });
  }
  bool TmpIsEmpty() const {
    return std::filesystem::is_empty(dir.path() / "tmp");
  }

  TempDir dir;
  DeviceRunnerOptions options{.device = "cpu", .standby_workers = 0};
  DeviceLease* lease = nullptr;
  HostRegistry host;
  Metrics metrics;
  std::unique_ptr<JobStore> job_store;
  std::unique_ptr<TraceStore> trace_store;
  std::unique_ptr<JobManager> manager;
  std::unique_ptr<TraceIntake> intake;
  std::unique_ptr<DeviceRunner> runner;

 private:
  WorkerLauncher& launcher_;
  const Clock& clock_;
};

}  // namespace traza

#endif  // TESTS_SERVER_JOBS_RUNNER_FIXTURE_H_
