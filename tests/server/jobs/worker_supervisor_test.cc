// SPDX-License-Identifier: Apache-2.0
#include "server/jobs/worker_supervisor.h"

#include <atomic>
#include <csignal>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/fake_clock.h"
#include "tests/support/fake_worker_launcher.h"
#include "tests/support/make_job.h"
#include "tests/support/wait_until.h"

namespace traza {
namespace {

using testing::HasSubstr;

// Runs a supervisor on a thread against a worker that the test plays.
const DeviceRoofs kRoofs = {.flops_per_second = {{"fp32", 1e11}}};

class WorkerSupervisorTest : public ::testing::Test {
 protected:
  WorkerSupervisorTest() {
    job_.spec.timeout = absl::Minutes(5);
    auto wakeup = Wakeup::Create();
    EXPECT_TRUE(wakeup.ok());
    wakeup_ = *wakeup;
    WorkerChannel channel(*launcher_.Launch({.device = "cpu"}), clock_);
    worker_ = launcher_.Await(0);
    thread_ = std::jthread([this, c = std::move(channel)]() mutable {
      SupervisorHooks hooks = {
          .cancelled = [this] { return cancelled_.load(); },
          .stop_time = [this] { return stop_time(); },
          .progressed =
              [this](const Progress& progress, const auto& times) {
                const MutexLock lock(mu_);
                progress_ = progress;
                times_ = times;
              }};
      outcome_ = WorkerSupervisor(limits_, hooks, *wakeup_, clock_)
                     .Run(std::move(c), job_, "/out.parquet", kRoofs);
    });
  }
  // A test that failed half-way must not wait for its worker for ever.
  ~WorkerSupervisorTest() override { worker_->Signal(SIGKILL); }

  void Start() {
    worker_->SayHello();
    ASSERT_TRUE(worker_->AwaitJob().has_value());
  }
  // In the phase, and the supervisor has heard of it.
  void Enter(Phase phase) {
    worker_->Say(PhaseStarted{phase});
    ASSERT_TRUE(WaitUntil([&] { return progress().phase == phase; }));
  }
  void Advance(absl::Duration by) {
    clock_.Advance(by);
    wakeup_->Notify();
  }
  // Time passes, and the worker shows that it lives. The supervisor hears it
  // before the clock goes on, or a slow machine would make it a silent worker.
  void Pass(absl::Duration time) {
    for (; time > absl::ZeroDuration(); time -= absl::Seconds(10)) {
      worker_->Say(Heartbeat{});
      ASSERT_TRUE(WaitUntil([&] { return worker_->heard(); }));
      Advance(absl::Seconds(10));
    }
  }
  void Cancel() {
    cancelled_ = true;
    wakeup_->Notify();
  }
  void SetStopTime(absl::Duration time) {
    {
      const MutexLock lock(mu_);
      stop_time_ = time;
    }
    wakeup_->Notify();
  }
  absl::Duration stop_time() {
    const MutexLock lock(mu_);
    return stop_time_;
  }
  Progress progress() {
    const MutexLock lock(mu_);
    return progress_;
  }
  const Outcome& Join() {
    thread_.join();
    return outcome_;
  }
  void ExpectError(Reason reason, const std::string& words,
                   WorkerExitReason exit) {
    const Outcome& outcome = Join();
    ASSERT_TRUE(outcome.error.has_value());
    EXPECT_EQ(TextOf(outcome.error->reason).name, TextOf(reason).name)
        << outcome.error->message;
    EXPECT_THAT(outcome.error->message, HasSubstr(words));
    EXPECT_EQ(outcome.exit, exit);
  }

