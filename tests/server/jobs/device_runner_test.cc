// SPDX-License-Identifier: Apache-2.0
#include "server/jobs/device_runner.h"

#include <csignal>
#include <filesystem>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/file.h"
#include "server/host/device_lease.h"
#include "tests/server/jobs/runner_fixture.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_worker_launcher.h"
#include "tests/support/hostile_trace.h"
#include "tests/support/make_job.h"
#include "tests/support/status_matchers.h"
#include "tests/support/wait_until.h"
#include "trace/file/parquet_file.h"

namespace traza {
namespace {

using testing::HasSubstr;

JobRequest Request() {
  JobRequest request;
  request.workload = "matmul_add";
  request.device = "cpu";
  request.labels = {{"team", "a"}};
  return request;
}

class DeviceRunnerTest : public ::testing::Test {
 protected:
  void Start(int standby_workers = 0) {
    house_.options.standby_workers = standby_workers;
    house_.Start(MakeDescription());
  }

  // Plays a worker that does what it should.
  static void DoTheJob(FakeWorker& worker, int64_t rows = 30,
                       bool partial = false) {
    const auto start = worker.AwaitJob();
    ASSERT_TRUE(start.has_value());
    const auto bytes =
        WriteParquet(MakeSimpleTrace(start->spec, rows), start->out);
    ASSERT_THAT(bytes, IsOk());
    worker.Say(PhaseStarted{Phase::kTraced});
    worker.Say(WorkerResult{rows, *bytes, partial});
    worker.Exit({0, std::nullopt});
  }

