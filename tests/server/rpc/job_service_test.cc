// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/job_service.h"

#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/check.h"
#include "base/mutex.h"
#include "tests/server/rpc/rpc_fixture.h"
#include "tests/support/wait_until.h"

namespace traza {
namespace {

using absl::StatusCode;

class JobServiceTest : public RpcFixture {
 protected:
  absl::StatusOr<v1::ListJobsResponse> List(
      const v1::ListJobsRequest& request) {
    TestContext context;
    v1::ListJobsResponse response;
    const grpc::Status status =
        job_stub_->ListJobs(&context, request, &response);
    if (!status.ok()) return FromGrpc(status);
    return response;
  }

  absl::StatusOr<v1::Job> Cancel(const std::string& name) {
    TestContext context;
    v1::CancelJobRequest request;
    request.set_name(name);
    v1::Job job;
    const grpc::Status status = job_stub_->CancelJob(&context, request, &job);
    if (!status.ok()) return FromGrpc(status);
    return job;
  }

  absl::Status Delete(const std::string& name) {
    TestContext context;
    v1::DeleteJobRequest request;
    request.set_name(name);
    google::protobuf::Empty empty;
    return FromGrpc(job_stub_->DeleteJob(&context, request, &empty));
  }

  // The last state that a stream of the job tells.
  v1::JobState WatchToTheEnd(const std::string& name) {
    TestContext context;
    v1::WatchJobRequest request;
    request.set_name(name);
    v1::Job job;
    const auto stream = job_stub_->WatchJob(&context, request);
    while (stream->Read(&job)) {
    }
    EXPECT_THAT(FromGrpc(stream->Finish()), IsOk());
    return job.state();
  }
};

TEST_F(JobServiceTest, CreateAnswersWithTheEffectiveJob) {
  const auto job = Create(CreateRequest());

  ASSERT_THAT(job, IsOk());
  EXPECT_THAT(job->name(), testing::StartsWith("jobs/"));
  EXPECT_EQ(job->state(), v1::JOB_STATE_PENDING);
  EXPECT_EQ(job->spec().variant(), "eager");
  EXPECT_EQ(job->spec().params().at("size"), "16");
  EXPECT_EQ(job->spec().traced_steps(), 30);
  EXPECT_GT(job->adjustments_size(), 0);
  EXPECT_THAT(Get(job->name()), IsOk());
}

TEST_F(JobServiceTest, ValidateOnlyStoresNothing) {
  v1::CreateJobRequest request = CreateRequest();
  request.set_validate_only(true);

  const auto job = Create(request);

  ASSERT_THAT(job, IsOk());
  EXPECT_EQ(job->name(), "");
  EXPECT_EQ(List({})->jobs_size(), 0);
}

TEST_F(JobServiceTest, FaultsOfAJobAreNamedByTheirPathInTheRequest) {
  v1::CreateJobRequest request = CreateRequest();
  (*request.mutable_job()->mutable_params())["size"] = "many";
  request.mutable_job()->set_traced_steps(0);

  const auto job = Create(request);

  EXPECT_THAT(job, StatusIs(StatusCode::kInvalidArgument,
                            HasReason("INVALID_ARGUMENT")));
  EXPECT_THAT(job, HasViolation("job.params[size]"));
  EXPECT_THAT(job, HasViolation("job.traced_steps"));
}

TEST_F(JobServiceTest, UnknownWorkloadIsNotFound) {
  v1::CreateJobRequest request = CreateRequest();
  request.mutable_job()->set_workload("nothing");

  EXPECT_THAT(Create(request),
              StatusIs(StatusCode::kNotFound, HasReason("WORKLOAD_NOT_FOUND")));
}

TEST_F(JobServiceTest, HugeNameIsRefusedAndNotRepeated) {
  v1::CreateJobRequest request = CreateRequest();
  request.mutable_job()->mutable_workload()->append(3'000'000, 'w');

  const auto job = Create(request);

  EXPECT_THAT(job, HasViolation("job.workload"));
  EXPECT_LE(job.status().message().size(), 300U);
}

TEST_F(JobServiceTest, RequestOverFourMebibytesIsRefused) {
  v1::CreateJobRequest request = CreateRequest();
  request.mutable_job()->mutable_workload()->append(10'000'000, 'w');

  EXPECT_THAT(Create(request), StatusIs(StatusCode::kResourceExhausted));
  EXPECT_THAT(Create(CreateRequest()), IsOk());
}

TEST_F(JobServiceTest, SameRequestIdIsTheSameJob) {
  v1::CreateJobRequest request = CreateRequest();
  request.set_request_id("once");
  const auto first = Create(request);
  ASSERT_THAT(first, IsOk());

  const auto second = Create(request);
  request.mutable_job()->set_seed(7);
  const auto third = Create(request);

  ASSERT_THAT(second, IsOk());
  EXPECT_EQ(second->name(), first->name());
  EXPECT_THAT(third, StatusIs(StatusCode::kAlreadyExists,
                              HasReason("REQUEST_ID_REUSED")));
}

TEST_F(JobServiceTest, GetOfAnUnknownJobIsNotFound) {
  EXPECT_THAT(Get("jobs/nothing"),
              StatusIs(StatusCode::kNotFound, HasReason("JOB_NOT_FOUND")));
  EXPECT_THAT(Get("nothing"), HasViolation("name"));
}

TEST_F(JobServiceTest, GetShowsProgress) {
  const std::string name = CreateNamed("a");
  const Job job = StartNext();
  manager_.ReportProgress(job.id, {Phase::kTraced, 3, 30}, {});

  const auto shown = Get(name);

  ASSERT_THAT(shown, IsOk());
  EXPECT_EQ(shown->state(), v1::JOB_STATE_RUNNING);
  EXPECT_EQ(shown->progress().done(), 3);
}

TEST_F(JobServiceTest, ListGoesThroughAllPagesNewestFirst) {
  for (int i = 0; i < 5; ++i) {
    CreateNamed(absl::StrCat("job", i));
    clock_.Advance(absl::Seconds(1));
  }
  v1::ListJobsRequest request;
  request.set_page_size(2);

  std::vector<std::string> names;
  do {
    const auto page = List(request);
    ASSERT_THAT(page, IsOk());
    for (const v1::Job& job : page->jobs()) names.push_back(job.name());
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty());

  EXPECT_THAT(names, testing::ElementsAre("jobs/job4", "jobs/job3", "jobs/job2",
                                          "jobs/job1", "jobs/job0"));
}

TEST_F(JobServiceTest, ListFilters) {
  CreateNamed("a");
  CreateNamed("b");
  StartNext();
  v1::ListJobsRequest request;
  request.set_filter("state=RUNNING AND workload=matmul_add");

  const auto page = List(request);

  ASSERT_THAT(page, IsOk());
  ASSERT_EQ(page->jobs_size(), 1);
  EXPECT_EQ(page->jobs(0).state(), v1::JOB_STATE_RUNNING);
}

TEST_F(JobServiceTest, PageTokenOfAnotherFilterIsRefused) {
  CreateNamed("a");
  CreateNamed("b");
  v1::ListJobsRequest request;
  request.set_page_size(1);
  request.set_page_token(List(request)->next_page_token());
  request.set_filter("state=PENDING");

  EXPECT_THAT(List(request), HasReason("PAGE_TOKEN_INVALID"));
}

TEST_F(JobServiceTest, PageOfLargeJobsEndsBeforeTheMessageIsTooLarge) {
  v1::CreateJobRequest request = CreateRequest();
  for (int i = 0; i < 32; ++i) {
    (*request.mutable_job()->mutable_labels())[absl::StrCat("k", i)] =
        std::string(255, 'v');
  }
  for (int i = 0; i < 500; ++i) {
    clock_.Advance(absl::Milliseconds(1));
    ASSERT_THAT(Create(request), IsOk());
  }
  v1::ListJobsRequest list;
  list.set_page_size(500);

  std::set<std::string> names;
  int pages = 0;
  do {
    const auto page = List(list);
    ASSERT_THAT(page, IsOk());
    for (const v1::Job& job : page->jobs()) names.insert(job.name());
    list.set_page_token(page->next_page_token());
    ++pages;
  } while (!list.page_token().empty());

  EXPECT_EQ(names.size(), 500U);
  EXPECT_GT(pages, 1);
}

TEST_F(JobServiceTest, CancelOfAQueuedJobIsImmediateAndRepeatable) {
  const std::string name = CreateNamed("a");

  EXPECT_EQ(Cancel(name)->state(), v1::JOB_STATE_CANCELLED);
  EXPECT_EQ(Cancel(name)->state(), v1::JOB_STATE_CANCELLED);
}

TEST_F(JobServiceTest, CancelOfAFailedJobIsAnError) {
  const std::string name = CreateNamed("a");
  Fail(StartNext());

  EXPECT_THAT(Cancel(name), StatusIs(StatusCode::kFailedPrecondition,
                                     HasReason("JOB_ALREADY_DONE")));
}

TEST_F(JobServiceTest, DeleteTakesOnlyWhatHasEnded) {
  const std::string name = CreateNamed("a");

  EXPECT_THAT(Delete(name), HasReason("JOB_NOT_DONE"));
  Fail(StartNext());
  EXPECT_THAT(Delete(name), IsOk());
  EXPECT_THAT(Delete(name), HasReason("JOB_NOT_FOUND"));
}

// ThreadSanitizer sees what calls share only when they overlap.
TEST_F(JobServiceTest, ClientsAtOnceEachTakeTheirJobsToTheEnd) {
  const auto take_jobs = [this](const std::string& client) {
    for (int i = 0; i < 10; ++i) {
      const std::string name = CreateNamed(absl::StrCat(client, i));
      std::thread watcher([this, &name] {
        EXPECT_EQ(WatchToTheEnd(name), v1::JOB_STATE_CANCELLED);
      });
      EXPECT_THAT(List({}), IsOk());
      EXPECT_THAT(Get(name), IsOk());
      EXPECT_THAT(Cancel(name), IsOk());
      EXPECT_THAT(metrics_.Text(), testing::HasSubstr("grpc_server"));
      watcher.join();
      EXPECT_THAT(Delete(name), IsOk());
    }
  };

  std::vector<std::thread> clients;
  for (const char* client : {"a", "b", "c"}) {
    clients.emplace_back(take_jobs, client);
  }
  for (std::thread& client : clients) client.join();

  EXPECT_EQ(List({})->jobs_size(), 0);
}

TEST_F(JobServiceTest, DrainingSaysWhenToRetry) {
  manager_.Drain();

  const auto job = Create(CreateRequest());

  EXPECT_THAT(job, StatusIs(StatusCode::kUnavailable, HasReason("DRAINING")));
  EXPECT_TRUE(DetailsOf(job.status())->retry_after.has_value());
}

TEST_F(JobServiceTest, CallsAreCounted) {
  (void)Get("jobs/nothing");

  // The client may have the answer before it is counted.
  EXPECT_TRUE(WaitUntil([this] {
    return absl::StrContains(metrics_.Text(), "grpc_server_handled_total{");
  }));
}

// Holds the only thread of the executor until released.
class Blocker {
 public:
  explicit Blocker(Executor& executor) {
    TRAZA_CHECK(executor.Post([this] {
      MutexLock lock(mu_);
      while (!released_) changed_.Wait(mu_);
    }));
  }
  void Release() {
    MutexLock lock(mu_);
    released_ = true;
    changed_.SignalAll();
  }

