// SPDX-License-Identifier: Apache-2.0
// The bad days of workers, with real processes: each job fails for the right
// reason, the next one works, nothing is left behind.
#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/file.h"
#include "base/subprocess.h"
#include "server/jobs/device_runner.h"
#include "tests/server/jobs/runner_fixture.h"
#include "tests/support/status_matchers.h"
#include "tests/support/wait_until.h"

namespace traza {
namespace {

ProcessLauncherOptions LauncherOptions(const std::filesystem::path& data_dir) {
  ProcessLauncherOptions options;
  options.program = ExecutableDirectory() / "hostile_worker";
  options.data_dir = data_dir;
  options.max_trace_bytes = 64 << 20;
  options.environment = {"PATH=/usr/bin:/bin"};
  return options;
}

class HostileWorker : public ::testing::Test {
 protected:
  HostileWorker() {
    // Short, so that the tests are; the real ones are in the header.
    house_.options.limits.grace = absl::Milliseconds(300);
    house_.options.limits.exit = absl::Milliseconds(300);
    // On a busy machine a worker that behaves says nothing for seconds.
    house_.options.limits.silence = kTestPatience;
    house_.options.limits.max_trace_bytes = 64 << 20;
  }

  void Start(int standby_workers = 0) {
    house_.options.standby_workers = standby_workers;
    const auto description = launcher_.Describe();
    ASSERT_THAT(description, IsOk());
    house_.Start(*description);
  }

  static JobRequest Request(const std::string& mode,
                            const std::string& phase = "traced") {
    JobRequest request;
    request.workload = "hostile";
    request.params = {{"mode", mode}, {"phase", phase}};
    return request;
  }

  Job Run(const JobRequest& request) {
    return house_.AwaitEnd(house_.Create(request).id);
  }

  int Leftovers() {
    return KillProcessesWithEnvironment(WorkerMark(house_.dir.path()));
  }

  // The next job works, and neither files nor processes are left.
  void ExpectTheHouseInOrder() {
    const Job good = Run(Request("ok"));
    EXPECT_EQ(good.state, JobState::kSucceeded)
        << (good.error ? good.error->message : "");
    house_.Stop();
    EXPECT_TRUE(house_.TmpIsEmpty());
    EXPECT_EQ(Leftovers(), 0);
  }