  FakeClock clock_;
  FakeWorkerLauncher launcher_;
  RunnerFixture house_{launcher_, clock_};
};

TEST_F(DeviceRunnerTest, AJobBecomesATrace) {
  Start();
  const Job created = house_.Create(Request());
  const auto worker = launcher_.Await(0);
  worker->SayHello();
  DoTheJob(*worker);

  const Job job = house_.AwaitEnd(created.id);

  EXPECT_EQ(job.state, JobState::kSucceeded);
  EXPECT_EQ(job.standby, false);
  ASSERT_TRUE(job.trace.has_value());
  const auto trace = house_.job_store->GetTrace(*job.trace);
  ASSERT_THAT(trace, IsOk());
  EXPECT_EQ(trace->rows, 30);
  EXPECT_EQ(trace->job, job.id);
  EXPECT_EQ(trace->labels, created.spec.labels);
  EXPECT_THAT(house_.job_store->GetAnswer(*job.trace),
              IsOkAndHolds(std::string("answer: matmul_add")));
  const auto path = house_.trace_store->PathOf(trace->id, trace->create_time);
  EXPECT_THAT(FileSha256(path), IsOkAndHolds(trace->sha256));
  EXPECT_THAT(FileSize(path), IsOkAndHolds(trace->size_bytes));
  EXPECT_TRUE(house_.TmpIsEmpty());
  EXPECT_THAT(house_.metrics.Text(),
              HasSubstr(R"(traza_worker_exits_total{reason="ok"} 1)"));
}

TEST_F(DeviceRunnerTest, JobsRunOneAfterTheOtherInOrder) {
  Start();
  const Job first = house_.Create(Request());
  const Job second = house_.Create(Request());
  const auto worker = launcher_.Await(0);
  EXPECT_EQ(launcher_.launched(), 1u);
  worker->SayHello();
  DoTheJob(*worker);
  EXPECT_EQ(house_.AwaitEnd(first.id).state, JobState::kSucceeded);

  const auto next = launcher_.Await(1);
  next->SayHello();
  DoTheJob(*next);

  EXPECT_EQ(house_.AwaitEnd(second.id).state, JobState::kSucceeded);
}

TEST_F(DeviceRunnerTest, AStandbyRunsAJobAndIsReplacedAfterIt) {
  Start(/*standby_workers=*/1);
  const auto standby = launcher_.Await(0);
  EXPECT_TRUE(standby->options.standby);
  standby->SayReady();
  ASSERT_TRUE(WaitUntil([&] {
    return absl::StrContains(house_.metrics.Text(),
                             R"(traza_standby_workers{device="cpu"} 1)");
  }));

  const Job created = house_.Create(Request());
  const auto start = standby->AwaitJob();
  ASSERT_TRUE(start.has_value());
  EXPECT_EQ(launcher_.launched(), 1u) << "no other worker while it measures";
  standby->Exit({1, std::nullopt});

  EXPECT_EQ(house_.AwaitEnd(created.id).standby, true);
  EXPECT_NE(launcher_.Await(1), nullptr);
}

TEST_F(DeviceRunnerTest, AColdJobGetsAFreshWorker) {
  Start(/*standby_workers=*/1);
  launcher_.Await(0)->SayReady();
  JobRequest request = Request();
  request.cold_steps = 2;

  const Job created = house_.Create(request);
  const auto worker = launcher_.Await(1);
  EXPECT_FALSE(worker->options.standby);
  worker->SayHello();
  DoTheJob(*worker);

  EXPECT_EQ(house_.AwaitEnd(created.id).standby, false);
}

TEST_F(DeviceRunnerTest, AWorkerThatCannotBeStartedFailsTheJobAndTheHealth) {
  launcher_.FailWith(
      ErrorBuilder(absl::StatusCode::kInternal, Reason::kWorkerNotStarted)
          .Build("no such program"));
  Start();
  const Job created = house_.Create(Request());

  const Job job = house_.AwaitEnd(created.id);

  EXPECT_EQ(job.state, JobState::kFailed);
  EXPECT_EQ(job.error->reason, Reason::kWorkerNotStarted);
  EXPECT_EQ(house_.host.unhealthy().count("worker"), 1u);
  launcher_.FailWith(absl::OkStatus());
  const Job next = house_.Create(Request());
  const auto worker = launcher_.Await(0);
  worker->SayHello();
  DoTheJob(*worker);
  EXPECT_EQ(house_.AwaitEnd(next.id).state, JobState::kSucceeded);
  EXPECT_EQ(house_.host.unhealthy().count("worker"), 0u);
}

TEST_F(DeviceRunnerTest, ACancelledJobKeepsItsPartialTrace) {
  Start();
  const Job created = house_.Create(Request());
  const auto worker = launcher_.Await(0);
  worker->SayHello();
  ASSERT_THAT(house_.manager->Cancel(created.id), IsOk());
  ASSERT_TRUE(worker->AwaitSignal(SIGTERM));
  DoTheJob(*worker, 20, /*partial=*/true);

  const Job job = house_.AwaitEnd(created.id);

  EXPECT_EQ(job.state, JobState::kCancelled);
  ASSERT_TRUE(job.trace.has_value());
  EXPECT_TRUE(house_.job_store->GetTrace(*job.trace)->partial);
}

TEST_F(DeviceRunnerTest, AJobThatHasEndedIsNoLongerCancelled) {
  Start();
  const Job created = house_.Create(Request());
  const auto worker = launcher_.Await(0);
  worker->SayHello();
  ASSERT_THAT(house_.manager->Cancel(created.id), IsOk());
  DoTheJob(*worker);

  EXPECT_EQ(house_.AwaitEnd(created.id).state, JobState::kSucceeded);
}

TEST_F(DeviceRunnerTest, AFileThatTheWorkerDidNotWriteIsIncomplete) {
  Start();
  const Job created = house_.Create(Request());
  const auto worker = launcher_.Await(0);
  worker->SayHello();
  ASSERT_TRUE(worker->AwaitJob().has_value());
  worker->Say(WorkerResult{10, 100, false});
  worker->Exit({0, std::nullopt});

  const Job job = house_.AwaitEnd(created.id);

  EXPECT_EQ(job.error->reason, Reason::kTraceIncomplete);
  EXPECT_EQ(job.error->phase, Phase::kStore);
  EXPECT_FALSE(job.trace.has_value());
}

TEST_F(DeviceRunnerTest, DrainingLetsARunningJobEnd) {
  Start();
  const Job running = house_.Create(Request());
  const Job queued = house_.Create(Request());
  const auto worker = launcher_.Await(0);
  worker->SayHello();
  std::jthread late([&] {
    // Long enough for the runner to be waited for below.
    EXPECT_FALSE(WaitUntil([&] { return worker->got(SIGTERM); },
                           absl::Milliseconds(80)));
    DoTheJob(*worker);
  });

  house_.Stop(/*patience=*/absl::Seconds(30));

  EXPECT_EQ(house_.job_store->Get(running.id)->state, JobState::kSucceeded);
  EXPECT_EQ(house_.job_store->Get(queued.id)->state, JobState::kPending);
}

TEST_F(DeviceRunnerTest, DrainingWithoutPatienceStopsARunningJob) {
  Start();
  const Job running = house_.Create(Request());
  const auto worker = launcher_.Await(0);
  worker->SayHello();
  ASSERT_TRUE(worker->AwaitJob().has_value());
  std::jthread end([&] {
    ASSERT_TRUE(worker->AwaitSignal(SIGTERM));
    worker->Exit({std::nullopt, SIGTERM});
  });

  house_.Stop();

  const auto job = house_.job_store->Get(running.id);
  EXPECT_EQ(job->state, JobState::kFailed);
  EXPECT_EQ(job->error->reason, Reason::kDraining);
}

TEST_F(DeviceRunnerTest, AfterARestartTheQueueGoesOn) {
  Start();
  const Job running = house_.Create(Request());
  const Job queued = house_.Create(Request());
  const auto worker = launcher_.Await(0);
  worker->SayHello();
  house_.manager->Drain();
  house_.runner->Drain(absl::Seconds(30));
  DoTheJob(*worker);
  house_.runner.reset();

  Start();
  const auto next = launcher_.Await(1);
  next->SayHello();
  DoTheJob(*next);

  EXPECT_EQ(house_.AwaitEnd(queued.id).state, JobState::kSucceeded);
  EXPECT_EQ(house_.AwaitEnd(running.id).state, JobState::kSucceeded);
}

// ---- The lease

class DeviceRunnerLeaseTest : public DeviceRunnerTest {
 protected:
  DeviceRunnerLeaseTest() {
    auto ours = DeviceLease::Create(folder_, "GPU-0000");
    auto others = DeviceLease::Create(folder_, "GPU-0000");
    EXPECT_THAT(ours, IsOk());
    EXPECT_THAT(others, IsOk());
    lease_ = *std::move(ours);
    other_ = *std::move(others);
    house_.lease = lease_.get();
    house_.options.lease_retry = absl::Milliseconds(5);
  }
  // The runner uses the lease.
  ~DeviceRunnerLeaseTest() override { house_.runner = nullptr; }

