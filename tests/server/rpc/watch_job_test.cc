// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "server/rpc/limits.h"
#include "tests/server/rpc/rpc_fixture.h"
#include "tests/support/wait_until.h"

namespace traza {
namespace {

// One open stream.
struct Watch {
  TestContext context;
  std::unique_ptr<grpc::ClientReader<v1::Job>> reader;
};

class WatchJobTest : public RpcFixture {
 protected:
  std::unique_ptr<Watch> Open(const std::string& name) {
    auto watch = std::make_unique<Watch>();
    v1::WatchJobRequest request;
    request.set_name(name);
    watch->reader = job_stub_->WatchJob(&watch->context, request);
    return watch;
  }

  static v1::JobState NextState(Watch& watch) {
    v1::Job job;
    return watch.reader->Read(&job) ? job.state() : v1::JOB_STATE_UNSPECIFIED;
  }
};

TEST_F(WatchJobTest, ShowsTheJobAtOnceThenEachChangeThenEnds) {
  const auto watch = Open(CreateNamed("a"));

  EXPECT_EQ(NextState(*watch), v1::JOB_STATE_PENDING);
  const Job job = StartNext();
  EXPECT_EQ(NextState(*watch), v1::JOB_STATE_RUNNING);
  Fail(job);
  EXPECT_EQ(NextState(*watch), v1::JOB_STATE_FAILED);
  EXPECT_EQ(NextState(*watch), v1::JOB_STATE_UNSPECIFIED);
  EXPECT_TRUE(watch->reader->Finish().ok());
}

TEST_F(WatchJobTest, AJobThatHasEndedIsShownOnce) {
  const std::string name = CreateNamed("a");
  Fail(StartNext());

  const auto watch = Open(name);

  EXPECT_EQ(NextState(*watch), v1::JOB_STATE_FAILED);
  EXPECT_EQ(NextState(*watch), v1::JOB_STATE_UNSPECIFIED);
  EXPECT_TRUE(watch->reader->Finish().ok());
}

TEST_F(WatchJobTest, UnknownAndBadNamesEndTheStream) {
  const auto unknown = Open("jobs/nothing");
  const auto bad = Open("nothing");

  EXPECT_EQ(NextState(*unknown), v1::JOB_STATE_UNSPECIFIED);
  EXPECT_THAT(FromGrpc(unknown->reader->Finish()), HasReason("JOB_NOT_FOUND"));
  EXPECT_EQ(NextState(*bad), v1::JOB_STATE_UNSPECIFIED);
  EXPECT_THAT(FromGrpc(bad->reader->Finish()), HasViolation("name"));
}

TEST_F(WatchJobTest, ManyQuickChangesEndWithTheFinalState) {
  const auto watch = Open(CreateNamed("a"));
  ASSERT_EQ(NextState(*watch), v1::JOB_STATE_PENDING);
  const Job job = StartNext();
  for (int i = 0; i < 10'000; ++i) {
    manager_.ReportProgress(job.id, {Phase::kTraced, i, 10'000}, {});
  }
  Fail(job);

  v1::Job last;
  int64_t done = -1;
  for (v1::Job next; watch->reader->Read(&next);) {
    EXPECT_GE(next.progress().done(), next.has_progress() ? done : 0);
    if (next.has_progress()) done = next.progress().done();
    last = next;
  }

  EXPECT_EQ(last.state(), v1::JOB_STATE_FAILED);
  EXPECT_TRUE(watch->reader->Finish().ok());
}

TEST_F(WatchJobTest, OneStreamTooManyIsRefusedUntilAnotherEnds) {
  const std::string name = CreateNamed("a");
  std::vector<std::unique_ptr<Watch>> watches;
  for (int i = 0; i < kMaxWatchStreams; ++i) {
    watches.push_back(Open(name));
    ASSERT_EQ(NextState(*watches.back()), v1::JOB_STATE_PENDING);
  }

  const auto refused = Open(name);
  EXPECT_EQ(NextState(*refused), v1::JOB_STATE_UNSPECIFIED);
  const absl::Status status = FromGrpc(refused->reader->Finish());
  watches.front()->context.TryCancel();

  EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted,
                               HasReason("TOO_MANY_REQUESTS")));
  EXPECT_TRUE(DetailsOf(status)->retry_after.has_value());
  EXPECT_TRUE(WaitUntil(
      [&] { return NextState(*Open(name)) == v1::JOB_STATE_PENDING; }));
}

TEST_F(WatchJobTest, LosingTheStreamChangesNothingForTheJob) {
  const std::string name = CreateNamed("a");
  {
    const auto watch = Open(name);
    ASSERT_EQ(NextState(*watch), v1::JOB_STATE_PENDING);
    watch->context.TryCancel();
  }

  const Job job = StartNext();
  Fail(job);

  EXPECT_EQ(Get(name)->state(), v1::JOB_STATE_FAILED);
}

TEST_F(WatchJobTest, ShutdownEndsOpenStreams) {
  const auto watch = Open(CreateNamed("a"));
  ASSERT_EQ(NextState(*watch), v1::JOB_STATE_PENDING);

  server_->Shutdown(absl::ZeroDuration());

  EXPECT_EQ(NextState(*watch), v1::JOB_STATE_UNSPECIFIED);
  EXPECT_FALSE(watch->reader->Finish().ok());
}

}  // namespace
}  // namespace traza