 private:
  Mutex mu_;
  CondVar changed_;
  bool released_ ABSL_GUARDED_BY(mu_) = false;
};

class FullExecutorTest : public RpcFixture {
 protected:
  FullExecutorTest() : RpcFixture({.threads = 1, .max_queued = 1}) {}
};

TEST_F(FullExecutorTest, CallsAreRefusedWithADelayAndWorkLater) {
  const std::string name = CreateNamed("a");
  Blocker blocker(*executor_);
  // The blocker may still be queued itself; then this one takes its place.
  while (!executor_->Post([] {})) std::this_thread::yield();
  while (executor_->Post([] {})) std::this_thread::yield();

  const auto refused = Get(name);
  TestContext context;
  v1::WatchJobRequest watch;
  watch.set_name(name);
  v1::Job ignored;
  const auto stream = job_stub_->WatchJob(&context, watch);
  EXPECT_FALSE(stream->Read(&ignored));
  const absl::Status refused_stream = FromGrpc(stream->Finish());
  blocker.Release();

  EXPECT_THAT(refused, StatusIs(StatusCode::kResourceExhausted,
                                HasReason("TOO_MANY_REQUESTS")));
  EXPECT_TRUE(DetailsOf(refused.status())->retry_after.has_value());
  EXPECT_THAT(refused_stream, HasReason("TOO_MANY_REQUESTS"));
  EXPECT_TRUE(WaitUntil([&] { return Get(name).ok(); }));
}

}  // namespace
}  // namespace traza