  FakeClock clock_;
  FakeWorkerLauncher launcher_;
  SupervisorLimits limits_;
  Job job_ = MakeJob("a");
  std::shared_ptr<Wakeup> wakeup_;
  std::shared_ptr<FakeWorker> worker_;
  std::atomic<bool> cancelled_ = false;
  Mutex mu_;
  absl::Duration stop_time_ ABSL_GUARDED_BY(mu_) = absl::InfiniteDuration();
  Progress progress_ ABSL_GUARDED_BY(mu_);
  std::map<Phase, absl::Duration> times_ ABSL_GUARDED_BY(mu_);
  Outcome outcome_;
  std::jthread thread_;
};

constexpr ExitStatus kExitOk{0, std::nullopt};

TEST_F(WorkerSupervisorTest, AResultAndAnExitAreSuccess) {
  Start();
  Enter(Phase::kTraced);
  worker_->Say(WorkerResult{300, 9000, false});
  worker_->Exit(kExitOk);

  const Outcome& outcome = Join();

  EXPECT_FALSE(outcome.error.has_value());
  EXPECT_EQ(outcome.result->rows, 300);
  EXPECT_EQ(outcome.exit, WorkerExitReason::kOk);
}

TEST_F(WorkerSupervisorTest, SendsTheJobOnlyAfterHello) {
  worker_->SayHello();

  const auto start = worker_->AwaitJob();

  ASSERT_TRUE(start.has_value());
  EXPECT_EQ(start->spec, job_.spec);
  EXPECT_EQ(start->out, "/out.parquet");
  EXPECT_EQ(start->roofs, kRoofs);
  worker_->Exit(kExitOk);
}

TEST_F(WorkerSupervisorTest, PhasesAreTimed) {
  Start();
  Advance(absl::Seconds(2));
  Enter(Phase::kWarmup);
  Advance(absl::Seconds(3));
  Enter(Phase::kTraced);
  worker_->Say(WorkerResult{1, 1, false});
  worker_->Exit(kExitOk);

  const Outcome& outcome = Join();

  EXPECT_EQ(outcome.phase_times.at(Phase::kSetup), absl::Seconds(2));
  EXPECT_EQ(outcome.phase_times.at(Phase::kWarmup), absl::Seconds(3));
  EXPECT_EQ(outcome.progress.phase, Phase::kTraced);
}

TEST_F(WorkerSupervisorTest, AnExitWithoutAResultIsACrash) {
  Start();
  Enter(Phase::kTimed);
  worker_->Complain("something broke\n");
  worker_->Exit({3, std::nullopt});

  ExpectError(Reason::kWorkerCrashed, "exit 3", WorkerExitReason::kError);
  EXPECT_EQ(outcome_.error->phase, Phase::kTimed);
  EXPECT_EQ(outcome_.error->last_words, "something broke\n");
}

TEST_F(WorkerSupervisorTest, ASignalIsACrash) {
  Start();
  worker_->Exit({std::nullopt, SIGSEGV});

  ExpectError(Reason::kWorkerCrashed, "signal 11", WorkerExitReason::kSignal);
}

TEST_F(WorkerSupervisorTest, AKillThatIsNotOursHintsAtMemory) {
  Start();
  worker_->Exit({std::nullopt, SIGKILL});

  ExpectError(Reason::kWorkerCrashed, "memory", WorkerExitReason::kSignal);
}

TEST_F(WorkerSupervisorTest, AFileBeyondTheLimitIsTooLarge) {
  Start();
  worker_->Exit({std::nullopt, SIGXFSZ});

  ExpectError(Reason::kTraceTooLarge, "limit", WorkerExitReason::kError);
}

TEST_F(WorkerSupervisorTest, AWorkloadThatWentAwayIsItsOwnReason) {
  Start();
  worker_->Say(WorkerError{Reason::kWorkloadNotFound,
                           "There is no workload mine.", Phase::kSetup});
  worker_->Exit({1, std::nullopt});

  ExpectError(Reason::kWorkloadNotFound, "no workload mine",
              WorkerExitReason::kError);
}

TEST_F(WorkerSupervisorTest, ALongErrorKeepsItsLinesAndNothingElse) {
  Start();
  worker_->Say(WorkerError{Reason::kWorkerFailed,
                           "The model threw: boom\n  at \033[2J line 9\n",
                           Phase::kTraced});
  worker_->Exit({1, std::nullopt});

  const Outcome& outcome = Join();

  ASSERT_TRUE(outcome.error.has_value());
  EXPECT_EQ(outcome.error->message,
            "The model threw: boom\n  at \\x1b[2J line 9");
}

TEST_F(WorkerSupervisorTest, AnErrorOfTheWorkerIsPassedOn) {
  Start();
  worker_->Say(WorkerError{Reason::kOutOfMemory, "no memory", Phase::kTraced});
  worker_->Exit({1, std::nullopt});

  ExpectError(Reason::kOutOfMemory, "no memory", WorkerExitReason::kOom);
  EXPECT_EQ(outcome_.error->phase, Phase::kTraced);
}

TEST_F(WorkerSupervisorTest, AReasonThatAWorkerCannotKnowIsNotBelieved) {
  Start();
  worker_->Say(WorkerError{Reason::kStoreDamaged, "ha", std::nullopt});
  worker_->Exit({1, std::nullopt});

  ExpectError(Reason::kWorkerFailed, "ha", WorkerExitReason::kError);
}

TEST_F(WorkerSupervisorTest, NonsenseKillsTheWorker) {
  Start();
  worker_->SayBytes("nonsense\n");

  ExpectError(Reason::kWorkerProtocol, "", WorkerExitReason::kError);
  EXPECT_TRUE(worker_->killed());
}

TEST_F(WorkerSupervisorTest, APhaseThatComesBackIsNonsense) {
  Start();
  Enter(Phase::kTraced);
  worker_->Say(PhaseStarted{Phase::kWarmup});

  ExpectError(Reason::kWorkerProtocol, "warmup", WorkerExitReason::kError);
}

TEST_F(WorkerSupervisorTest, ProgressGoesOnAtABoundedRate) {
  Start();
  Enter(Phase::kTraced);
  worker_->Say(StepsDone{Phase::kTraced, 1, 30});
  worker_->Say(StepsDone{Phase::kTraced, 2, 30});

  // The first may have been told before the second was read; then that waits
  // for a period of its own.
  EXPECT_TRUE(WaitUntil([&] {
    Advance(limits_.progress_period);
    return progress().done == 2;
  }));
  EXPECT_EQ(progress().total, 30);
  worker_->Exit(kExitOk);
}

TEST_F(WorkerSupervisorTest, TheTimeoutOfTheJobStopsIt) {
  Start();
  Enter(Phase::kTraced);
  Pass(job_.spec.timeout);
  ASSERT_TRUE(worker_->AwaitSignal(SIGTERM));
  worker_->Exit({std::nullopt, SIGTERM});

  ExpectError(Reason::kPhaseTimeout, "5m", WorkerExitReason::kTimeout);
}

TEST_F(WorkerSupervisorTest, CompilingDoesNotCountAgainstTheTimeoutOfTheJob) {
  Start();
  Pass(absl::Seconds(30));
  Enter(Phase::kCompiling);
  Pass(absl::Minutes(9));
  Enter(Phase::kTimed);
  Pass(absl::Minutes(4));
  EXPECT_FALSE(worker_->got(SIGTERM));

  Pass(absl::Seconds(30));

  ASSERT_TRUE(worker_->AwaitSignal(SIGTERM));
  worker_->Exit({std::nullopt, SIGTERM});
  ExpectError(Reason::kPhaseTimeout, "timeout of 5m",
              WorkerExitReason::kTimeout);
}

TEST_F(WorkerSupervisorTest, CompilingHasALimitOfItsOwn) {
  Start();
  Enter(Phase::kCompiling);

  Pass(limits_.compiling);

  ASSERT_TRUE(worker_->AwaitSignal(SIGTERM));
  worker_->Exit({std::nullopt, SIGTERM});
  ExpectError(Reason::kPhaseTimeout, "phase compiling",
              WorkerExitReason::kTimeout);
}

TEST_F(WorkerSupervisorTest, ASetupThatHangsIsStopped) {
  Start();
  Pass(limits_.setup);
  ASSERT_TRUE(worker_->AwaitSignal(SIGTERM));
  worker_->Exit({std::nullopt, SIGTERM});

  ExpectError(Reason::kPhaseTimeout, "setup", WorkerExitReason::kTimeout);
}

TEST_F(WorkerSupervisorTest, AWorkerThatNeverSaysHelloIsStopped) {
  // Again and again: the thread may start after the first one.
  ASSERT_TRUE(WaitUntil([&] {
    Advance(limits_.setup);
    return worker_->got(SIGTERM);
  }));
  worker_->Exit({std::nullopt, SIGTERM});

  ExpectError(Reason::kPhaseTimeout, "setup", WorkerExitReason::kTimeout);
}

TEST_F(WorkerSupervisorTest, AWorkerThatFallsSilentIsStopped) {
  Start();
  Enter(Phase::kTraced);
  Advance(limits_.silence);
  ASSERT_TRUE(worker_->AwaitSignal(SIGTERM));
  worker_->Exit({std::nullopt, SIGTERM});

  ExpectError(Reason::kPhaseTimeout, "said nothing",
              WorkerExitReason::kTimeout);
}

TEST_F(WorkerSupervisorTest, AWorkerThatIgnoresSigtermIsKilledAfterTheGrace) {
  Start();
  Enter(Phase::kTraced);
  Cancel();
  ASSERT_TRUE(worker_->AwaitSignal(SIGTERM));
  EXPECT_FALSE(worker_->killed());
  Advance(limits_.grace);

  ExpectError(Reason::kCancelled, "", WorkerExitReason::kCancelled);
  EXPECT_TRUE(worker_->killed());
}

TEST_F(WorkerSupervisorTest, ACancelledWorkerMayKeepWhatItHas) {
  Start();
  Enter(Phase::kTraced);
  Cancel();
  ASSERT_TRUE(worker_->AwaitSignal(SIGTERM));
  worker_->Say(PhaseStarted{Phase::kStore});
  worker_->Say(WorkerResult{10, 100, true});
  worker_->Exit(kExitOk);

  ExpectError(Reason::kCancelled, "", WorkerExitReason::kCancelled);
  EXPECT_TRUE(outcome_.result->partial);
}

TEST_F(WorkerSupervisorTest, AWorkerThatWasDoneAnywayHasSucceeded) {
  Start();
  Enter(Phase::kStore);
  Cancel();
  ASSERT_TRUE(worker_->AwaitSignal(SIGTERM));
  worker_->Say(WorkerResult{10, 100, false});
  worker_->Exit(kExitOk);

  const Outcome& outcome = Join();

  EXPECT_FALSE(outcome.error.has_value());
  EXPECT_EQ(outcome.exit, WorkerExitReason::kOk);
}

TEST_F(WorkerSupervisorTest, AnErrorAfterACancelIsItsConsequence) {
  Start();
  Cancel();
  ASSERT_TRUE(worker_->AwaitSignal(SIGTERM));
  worker_->Say(WorkerError{Reason::kCancelled, "stopped", Phase::kSetup});
  worker_->Exit({1, std::nullopt});

  ExpectError(Reason::kCancelled, "on request", WorkerExitReason::kCancelled);
}

TEST_F(WorkerSupervisorTest, APartialResultThatNobodyAskedForIsACrash) {
  Start();
  Enter(Phase::kTraced);
  worker_->Say(WorkerResult{10, 100, true});
  worker_->Exit(kExitOk);

  ExpectError(Reason::kWorkerCrashed, "Somebody", WorkerExitReason::kSignal);
  EXPECT_TRUE(outcome_.result.has_value());
}

TEST_F(WorkerSupervisorTest, AStoppingDaemonStopsTheJob) {
  Start();
  Enter(Phase::kTraced);
  SetStopTime(clock_.Monotonic() + absl::Seconds(10));
  Advance(absl::Seconds(10));
  ASSERT_TRUE(worker_->AwaitSignal(SIGTERM));
  worker_->Exit({std::nullopt, SIGTERM});

  ExpectError(Reason::kDraining, "daemon", WorkerExitReason::kCancelled);
}

TEST_F(WorkerSupervisorTest, AfterItsResultAWorkerIsKilledAndNotWaitedFor) {
  Start();
  worker_->Say(WorkerResult{10, 100, false});

  const Outcome& outcome = Join();

  EXPECT_FALSE(outcome.error.has_value());
  EXPECT_EQ(outcome.exit, WorkerExitReason::kOk);
  EXPECT_TRUE(worker_->killed());
  EXPECT_NE(outcome.dying, nullptr);
}

TEST_F(WorkerSupervisorTest, AWorkerThatClosesItsSocketIsKilled) {
  Start();
  worker_->theirs.Reset();
  ASSERT_TRUE(WaitUntil([&] {
    Advance(limits_.exit);
    return worker_->killed();
  }));

  ExpectError(Reason::kWorkerCrashed, "closed", WorkerExitReason::kError);
}

}  // namespace
}  // namespace traza
