// SPDX-License-Identifier: Apache-2.0
#include "server/jobs/live_jobs.h"

#include <poll.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/make_job.h"

namespace traza {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Job InState(const std::string& id, JobState state) {
  Job job = MakeJob(id);
  job.state = state;
  return job;
}

// Collects the states that a watcher sees.
class Seen {
 public:
  LiveJobs::Callback callback() {
    return [this](const JobSnapshot& job) {
      const MutexLock lock(mu_);
      states_.push_back(job->state);
    };
  }
  std::vector<JobState> states() {
    const MutexLock lock(mu_);
    return states_;
  }

 private:
  Mutex mu_;
  std::vector<JobState> states_ ABSL_GUARDED_BY(mu_);
};

TEST(LiveJobs, JobsLeaveTheirQueueInOrder) {
  LiveJobs live;
  live.Publish(MakeJob("a"));
  live.Publish(MakeJob("b"));

  EXPECT_EQ(live.queued(), 2);
  EXPECT_EQ(live.Pop("cpu")->id.value, "a");
  EXPECT_EQ(live.Pop("cpu")->id.value, "b");
  EXPECT_FALSE(live.Pop("cpu").has_value());
  EXPECT_FALSE(live.Pop("gpu0").has_value());
}

TEST(LiveJobs, ADeviceHasAJobQueuedUntilItIsTakenOrCancelled) {
  LiveJobs live;
  EXPECT_FALSE(live.HasQueued("cpu"));
  live.Publish(MakeJob("a"));
  EXPECT_TRUE(live.HasQueued("cpu"));
  EXPECT_FALSE(live.HasQueued("gpu0"));
  live.Pop("cpu");
  EXPECT_FALSE(live.HasQueued("cpu"));

  live.Publish(MakeJob("b"));
  live.Apply(InState("b", JobState::kCancelled));

  EXPECT_FALSE(live.HasQueued("cpu"));
}

TEST(LiveJobs, AJobThatCouldNotBeStartedIsNextAgain) {
  LiveJobs live;
  live.Publish(MakeJob("a"));
  live.Publish(MakeJob("b"));

  live.PushFront(*live.Pop("cpu"));

  EXPECT_EQ(live.Pop("cpu")->id.value, "a");
}

TEST(LiveJobs, PlacesInTheQueueCountBeforeTheirJobIsStored) {
  LiveJobs live;
  const auto first = live.Reserve(JobId{"a"}, "cpu", 2);
  const auto second = live.Reserve(JobId{"b"}, "cpu", 2);

  EXPECT_FALSE(first.full);
  EXPECT_FALSE(second.full);
  EXPECT_TRUE(live.Reserve(JobId{"c"}, "cpu", 2).full);
  EXPECT_FALSE(live.Reserve(JobId{"d"}, "gpu0", 2).full);

  live.Forget(JobId{"b"}, "cpu", second);
  EXPECT_FALSE(live.Reserve(JobId{"c"}, "cpu", 2).full);
}

TEST(LiveJobs, AReservedJobCanBeWatchedBeforeItIsPublished) {
  LiveJobs live;
  Seen seen;
  live.Reserve(JobId{"a"}, "cpu", 10);

  const auto watcher = live.Watch(JobId{"a"}, seen.callback());
  EXPECT_NE(watcher, nullptr);
  EXPECT_THAT(seen.states(), IsEmpty());
  live.Publish(MakeJob("a"));

  EXPECT_THAT(seen.states(), ElementsAre(JobState::kPending));
}

TEST(LiveJobs, AJobCancelledWhileItIsStoredIsNotQueued) {
  LiveJobs live;
  Seen seen;
  live.Reserve(JobId{"a"}, "cpu", 10);
  const auto watcher = live.Watch(JobId{"a"}, seen.callback());

  live.Apply(InState("a", JobState::kCancelled));
  live.Publish(MakeJob("a"));

  EXPECT_FALSE(live.Pop("cpu").has_value());
  EXPECT_EQ(live.Find(JobId{"a"}), nullptr);
  EXPECT_THAT(seen.states(), ElementsAre(JobState::kCancelled));
}

TEST(LiveJobs, AnotherJobOfTheSameIdIsNotForgotten) {
  LiveJobs live;
  live.Publish(MakeJob("a"));

  const auto place = live.Reserve(JobId{"a"}, "cpu", 10);
  live.Forget(JobId{"a"}, "cpu", place);

  EXPECT_NE(live.Find(JobId{"a"}), nullptr);
}

TEST(LiveJobs, WatchersSeeEveryChangeInOrderUntilTheEnd) {
  LiveJobs live;
  Seen seen;
  live.Publish(MakeJob("a"));
  const auto watcher = live.Watch(JobId{"a"}, seen.callback());

  live.Apply(InState("a", JobState::kRunning));
  live.Report(JobId{"a"}, Progress{Phase::kTraced, 1, 30}, {});
  live.Apply(InState("a", JobState::kSucceeded));
  live.Report(JobId{"a"}, Progress{Phase::kTraced, 2, 30}, {});

  EXPECT_THAT(seen.states(),
              ElementsAre(JobState::kPending, JobState::kRunning,
                          JobState::kRunning, JobState::kSucceeded));
  EXPECT_EQ(live.Find(JobId{"a"}), nullptr);
  EXPECT_EQ(live.Watch(JobId{"a"}, seen.callback()), nullptr);
}

TEST(LiveJobs, AChangeThatComesLateIsDropped) {
  LiveJobs live;
  live.Publish(MakeJob("a"));
  live.Apply(InState("a", JobState::kRunning));
  live.Apply(InState("a", JobState::kCancelling));

  live.Apply(InState("a", JobState::kRunning));

  EXPECT_EQ(live.Find(JobId{"a"})->state, JobState::kCancelling);
}

TEST(LiveJobs, CancellingKeepsTheProgressThatIsShown) {
  LiveJobs live;
  live.Publish(MakeJob("a"));
  live.Apply(InState("a", JobState::kRunning));
  live.Report(JobId{"a"}, Progress{Phase::kTraced, 7, 30},
              {{Phase::kSetup, absl::Seconds(1)}});

  live.Apply(InState("a", JobState::kCancelling));

  EXPECT_EQ(live.Find(JobId{"a"})->progress->done, 7);
  EXPECT_EQ(live.Find(JobId{"a"})->phase_times.size(), 1u);
}

TEST(LiveJobs, ARunnerIsWokenForAJobAndForACancel) {
  LiveJobs live;
  auto wakeup = Wakeup::Create();
  ASSERT_TRUE(wakeup.ok());
  live.SetWakeup("cpu", *wakeup);
  const auto woken = [&] {
    pollfd entry{(*wakeup)->fd(), POLLIN, 0};
    const bool yes = ::poll(&entry, 1, 0) == 1;
    (*wakeup)->Clear();
    return yes;
  };

  live.Publish(MakeJob("a"));
  EXPECT_TRUE(woken());
  live.Apply(InState("a", JobState::kRunning));
  EXPECT_FALSE(woken());
  live.Apply(InState("a", JobState::kCancelling));
  EXPECT_TRUE(woken());
}

TEST(LiveJobs, UnwatchWaitsForTheCallbackThatRuns) {
  LiveJobs live;
  live.Publish(MakeJob("a"));
  Mutex mu;
  CondVar changed;
  bool inside = false, leave = false;
  std::atomic<bool> done = false;
  const auto watcher = live.Watch(JobId{"a"}, [&](const JobSnapshot& job) {
    if (job->state == JobState::kPending) return;
    const MutexLock lock(mu);
    inside = true;
    changed.SignalAll();
    while (!leave) changed.Wait(mu);
    done = true;
  });
  std::jthread change([&] { live.Apply(InState("a", JobState::kRunning)); });
  {
    const MutexLock lock(mu);
    while (!inside) changed.Wait(mu);
  }

  std::jthread release([&] {
    const MutexLock lock(mu);
    leave = true;
    changed.SignalAll();
  });
  live.Unwatch(watcher);

  EXPECT_TRUE(done);
}

TEST(LiveJobs, AWatcherThatLeftHearsNothingMore) {
  LiveJobs live;
  Seen seen;
  live.Publish(MakeJob("a"));
  const auto watcher = live.Watch(JobId{"a"}, seen.callback());

  live.Unwatch(watcher);
  live.Apply(InState("a", JobState::kRunning));

  EXPECT_THAT(seen.states(), ElementsAre(JobState::kPending));
}

TEST(LiveJobs, ChangesFromManyThreadsComeInOrder) {
  LiveJobs live;
  live.Publish(MakeJob("a"));
  live.Apply(InState("a", JobState::kRunning));
  std::vector<int64_t> seen;  // of one callback at a time
  std::atomic<bool> inside = false;
  const auto watcher = live.Watch(JobId{"a"}, [&](const JobSnapshot& job) {
    EXPECT_FALSE(inside.exchange(true));
    if (job->progress.has_value()) seen.push_back(job->progress->done);
    inside = false;
  });

  {
    Mutex mu;
    int64_t next = 0;
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n < 200; ++n) {
          const MutexLock lock(mu);
          live.Report(JobId{"a"}, Progress{Phase::kTraced, next++, {}}, {});
        }
      });
    }
  }
  live.Unwatch(watcher);

  ASSERT_EQ(seen.size(), 800u);
  EXPECT_TRUE(std::ranges::is_sorted(seen));
}

}  // namespace
}  // namespace traza
