// SPDX-License-Identifier: Apache-2.0
#include "server/store/job_store.h"

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "server/store/job_json.h"
#include "tests/support/make_job.h"
#include "tests/support/scoped_mount.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace traza {
namespace {

using absl::StatusCode;
using testing::ElementsAre;
using testing::IsEmpty;

class JobStoreTest : public ::testing::Test {
 protected:
  JobStoreTest() { Reopen(); }

  void Reopen() {
    store_.reset();
    auto store = JobStore::Open(dir_ / "traza.db");
    EXPECT_THAT(store, IsOk());
    store_ = *std::move(store);
  }

  void Insert(const Job& job) {
    const auto inserted = store_->Insert(job, "");
    ASSERT_THAT(inserted, IsOk());
    ASSERT_TRUE(inserted->created);
  }

  // A job in a state, with what it would have there.
  Job InsertIn(JobState state, const std::string& id) {
    Job job = MakeJob(id);
    Insert(job);
    if (state == JobState::kPending) return job;
    job.state = state;
    job.start_time = job.create_time + absl::Seconds(1);
    EXPECT_THAT(store_->Transition(job, {JobState::kPending}), IsOk());
    return job;
  }

  TempDir dir_;
  std::unique_ptr<JobStore> store_;
};

TEST_F(JobStoreTest, RemembersWhatADeviceCanDo) {
  const DeviceRoofs first = {.flops_per_second = {{"bf16", 7e14}}};
  const DeviceRoofs second = {.flops_per_second = {{"bf16", 7.9e14}},
                              .memory_bytes_per_second = 4.3e12};
  EXPECT_THAT(store_->PutRoofs("GPU-1 driver 580", first, absl::UnixEpoch()),
              IsOk());
  EXPECT_THAT(store_->PutRoofs("GPU-1 driver 580", second, absl::UnixEpoch()),
              IsOk());
  Reopen();

  EXPECT_EQ(**store_->FindRoofs("GPU-1 driver 580"), second);
  EXPECT_EQ(*store_->FindRoofs("GPU-1 driver 590"), std::nullopt);
}

TEST_F(JobStoreTest, GivesBackEveryFieldAfterAReopen) {
  Job job = MakeJob("a");
  job.request_id = "r";
  Insert(job);
  job.state = JobState::kFailed;
  job.start_time = job.create_time + absl::Seconds(1);
  job.end_time = job.create_time + absl::Seconds(3);
  job.phase_times = {{Phase::kSetup, absl::Milliseconds(20)},
                     {Phase::kTraced, absl::Nanoseconds(5)}};
  job.standby = true;
  job.trace = TraceId{"t"};
  JobError error;
  error.reason = Reason::kWorkerCrashed;
  error.message = "It ended.";
  error.phase = Phase::kTraced;
  error.last_words = "Aborted\n";
  job.error = error;
  ASSERT_THAT(store_->Transition(job, {JobState::kPending}), IsOk());

  Reopen();

  EXPECT_THAT(store_->Get(job.id), IsOkAndHolds(job));
}

TEST_F(JobStoreTest, ProgressIsNotStored) {
  Job job = MakeJob("a");
  Insert(job);
  job.state = JobState::kRunning;
  job.progress = Progress{Phase::kTraced, 3, 30};

  const auto moved = store_->Transition(job, {JobState::kPending});

  ASSERT_THAT(moved, IsOk());
  EXPECT_FALSE(moved->job.progress.has_value());
  EXPECT_FALSE(store_->Get(job.id)->progress.has_value());
}

TEST_F(JobStoreTest, AnUnknownJobIsNotFound) {
  EXPECT_THAT(store_->Get(JobId{"none"}),
              StatusIs(StatusCode::kNotFound, HasReason(Reason::kJobNotFound)));
  EXPECT_THAT(store_->Transition(MakeJob("none"), {JobState::kPending}),
              StatusIs(StatusCode::kNotFound, HasReason(Reason::kJobNotFound)));
}

TEST_F(JobStoreTest, AJobIdIsUsedOnce) {
  Insert(MakeJob("a"));

  EXPECT_THAT(
      store_->Insert(MakeJob("a"), ""),
      StatusIs(StatusCode::kAlreadyExists, HasReason(Reason::kJobIdTaken)));
}

TEST_F(JobStoreTest, ARequestIdWithTheSameBodyGivesTheFirstJob) {
  Job first = MakeJob("a");
  first.request_id = "r";
  ASSERT_THAT(store_->Insert(first, "hash"), IsOk());
  Job again = MakeJob("b", 60);
  again.request_id = "r";

  const auto inserted = store_->Insert(again, "hash");

  ASSERT_THAT(inserted, IsOk());
  EXPECT_FALSE(inserted->created);
  EXPECT_EQ(inserted->job, first);
  EXPECT_THAT(store_->Get(again.id), StatusIs(StatusCode::kNotFound));
  const auto found = store_->FindRequest("r", "hash", again.create_time);
  ASSERT_THAT(found, IsOk());
  EXPECT_EQ(*found, first);
}

TEST_F(JobStoreTest, ARequestIdWithAnotherBodyIsRefused) {
  Job first = MakeJob("a");
  first.request_id = "r";
  ASSERT_THAT(store_->Insert(first, "hash"), IsOk());
  Job other = MakeJob("b", 60);
  other.request_id = "r";

  EXPECT_THAT(store_->Insert(other, "other hash"),
              StatusIs(StatusCode::kAlreadyExists,
                       HasReason(Reason::kRequestIdReused)));
  EXPECT_THAT(store_->FindRequest("r", "other hash", other.create_time),
              StatusIs(StatusCode::kAlreadyExists,
                       HasReason(Reason::kRequestIdReused)));
}

TEST_F(JobStoreTest, ARequestIdIsForgottenAfterADay) {
  Job first = MakeJob("a");
  first.request_id = "r";
  ASSERT_THAT(store_->Insert(first, "hash"), IsOk());
  Job later = MakeJob("b", 24 * 3600 + 1);
  later.request_id = "r";

  const auto found = store_->FindRequest("r", "hash", later.create_time);
  const auto inserted = store_->Insert(later, "other hash");

  ASSERT_THAT(found, IsOk());
  EXPECT_FALSE(found->has_value());
  ASSERT_THAT(inserted, IsOk());
  EXPECT_TRUE(inserted->created);
}

TEST_F(JobStoreTest, ARequestIdOfADeletedJobIsFree) {
  Job first = InsertIn(JobState::kFailed, "a");
  Job second = MakeJob("b");
  second.request_id = "r";
  ASSERT_THAT(store_->Insert(second, "hash"), IsOk());
  second.state = JobState::kCancelled;
  ASSERT_THAT(store_->Transition(second, {JobState::kPending}), IsOk());
  ASSERT_THAT(store_->DeleteJob(second.id), IsOk());
  Job third = MakeJob("c");
  third.request_id = "r";

  const auto inserted = store_->Insert(third, "other hash");

  ASSERT_THAT(inserted, IsOk());
  EXPECT_TRUE(inserted->created);
  EXPECT_THAT(store_->Get(first.id), IsOk());
}

TEST_F(JobStoreTest, WhoeverMovesAJobFirstWins) {
  Job cancelled = InsertIn(JobState::kPending, "a");
  Job running = cancelled;
  running.state = JobState::kRunning;
  cancelled.state = JobState::kCancelled;

  const auto first = store_->Transition(cancelled, {JobState::kPending});
  const auto second = store_->Transition(running, {JobState::kPending});

  ASSERT_THAT(first, IsOk());
  EXPECT_TRUE(first->moved);
  ASSERT_THAT(second, IsOk());
  EXPECT_FALSE(second->moved);
  EXPECT_EQ(second->job, cancelled);
}

TEST_F(JobStoreTest, OneOfManyThreadsMovesAJob) {
  const Job job = InsertIn(JobState::kPending, "a");
  std::atomic<int> moved = 0;

  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        Job mine = job;
        mine.state = JobState::kRunning;
        const auto result = store_->Transition(mine, {JobState::kPending});
        if (result.ok() && result->moved) ++moved;
        EXPECT_THAT(store_->Get(job.id), IsOk());
      });
    }
  }

  EXPECT_EQ(moved, 1);
}

