// SPDX-License-Identifier: Apache-2.0
#include "server/jobs/job_manager.h"

#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/file.h"
#include "tests/support/fake_clock.h"
#include "tests/support/make_job.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace traza {
namespace {

using absl::StatusCode;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class JobManagerTest : public ::testing::Test {
 protected:
  JobManagerTest() {
    host_.SetDescription(MakeDescription());
    Restart();
  }

  // A new daemon on the same data folder.
  void Restart() {
    manager_.reset();
    jobs_.reset();
    auto jobs = JobStore::Open(dir_ / "traza.db");
    auto traces = TraceStore::Open(dir_.path());
    EXPECT_THAT(jobs, IsOk());
    EXPECT_THAT(traces, IsOk());
    jobs_ = *std::move(jobs);
    traces_ = *std::move(traces);
    manager_ = std::make_unique<JobManager>(options_, host_, *jobs_, *traces_,
                                            metrics_, clock_);
  }

  static JobRequest Request() {
    JobRequest request;
    request.workload = "matmul_add";
    request.device = "cpu";
    return request;
  }

  Job Create(const CreateJobOptions& options = {}) {
    const auto job = manager_->Create(Request(), options);
    EXPECT_THAT(job, IsOk());
    return job.ok() ? *job : Job();
  }

  Job Take(bool have_standby = false) {
    const auto job = manager_->TakeNext("cpu", have_standby);
    EXPECT_THAT(job, IsOk());
    EXPECT_TRUE(job->has_value());
    return job->value_or(Job());
  }

  // Ends a running job as its runner would.
  Job Finish(Job job, std::optional<JobError> error = std::nullopt) {
    job.error = std::move(error);
    job.state = job.error ? JobState::kFailed : JobState::kSucceeded;
    job.end_time = clock_.Now();
    const auto finished = manager_->Finish(job, nullptr);
    EXPECT_THAT(finished, IsOk());
    return *finished;
  }

  TempDir dir_;
  FakeClock clock_;
  JobManagerOptions options_;
  HostRegistry host_;
  Metrics metrics_;
  std::unique_ptr<JobStore> jobs_;
  std::unique_ptr<TraceStore> traces_;
  std::unique_ptr<JobManager> manager_;
};

TEST_F(JobManagerTest, ANewJobIsPendingStoredAndHasEveryDefault) {
  const Job job = Create();

  EXPECT_EQ(job.state, JobState::kPending);
  EXPECT_EQ(job.spec.params.at("size"), "64");
  EXPECT_EQ(job.create_time, clock_.Now());
  EXPECT_THAT(jobs_->Get(job.id), IsOkAndHolds(job));
  EXPECT_THAT(manager_->Get(job.id), IsOkAndHolds(job));
}

TEST_F(JobManagerTest, ValidateOnlyStoresNothing) {
  const Job job = Create({.validate_only = true});

  EXPECT_EQ(job.id.value, "");
  EXPECT_EQ(job.spec.params.at("size"), "64");
  EXPECT_THAT(manager_->List({}, 10, std::nullopt)->items, IsEmpty());
}

TEST_F(JobManagerTest, ARefusedRequestIsCounted) {
  JobRequest request = Request();
  request.workload = "none";

  EXPECT_THAT(manager_->Create(request, {}),
              HasReason(Reason::kWorkloadNotFound));

  EXPECT_THAT(
      metrics_.Text(),
      HasSubstr(R"(traza_jobs_rejected_total{reason="WORKLOAD_NOT_FOUND"} 1)"));
}

TEST_F(JobManagerTest, IdsAreChecked) {
  EXPECT_THAT(manager_->Create(Request(), {.job_id = "No Good"}),
              HasViolation("job_id"));
  EXPECT_THAT(
      manager_->Create(Request(), {.request_id = std::string(200, 'x')}),
      HasViolation("request_id"));
}

TEST_F(JobManagerTest, AProposedIdIsUsedOnce) {
  EXPECT_EQ(Create({.job_id = "mine"}).id.value, "mine");

  EXPECT_THAT(manager_->Create(Request(), {.job_id = "mine"}),
              HasReason(Reason::kJobIdTaken));
  EXPECT_THAT(manager_->Get(JobId{"mine"}), IsOk());
}

TEST_F(JobManagerTest, ARetryGetsItsJobEvenWhenTheQueueIsFull) {
  options_.max_queued_jobs = 1;
  Restart();
  const Job first = Create({.request_id = "r"});

  EXPECT_EQ(Create({.request_id = "r"}).id, first.id);
  EXPECT_THAT(
      manager_->Create(Request(), {}),
      StatusIs(StatusCode::kResourceExhausted, HasReason(Reason::kQueueFull)));
}

TEST_F(JobManagerTest, ARequestIdWithAnotherBodyIsRefused) {
  Create({.request_id = "r"});
  JobRequest other = Request();
  other.seed = 7;

  EXPECT_THAT(manager_->Create(other, {.request_id = "r"}),
              HasReason(Reason::kRequestIdReused));
}

TEST_F(JobManagerTest, ManyThreadsWithOneRequestIdMakeOneJob) {
  std::vector<std::string> ids(8);
  {
    std::vector<std::jthread> threads;
    for (std::string& id : ids) {
      threads.emplace_back([&] {
        const auto job = manager_->Create(Request(), {.request_id = "r"});
        if (job.ok()) id = job->id.value;
      });
    }
  }

  EXPECT_THAT(ids, testing::Each(ids[0]));
  EXPECT_NE(ids[0], "");
  EXPECT_EQ(manager_->List({}, 10, std::nullopt)->items.size(), 1u);
  EXPECT_EQ(Take().id.value, ids[0]);
  EXPECT_FALSE(manager_->TakeNext("cpu", false)->has_value());
}

TEST_F(JobManagerTest, AFullStoreAcceptsNoJob) {
  WorkerDescription description = MakeDescription();
  description.workloads[0].cost.ops = {{.coefficient = 7}};
  host_.SetDescription(description);
  options_.max_store_bytes = 1;
  Restart();

  EXPECT_THAT(
      manager_->Create(Request(), {}),
      StatusIs(StatusCode::kResourceExhausted, HasReason(Reason::kStoreFull)));
}

TEST_F(JobManagerTest, WithoutADescriptionItSaysWhy) {
  host_.SetDescription({});
  host_.SetHealth("worker", absl::InternalError("no such program"));

  const auto job = manager_->Create(Request(), {});

  EXPECT_THAT(job, StatusIs(StatusCode::kUnavailable,
                            HasReason(Reason::kWorkerNotStarted)));
  EXPECT_THAT(std::string(job.status().message()),
              HasSubstr("no such program"));
}

TEST_F(JobManagerTest, WhileDrainingNothingIsAcceptedAndNothingStarts) {
  Create();

  manager_->Drain();

  EXPECT_THAT(manager_->Create(Request(), {}),
              StatusIs(StatusCode::kUnavailable, HasReason(Reason::kDraining)));
  EXPECT_FALSE(manager_->TakeNext("cpu", false)->has_value());
  EXPECT_EQ(host_.unhealthy().count("draining"), 1u);
}

TEST_F(JobManagerTest, ACancelledQueuedJobNeverStarts) {
  const Job job = Create();

  const auto cancelled = manager_->Cancel(job.id);

  ASSERT_THAT(cancelled, IsOk());
  EXPECT_EQ(cancelled->state, JobState::kCancelled);
  EXPECT_EQ(cancelled->error->reason, Reason::kCancelled);
  EXPECT_FALSE(manager_->TakeNext("cpu", false)->has_value());
  EXPECT_THAT(manager_->Cancel(job.id), IsOkAndHolds(*cancelled));
}

TEST_F(JobManagerTest, ARunningJobIsAskedToStop) {
  const Job job = Create();
  Take();
  EXPECT_FALSE(manager_->CancelRequested(job.id));

  const auto cancelling = manager_->Cancel(job.id);

  ASSERT_THAT(cancelling, IsOk());
  EXPECT_EQ(cancelling->state, JobState::kCancelling);
  EXPECT_TRUE(manager_->CancelRequested(job.id));
  EXPECT_EQ(manager_->Cancel(job.id)->state, JobState::kCancelling);
}

TEST_F(JobManagerTest, AJobCancelledTooLateKeepsItsEnd) {
  Create();
  const Job running = Take();
  ASSERT_THAT(manager_->Cancel(running.id), IsOk());

  EXPECT_EQ(Finish(running).state, JobState::kSucceeded);

  EXPECT_THAT(manager_->Cancel(running.id),
              StatusIs(StatusCode::kFailedPrecondition,
                       HasReason(Reason::kJobAlreadyDone)));
}

TEST_F(JobManagerTest, AnUnknownJobIsNotFound) {
  const JobId id{"none"};

  EXPECT_THAT(manager_->Get(id), HasReason(Reason::kJobNotFound));
  EXPECT_THAT(manager_->Cancel(id), HasReason(Reason::kJobNotFound));
  EXPECT_THAT(manager_->Delete(id), HasReason(Reason::kJobNotFound));
  EXPECT_THAT(manager_->Subscribe(id, [](const JobSnapshot&) {}),
              HasReason(Reason::kJobNotFound));
}

TEST_F(JobManagerTest, AStandbyRunsOnlyJobsWithoutColdSteps) {
  Create();
  JobRequest cold = Request();
  cold.cold_steps = 3;
  ASSERT_THAT(manager_->Create(cold, {}), IsOk());

  EXPECT_EQ(Take(/*have_standby=*/true).standby, true);
  EXPECT_EQ(Take(/*have_standby=*/true).standby, false);
}

TEST_F(JobManagerTest, ProgressIsSeenInGetAndListButNotStored) {
  Create();
  const Job job = Take();

  manager_->ReportProgress(job.id, {Phase::kTraced, 7, 30},
                           {{Phase::kSetup, absl::Seconds(1)}});

  EXPECT_EQ(manager_->Get(job.id)->progress->done, 7);
  EXPECT_EQ(manager_->List({}, 10, std::nullopt)->items[0].progress->done, 7);
  EXPECT_FALSE(jobs_->Get(job.id)->progress.has_value());
}

TEST_F(JobManagerTest, ASubscriberSeesTheWholeLife) {
  const Job job = Create();
  std::vector<JobState> states;

  const auto subscription = manager_->Subscribe(
      job.id, [&](const JobSnapshot& j) { states.push_back(j->state); });
  ASSERT_THAT(subscription, IsOk());
  Finish(Take());

  EXPECT_THAT(states, ElementsAre(JobState::kPending, JobState::kRunning,
                                  JobState::kSucceeded));
}

TEST_F(JobManagerTest, ASubscriberOfAFinalJobGetsOneCall) {
  Create();
  const Job job = Finish(Take());
  std::vector<JobState> states;

  const auto subscription = manager_->Subscribe(
      job.id, [&](const JobSnapshot& j) { states.push_back(j->state); });

  ASSERT_THAT(subscription, IsOk());
  EXPECT_THAT(states, ElementsAre(JobState::kSucceeded));
}

TEST_F(JobManagerTest, AnEndedJobCanBeDeletedARunningOneCannot) {
  Create();
  const Job job = Take();
  EXPECT_THAT(manager_->Delete(job.id), HasReason(Reason::kJobNotDone));

  Finish(job);

  EXPECT_THAT(manager_->Delete(job.id), IsOk());
  EXPECT_THAT(manager_->Get(job.id), HasReason(Reason::kJobNotFound));
}

TEST_F(JobManagerTest, AfterARestartQueuedJobsRunAndInterruptedOnesHaveFailed) {
  Create({.job_id = "running"});
  Take();
  Create({.job_id = "cancelling"});
  Take();
  ASSERT_THAT(manager_->Cancel(JobId{"cancelling"}), IsOk());
  Create({.job_id = "queued-1"});
  clock_.Advance(absl::Seconds(1));
  Create({.job_id = "queued-2"});
  ASSERT_THAT(WriteFileAtomically(dir_ / "tmp" / "running.parquet", "x"),
              IsOk());
  const std::filesystem::path lost = traces_->PathOf({"lost"}, clock_.Now());
  std::filesystem::create_directories(lost.parent_path());
  ASSERT_THAT(WriteFileAtomically(lost, "x"), IsOk());
  Restart();

  ASSERT_THAT(manager_->Recover("TRAZA_DATA_DIR=/nowhere"), IsOk());

  const auto running = manager_->Get(JobId{"running"});
  EXPECT_EQ(running->state, JobState::kFailed);
  EXPECT_EQ(running->error->reason, Reason::kDaemonRestarted);
  EXPECT_EQ(manager_->Get(JobId{"cancelling"})->state, JobState::kCancelled);
  EXPECT_EQ(Take().id.value, "queued-1");
  EXPECT_EQ(Take().id.value, "queued-2");
  EXPECT_FALSE(std::filesystem::exists(lost));
  EXPECT_TRUE(std::filesystem::is_empty(dir_ / "tmp"));
}

TEST_F(JobManagerTest, AQueuedJobWhoseDeviceIsGoneFails) {
  JobRequest request = Request();
  request.device = "gpu0";
  const auto job = manager_->Create(request, {});
  ASSERT_THAT(job, IsOk());
  WorkerDescription description = MakeDescription();
  description.devices.resize(1);
  host_.SetDescription(description);
  Restart();

  ASSERT_THAT(manager_->Recover("TRAZA_DATA_DIR=/nowhere"), IsOk());

  EXPECT_EQ(manager_->Get(job->id)->state, JobState::kFailed);
  EXPECT_EQ(manager_->Get(job->id)->error->reason, Reason::kDeviceNotFound);
}

TEST_F(JobManagerTest, AQueuedJobWhoseDeviceIsBrokenFails) {
  const Job job = Create();
  WorkerDescription description = MakeDescription();
  description.devices[0].unavailable = "It is on fire.";
  host_.SetDescription(description);
  Restart();

  ASSERT_THAT(manager_->Recover("TRAZA_DATA_DIR=/nowhere"), IsOk());

  EXPECT_EQ(manager_->Get(job.id)->error->reason, Reason::kDeviceUnavailable);
}

TEST_F(JobManagerTest, CountsWhatHappens) {
  Create();
  Create();
  EXPECT_THAT(metrics_.Text(),
              HasSubstr(R"(traza_jobs_queued{class="interactive"} 2)"));
  const Job job = Take();
  EXPECT_THAT(metrics_.Text(),
              HasSubstr(R"(traza_jobs_running{device="cpu"} 1)"));
  Finish(job);

  const std::string text = metrics_.Text();
  EXPECT_THAT(text, HasSubstr(R"(traza_jobs_running{device="cpu"} 0)"));
  EXPECT_THAT(text, HasSubstr(R"(traza_jobs_queued{class="interactive"} 1)"));
  EXPECT_THAT(
      text,
      HasSubstr(R"(traza_jobs_submitted_total{workload="matmul_add"} 2)"));
}

TEST_F(JobManagerTest, CancelAndFinishRaceToOneEnd) {
  for (int i = 0; i < 30; ++i) {
    Create();
    const Job job = Take();
    absl::StatusOr<Job> cancelled = absl::InternalError("not called");
    {
      std::jthread cancel([&] { cancelled = manager_->Cancel(job.id); });
      Finish(job);
    }
    EXPECT_EQ(manager_->Get(job.id)->state, JobState::kSucceeded);
    if (!cancelled.ok()) {
      EXPECT_THAT(cancelled, HasReason(Reason::kJobAlreadyDone));
    }
  }
}

}  // namespace
}  // namespace traza