  RunnerFixture house_{launcher_, Clock::Real()};
  ProcessLauncher launcher_{LauncherOptions(house_.dir.path())};
};

struct BadDay {
  const char* mode;
  const char* phase;
  Reason reason;
};

class HostileWorkerFails : public HostileWorker,
                           public ::testing::WithParamInterface<BadDay> {};

TEST_P(HostileWorkerFails, ItsJobAndOnlyThat) {
  JobRequest request = Request(GetParam().mode, GetParam().phase);
  const std::string mode = GetParam().mode;
  if (mode == "hang" || mode == "ignore_term") {
    request.timeout = absl::Seconds(1);
  }
  // Then the good job after it has that long to say something.
  if (mode == "silent") house_.options.limits.silence = absl::Seconds(5);
  Start();

  const Job job = Run(request);

  EXPECT_EQ(job.state, JobState::kFailed);
  ASSERT_TRUE(job.error.has_value());
  EXPECT_EQ(TextOf(job.error->reason).name, TextOf(GetParam().reason).name)
      << job.error->message;
  EXPECT_FALSE(job.trace.has_value());
  ExpectTheHouseInOrder();
}

std::string BadDayName(const ::testing::TestParamInfo<BadDay>& info) {
  return absl::StrCat(info.param.mode, "_in_", info.param.phase);
}

INSTANTIATE_TEST_SUITE_P(
    Modes, HostileWorkerFails,
    ::testing::Values(BadDay{"exit", "traced", Reason::kWorkerCrashed},
                      BadDay{"exit_zero", "traced", Reason::kWorkerCrashed},
                      BadDay{"kill_self", "traced", Reason::kWorkerCrashed},
                      BadDay{"error", "traced", Reason::kWorkerFailed},
                      BadDay{"oom", "traced", Reason::kOutOfMemory},
                      BadDay{"hang", "traced", Reason::kPhaseTimeout},
                      BadDay{"silent", "traced", Reason::kPhaseTimeout},
                      BadDay{"ignore_term", "traced", Reason::kPhaseTimeout},
                      BadDay{"flood", "traced", Reason::kWorkerProtocol},
                      BadDay{"garbage", "traced", Reason::kWorkerProtocol},
                      BadDay{"big_line", "traced", Reason::kWorkerProtocol},
                      BadDay{"wrong_version", "traced",
                             Reason::kWorkerProtocol},
                      BadDay{"backwards", "traced", Reason::kWorkerProtocol},
                      BadDay{"close_socket", "traced", Reason::kWorkerCrashed},
                      BadDay{"truncated", "store", Reason::kTraceIncomplete},
                      BadDay{"no_file", "store", Reason::kTraceIncomplete},
                      BadDay{"link", "store", Reason::kTraceIncomplete},
                      BadDay{"not_parquet", "store", Reason::kTraceIncomplete},
                      BadDay{"wrong_rows", "store", Reason::kTraceIncomplete},
                      BadDay{"empty", "store", Reason::kTraceEmpty},
                      BadDay{"huge_file", "store", Reason::kTraceTooLarge}),
    BadDayName);

INSTANTIATE_TEST_SUITE_P(
    Phases, HostileWorkerFails,
    ::testing::Values(BadDay{"segfault", "setup", Reason::kWorkerCrashed},
                      BadDay{"segfault", "warmup", Reason::kWorkerCrashed},
                      BadDay{"segfault", "timed", Reason::kWorkerCrashed},
                      BadDay{"segfault", "traced", Reason::kWorkerCrashed},
                      BadDay{"segfault", "flush", Reason::kWorkerCrashed},
                      BadDay{"segfault", "store", Reason::kWorkerCrashed},
                      BadDay{"hang", "setup", Reason::kPhaseTimeout},
                      BadDay{"hang", "flush", Reason::kPhaseTimeout},
                      BadDay{"hang", "store", Reason::kPhaseTimeout}),
    BadDayName);

// What is odd but no reason to fail.
class HostileWorkerSucceeds
    : public HostileWorker,
      public ::testing::WithParamInterface<const char*> {};

TEST_P(HostileWorkerSucceeds, AndLeavesNothing) {
  Start();

  const Job job = Run(Request(GetParam(), "store"));

  EXPECT_EQ(job.state, JobState::kSucceeded)
      << (job.error ? job.error->message : "");
  EXPECT_TRUE(job.trace.has_value());
  ExpectTheHouseInOrder();
}

INSTANTIATE_TEST_SUITE_P(Modes, HostileWorkerSucceeds,
                         ::testing::Values("ok", "fork", "crash_after_result",
                                           "linger", "flood_stderr"),
                         [](const auto& test) { return test.param; });

TEST_F(HostileWorker, LastWordsAndPhaseAreKept) {
  Start();
  JobRequest request = Request("flood_stderr");
  request.params["phase"] = "setup";

  ASSERT_EQ(Run(request).state, JobState::kSucceeded);
  const Job job = Run(Request("segfault", "timed"));

  EXPECT_EQ(job.error->phase, Phase::kTimed);
  EXPECT_EQ(job.phase_times.count(Phase::kWarmup), 1u);
  EXPECT_LE(job.error->last_words.size(), kLastWordsBytes);
}

TEST_F(HostileWorker, CancelKeepsWhatWasTraced) {
  house_.options.limits.grace = kTestPatience;  // it has to write a trace
  Start();
  const Job created = house_.Create(Request("slow"));
  house_.Await(created.id, [](const Job& job) {
    return job.progress && job.progress->phase == Phase::kTraced &&
           job.progress->done > 0;
  });

  ASSERT_THAT(house_.manager->Cancel(created.id), IsOk());

  const Job job = house_.AwaitEnd(created.id);
  EXPECT_EQ(job.state, JobState::kCancelled);
  ASSERT_TRUE(job.trace.has_value());
  EXPECT_TRUE(house_.job_store->GetTrace(*job.trace)->partial);
  ExpectTheHouseInOrder();
}

TEST_F(HostileWorker, CancelOfOneThatIgnoresItTakesTheGrace) {
  Start();
  const Job created = house_.Create(Request("ignore_term"));
  house_.Await(created.id, [](const Job& job) {
    return job.progress && job.progress->phase == Phase::kTraced;
  });

  ASSERT_THAT(house_.manager->Cancel(created.id), IsOk());

  const Job job = house_.AwaitEnd(created.id);
  EXPECT_EQ(job.state, JobState::kCancelled);
  EXPECT_FALSE(job.trace.has_value());
  ExpectTheHouseInOrder();
}

TEST_F(HostileWorker, APartialTraceThatNobodyAskedForIsKeptButNoSuccess) {
  Start();

  const Job job = Run(Request("partial"));

  EXPECT_EQ(job.state, JobState::kFailed);
  EXPECT_EQ(job.error->reason, Reason::kWorkerCrashed);
  EXPECT_TRUE(job.trace.has_value());
  ExpectTheHouseInOrder();
}

TEST_F(HostileWorker, AStandbyIsUsed) {
  Start(/*standby_workers=*/1);

  const Job job = Run(Request("ok"));

  EXPECT_EQ(job.state, JobState::kSucceeded);
  EXPECT_EQ(job.standby, true);
  ExpectTheHouseInOrder();
}

TEST_F(HostileWorker, WhatAWorkerLetGoOfIsKilledWithItsJob) {
  Start();

  EXPECT_EQ(Run(Request("fork_away")).state, JobState::kSucceeded);

  ExpectTheHouseInOrder();
}

TEST_F(HostileWorker, WhatAKilledDaemonLeftIsKilledAtTheNextStart) {
  SubprocessOptions left;
  left.program = "/bin/sleep";
  left.args = {"1000"};
  left.environment = {WorkerMark(house_.dir.path())};
  absl::StatusOr<Subprocess> process = Subprocess::Start(left);
  ASSERT_THAT(process, IsOk());

  Start();  // recovers first

  const std::optional<ExitStatus> exit = process->WaitFor(absl::ZeroDuration());
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->signal, SIGKILL);
}

TEST_F(HostileWorker, ShutdownStopsARunningJobWithinTheGrace) {
  Start();
  const Job created = house_.Create(Request("hang"));
  house_.Await(created.id, [](const Job& job) {
    return job.progress && job.progress->phase == Phase::kTraced;
  });

  house_.Stop();

  const auto job = house_.job_store->Get(created.id);
  EXPECT_EQ(job->state, JobState::kFailed);
  EXPECT_EQ(job->error->reason, Reason::kDraining);
  EXPECT_EQ(Leftovers(), 0);
}

}  // namespace
}  // namespace traza