TEST_F(JobStoreTest, FinishStoresJobTraceAndAnswerTogether) {
  Job job = InsertIn(JobState::kRunning, "a");
  job.state = JobState::kSucceeded;
  job.trace = TraceId{"t"};
  TraceRow trace = MakeTraceRow("t");
  trace.job = job.id;
  const std::string answer("bytes\0of it", 11);

  const auto finished =
      store_->Finish(job, {JobState::kRunning}, trace, answer);

  ASSERT_THAT(finished, IsOk());
  EXPECT_TRUE(finished->moved);
  EXPECT_THAT(store_->Get(job.id), IsOkAndHolds(job));
  EXPECT_THAT(store_->GetTrace(trace.id), IsOkAndHolds(trace));
  EXPECT_THAT(store_->GetAnswer(trace.id), IsOkAndHolds(answer));
}

TEST_F(JobStoreTest, FinishOfAJobThatMovedOnStoresNoTrace) {
  Job job = InsertIn(JobState::kFailed, "a");
  job.state = JobState::kSucceeded;

  const auto finished =
      store_->Finish(job, {JobState::kRunning}, MakeTraceRow("t"), "answer");

  ASSERT_THAT(finished, IsOk());
  EXPECT_FALSE(finished->moved);
  EXPECT_THAT(
      store_->GetTrace(TraceId{"t"}),
      StatusIs(StatusCode::kNotFound, HasReason(Reason::kTraceNotFound)));
}