  // What another daemon does.
  bool OtherAcquires(DeviceLease::IfTaken if_taken) {
    const auto acquired = other_->TryAcquire(if_taken);
    EXPECT_THAT(acquired, IsOk());
    return acquired.ok() && *acquired;
  }
  bool OtherAcquiresAtLast(DeviceLease::IfTaken if_taken) {
    return WaitUntil([&] { return OtherAcquires(if_taken); });
  }
  // Long enough for a runner that would start a worker to do it.
  bool NothingIsLaunched(size_t before = 0) {
    return !WaitUntil([&] { return launcher_.launched() > before; },
                      absl::Milliseconds(60));
  }

  const std::filesystem::path folder_ = house_.dir.path() / "leases";
  std::unique_ptr<DeviceLease> lease_, other_;
};

TEST_F(DeviceRunnerLeaseTest, AJobWaitsWhileAnotherDaemonMeasures) {
  ASSERT_TRUE(OtherAcquires(DeviceLease::IfTaken::kQueueUp));
  Start();
  const Job created = house_.Create(Request());
  EXPECT_TRUE(NothingIsLaunched());
  EXPECT_EQ(house_.manager->Get(created.id)->state, JobState::kPending);

  other_->Release();
  const auto worker = launcher_.Await(0);
  worker->SayHello();
  EXPECT_FALSE(OtherAcquires(DeviceLease::IfTaken::kGiveUp));
  DoTheJob(*worker);

  EXPECT_EQ(house_.AwaitEnd(created.id).state, JobState::kSucceeded);
  EXPECT_TRUE(OtherAcquiresAtLast(DeviceLease::IfTaken::kGiveUp));
}

TEST_F(DeviceRunnerLeaseTest, AnotherDaemonIsNextWhateverWaitsHere) {
  Start();
  const Job first = house_.Create(Request());
  const Job second = house_.Create(Request());
  const auto worker = launcher_.Await(0);
  worker->SayHello();
  ASSERT_FALSE(OtherAcquires(DeviceLease::IfTaken::kQueueUp));
  DoTheJob(*worker);

  EXPECT_EQ(house_.AwaitEnd(first.id).state, JobState::kSucceeded);
  EXPECT_TRUE(OtherAcquiresAtLast(DeviceLease::IfTaken::kQueueUp));
  EXPECT_TRUE(NothingIsLaunched(1));
  other_->Release();
  const auto next = launcher_.Await(1);
  next->SayHello();
  DoTheJob(*next);
  EXPECT_EQ(house_.AwaitEnd(second.id).state, JobState::kSucceeded);
}

TEST_F(DeviceRunnerLeaseTest, AWaitingJobThatIsCancelledLeavesTheQueue) {
  ASSERT_TRUE(OtherAcquires(DeviceLease::IfTaken::kGiveUp));
  Start();
  const Job created = house_.Create(Request());
  EXPECT_TRUE(NothingIsLaunched());

  ASSERT_THAT(house_.manager->Cancel(created.id), IsOk());
  other_->Release();

  EXPECT_TRUE(OtherAcquiresAtLast(DeviceLease::IfTaken::kGiveUp));
  EXPECT_EQ(launcher_.launched(), 0u);
}

TEST_F(DeviceRunnerLeaseTest, NoStandbyLoadsWhileAnotherDaemonMeasures) {
  ASSERT_TRUE(OtherAcquires(DeviceLease::IfTaken::kGiveUp));
  Start(/*standby_workers=*/1);
  EXPECT_TRUE(NothingIsLaunched());

  other_->Release();

  EXPECT_NE(launcher_.Await(0), nullptr);
}

TEST_F(DeviceRunnerLeaseTest, TheDeviceIsLeasedWhileAStandbyLoads) {
  Start(/*standby_workers=*/1);
  const auto standby = launcher_.Await(0);
  EXPECT_FALSE(OtherAcquires(DeviceLease::IfTaken::kGiveUp));

  standby->SayReady();

  EXPECT_TRUE(OtherAcquiresAtLast(DeviceLease::IfTaken::kGiveUp));
}

TEST_F(DeviceRunnerLeaseTest, AJobRunsWhereNoLeaseCanBeHad) {
  std::filesystem::remove_all(folder_);
  Start();
  const Job created = house_.Create(Request());
  const auto worker = launcher_.Await(0);
  worker->SayHello();
  DoTheJob(*worker);

  EXPECT_EQ(house_.AwaitEnd(created.id).state, JobState::kSucceeded);
}

TEST_F(DeviceRunnerLeaseTest, AStopLeavesTheQueue) {
  ASSERT_TRUE(OtherAcquires(DeviceLease::IfTaken::kGiveUp));
  Start();
  const Job created = house_.Create(Request());
  EXPECT_TRUE(NothingIsLaunched());

  house_.Stop();
  other_->Release();

  EXPECT_TRUE(OtherAcquires(DeviceLease::IfTaken::kGiveUp));
  EXPECT_EQ(house_.job_store->Get(created.id)->state, JobState::kPending);
}

}  // namespace
}  // namespace traza
