// SPDX-License-Identifier: Apache-2.0
#include <future>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "api/convert_job.h"
#include "tests/server/rpc/rpc_fixture.h"

namespace traza {
namespace {

class WaitJobTest : public RpcFixture {
 protected:
  absl::StatusOr<v1::Job> Wait(const std::string& name,
                               absl::Duration timeout) {
    TestContext context;
    return Wait(context, name, timeout);
  }

  absl::StatusOr<v1::Job> Wait(grpc::ClientContext& context,
                               const std::string& name,
                               absl::Duration timeout) {
    v1::WaitJobRequest request;
    request.set_name(name);
    *request.mutable_timeout() = ToProto(timeout);
    v1::Job job;
    const grpc::Status status = job_stub_->WaitJob(&context, request, &job);
    if (!status.ok()) return FromGrpc(status);
    return job;
  }

  std::future<absl::StatusOr<v1::Job>> WaitInBackground(
      grpc::ClientContext& context, const std::string& name) {
    return std::async(std::launch::async, [this, &context, name] {
      return Wait(context, name, absl::Seconds(15));
    });
  }
};

TEST_F(WaitJobTest, AnswersWithTheJobAsItIsWhenTheTimeIsUp) {
  const std::string name = CreateNamed("a");

  EXPECT_EQ(Wait(name, absl::ZeroDuration())->state(), v1::JOB_STATE_PENDING);
  EXPECT_EQ(Wait(name, absl::Milliseconds(1))->state(), v1::JOB_STATE_PENDING);
}

TEST_F(WaitJobTest, AnswersWhenTheJobHasEnded) {
  const std::string name = CreateNamed("a");
  TestContext context;
  auto waiting = WaitInBackground(context, name);

  Fail(StartNext());

  EXPECT_EQ(waiting.get()->state(), v1::JOB_STATE_FAILED);
}

TEST_F(WaitJobTest, AJobThatHasEndedIsAnsweredAtOnce) {
  const std::string name = CreateNamed("a");
  Fail(StartNext());

  EXPECT_EQ(Wait(name, absl::Seconds(15))->state(), v1::JOB_STATE_FAILED);
}

TEST_F(WaitJobTest, BadArgumentsAreRefused) {
  EXPECT_THAT(Wait("jobs/nothing", absl::Seconds(1)),
              HasReason("JOB_NOT_FOUND"));
  EXPECT_THAT(Wait("nothing", absl::Seconds(1)), HasViolation("name"));
  EXPECT_THAT(Wait("jobs/a", -absl::Seconds(1)), HasViolation("timeout"));
}

TEST_F(WaitJobTest, ClientMayLeave) {
  const std::string name = CreateNamed("a");
  TestContext context;
  auto waiting = WaitInBackground(context, name);

  context.TryCancel();

  EXPECT_EQ(waiting.get().status().code(), absl::StatusCode::kCancelled);
  Fail(StartNext());
}

TEST_F(WaitJobTest, ShutdownEndsWaitingCalls) {
  const std::string name = CreateNamed("a");
  TestContext context;
  auto waiting = WaitInBackground(context, name);

  server_->Shutdown(absl::ZeroDuration());

  EXPECT_FALSE(waiting.get().ok());
}

}  // namespace
}  // namespace traza