TEST_F(JobStoreTest, ATraceOutlivesItsJob) {
  Job job = InsertIn(JobState::kRunning, "a");
  job.state = JobState::kSucceeded;
  TraceRow trace = MakeTraceRow("t");
  trace.job = job.id;
  ASSERT_THAT(store_->Finish(job, {JobState::kRunning}, trace, "answer"),
              IsOk());

  ASSERT_THAT(store_->DeleteJob(job.id), IsOk());

  EXPECT_THAT(store_->Get(job.id), StatusIs(StatusCode::kNotFound));
  EXPECT_THAT(store_->GetTrace(trace.id), IsOkAndHolds(trace));
}

TEST_F(JobStoreTest, AJobThatHasNotEndedIsNotDeleted) {
  const Job job = InsertIn(JobState::kRunning, "a");

  EXPECT_THAT(store_->DeleteJob(job.id),
              StatusIs(StatusCode::kFailedPrecondition,
                       HasReason(Reason::kJobNotDone)));
  EXPECT_THAT(store_->DeleteJob(JobId{"none"}),
              StatusIs(StatusCode::kNotFound, HasReason(Reason::kJobNotFound)));
}

TEST_F(JobStoreTest, InterruptedJobsFailAndCancelledOnesStayCancelled) {
  InsertIn(JobState::kPending, "pending");
  InsertIn(JobState::kRunning, "running");
  InsertIn(JobState::kCancelling, "cancelling");
  InsertIn(JobState::kSucceeded, "done");
  const absl::Time now = absl::FromUnixSeconds(kJobOriginSeconds + 99);

  const auto jobs = store_->FailInterrupted(now);

  ASSERT_THAT(jobs, IsOk());
  EXPECT_EQ(jobs->size(), 2u);
  const auto running = store_->Get(JobId{"running"});
  EXPECT_EQ(running->state, JobState::kFailed);
  EXPECT_EQ(running->error->reason, Reason::kDaemonRestarted);
  EXPECT_EQ(running->end_time, now);
  EXPECT_EQ(store_->Get(JobId{"cancelling"})->state, JobState::kCancelled);
  EXPECT_EQ(store_->Get(JobId{"pending"})->state, JobState::kPending);
  EXPECT_EQ(store_->Get(JobId{"done"})->state, JobState::kSucceeded);
  EXPECT_THAT(*store_->FailInterrupted(now), IsEmpty());
}

