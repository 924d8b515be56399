// SPDX-License-Identifier: Apache-2.0
#include "client/client.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/error.h"
#include "tests/client/cli/fake_daemon.h"
#include "tests/support/status_matchers.h"

namespace traza {
namespace {

using testing::ElementsAre;

absl::Status Draining() {
  return ErrorBuilder(absl::StatusCode::kUnavailable, Reason::kDraining)
      .Build("The daemon is shutting down.");
}

class ClientTest : public testing::Test {
 protected:
  FakeDaemon daemon_;
};

TEST_F(ClientTest, TriesAgainWhileTheDaemonIsUnavailable) {
  FakeReplies replies{.errors = {Draining(), Draining()}};
  replies.job = FakeJob(v1::JOB_STATE_SUCCEEDED);
  daemon_.Set(replies);
  Client client({.server = daemon_.address()});

  EXPECT_THAT(client.GetJob({}), IsOk());

  EXPECT_THAT(daemon_.calls().names, ElementsAre("GetJob", "GetJob", "GetJob"));
}

TEST_F(ClientTest, GivesUpAfterFourTriesWithTheReason) {
  daemon_.Set({.errors = {Draining(), Draining(), Draining(), Draining()}});
  Client client({.server = daemon_.address()});

  EXPECT_THAT(client.GetJob({}),
              StatusIs(absl::StatusCode::kUnavailable, HasReason("DRAINING")));

  EXPECT_EQ(daemon_.calls().names.size(), 4u);
}

TEST_F(ClientTest, DoesNotRepeatADelete) {
  daemon_.Set({.errors = {Draining()}});
  Client client({.server = daemon_.address()});

  EXPECT_THAT(client.DeleteJob({}), StatusIs(absl::StatusCode::kUnavailable));

  EXPECT_THAT(daemon_.calls().names, ElementsAre("DeleteJob"));
}

TEST_F(ClientTest, DoesNotRepeatWhatWasRefused) {
  daemon_.Set({.errors = {ErrorBuilder(absl::StatusCode::kResourceExhausted,
                                       Reason::kQueueFull)
                              .RetryAfter(absl::Seconds(3))
                              .Build("The queue is full.")}});
  Client client({.server = daemon_.address()});

  const auto job = client.CreateJob({});

  EXPECT_THAT(job, StatusIs(absl::StatusCode::kResourceExhausted,
                            HasReason("QUEUE_FULL")));
  EXPECT_EQ(DetailsOf(job.status())->retry_after, absl::Seconds(3));
  EXPECT_THAT(daemon_.calls().names, ElementsAre("CreateJob"));
}

TEST_F(ClientTest, GivesEveryJobARequestId) {
  Client client({.server = daemon_.address()});

  ASSERT_THAT(client.CreateJob({}), IsOk());
  const std::string first = daemon_.calls().create.request_id();
  ASSERT_THAT(client.CreateJob({}), IsOk());

  EXPECT_NE(first, "");
  EXPECT_NE(daemon_.calls().create.request_id(), first);
}

TEST_F(ClientTest, NobodyListeningIsUnreachable) {
  TempDir dir;
  Client client({.server = "unix:" + (dir / "nobody").native()});

  EXPECT_THAT(client.GetHost(), StatusIs(absl::StatusCode::kUnavailable,
                                         HasReason("UNREACHABLE")));
}

TEST_F(ClientTest, SilenceIsUnreachableAfterTheDeadline) {
  // A listener that accepts nothing.
  TempDir dir;
  const std::string path = (dir / "silent").native();
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)),
            0);
  ASSERT_EQ(::listen(fd, 1), 0);
  Client client({.server = "unix:" + path, .deadline = absl::Milliseconds(50)});

  EXPECT_THAT(client.GetHost(), StatusIs(absl::StatusCode::kDeadlineExceeded,
                                         HasReason("UNREACHABLE")));
  ::close(fd);
}

TEST_F(ClientTest, WatchEndsWithTheJob) {
  daemon_.Set({.watches = {{FakeJob(v1::JOB_STATE_PENDING),
                            FakeJob(v1::JOB_STATE_SUCCEEDED)}}});
  Client client({.server = daemon_.address()});
  std::vector<v1::JobState> states;

  EXPECT_THAT(client.WatchJob({},
                              [&](const v1::Job& job) {
                                states.push_back(job.state());
                                return true;
                              }),
              IsOk());

  EXPECT_THAT(states,
              ElementsAre(v1::JOB_STATE_PENDING, v1::JOB_STATE_SUCCEEDED));
}

TEST_F(ClientTest, WatchEndsWhenTheCallerHasSeenEnough) {
  daemon_.Set({.watches = {{FakeJob(v1::JOB_STATE_PENDING),
                            FakeJob(v1::JOB_STATE_RUNNING)}}});
  Client client({.server = daemon_.address()});

  EXPECT_THAT(client.WatchJob({}, [](const v1::Job&) { return false; }),
              IsOk());
}

TEST_F(ClientTest, AFailureOfTheReaderEndsTheStream) {
  daemon_.Set({.file = std::string(100'000, 'x')});
  Client client({.server = daemon_.address()});

  EXPECT_THAT(client.ReadTrace({},
                               [](const v1::FileChunk&) {
                                 return absl::ResourceExhaustedError("full");
                               }),
              StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST_F(ClientTest, AnImportIsSentInBlocksThatTheDaemonTakes) {
  daemon_.Set({});
  Client client({.server = daemon_.address()});
  bool given = false;

  const auto trace = client.ImportTrace({}, [&] {
    return std::exchange(given, true) ? std::string()
                                      : std::string(3'000'000, 'x');
  });

  EXPECT_THAT(trace, IsOk());
  ASSERT_EQ(daemon_.calls().imports.size(), 1U);
  EXPECT_EQ(daemon_.calls().imports[0].bytes.size(), 3'000'000U);
}

TEST_F(ClientTest, AFailureOfTheFileEndsTheImport) {
  Client client({.server = daemon_.address()});

  EXPECT_THAT(client.ImportTrace(
                  {}, [] { return absl::DataLossError("the disk is broken"); }),
              StatusIs(absl::StatusCode::kDataLoss));
}

}  // namespace
}  // namespace traza