TEST_F(JobStoreTest, PendingJobsComeOldestFirst) {
  Insert(MakeJob("newer", 5));
  Insert(MakeJob("older", 1));
  InsertIn(JobState::kRunning, "running");

  const auto pending = store_->Pending();

  ASSERT_THAT(pending, IsOk());
  ASSERT_EQ(pending->size(), 2u);
  EXPECT_EQ((*pending)[0].id.value, "older");
  EXPECT_EQ((*pending)[1].id.value, "newer");
  EXPECT_THAT(store_->CountPending("cpu"), IsOkAndHolds(2));
  EXPECT_THAT(store_->CountPending("gpu0"), IsOkAndHolds(0));
}

TEST_F(JobStoreTest, DeletesATraceWithItsAnswer) {
  Job job = InsertIn(JobState::kRunning, "a");
  job.state = JobState::kSucceeded;
  ASSERT_THAT(store_->Finish(job, {JobState::kRunning}, MakeTraceRow("t"), "x"),
              IsOk());
  Reopen();
  ASSERT_EQ(store_->SumTraces()->bytes, 4096);

  ASSERT_THAT(store_->DeleteTrace(TraceId{"t"}), IsOk());

  EXPECT_THAT(
      store_->GetAnswer(TraceId{"t"}),
      StatusIs(StatusCode::kNotFound, HasReason(Reason::kTraceNotFound)));
  EXPECT_THAT(
      store_->DeleteTrace(TraceId{"t"}),
      StatusIs(StatusCode::kNotFound, HasReason(Reason::kTraceNotFound)));
  EXPECT_EQ(store_->SumTraces()->count, 0);
}

TEST_F(JobStoreTest, SaysWhenTheDiskIsFull) {
  TempDir dir;
  const auto mount = ScopedMount::Tmpfs(dir.path(), 1 << 20);
  if (!mount.ok()) GTEST_SKIP() << mount.status();
  auto store = JobStore::Open(dir / "traza.db");
  ASSERT_THAT(store, IsOk());
  ASSERT_THAT((*store)->CheckWritable(), IsOk());

  absl::Status status;
  int inserted = 0;
  for (; inserted < 2000 && status.ok(); ++inserted) {
    status =
        (*store)->Insert(MakeJob(absl::StrCat("job", inserted)), "").status();
  }

  EXPECT_THAT(status, StatusIs(StatusCode::kResourceExhausted,
                               HasReason(Reason::kStoreFull)));
  EXPECT_GT(inserted, 20);
  EXPECT_THAT((*store)->Get(JobId{"job0"}), IsOk());
}

TEST(JobJson, HashesWhatTheClientAskedFor) {
  JobRequest request;
  request.workload = "matmul_add";
  JobRequest other = request;
  other.seed = 1;

  EXPECT_EQ(HashRequest(request, ""), HashRequest(request, ""));
  EXPECT_NE(HashRequest(request, ""), HashRequest(other, ""));
  EXPECT_NE(HashRequest(request, ""), HashRequest(request, "id"));
}

TEST(JobJson, DamagedTextIsSaidToBe) {
  EXPECT_THAT(
      JobFromBody("{\"spec\":3}"),
      StatusIs(StatusCode::kDataLoss, HasReason(Reason::kStoreDamaged)));
  EXPECT_THAT(LabelsFromJson("[1"), StatusIs(StatusCode::kDataLoss,
                                             HasReason(Reason::kStoreDamaged)));
}

}  // namespace
}  // namespace traza
