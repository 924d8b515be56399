// SPDX-License-Identifier: Apache-2.0
#include "base/executor.h"

#include <atomic>
#include <latch>
#include <stdexcept>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace traza {
namespace {

TEST(Executor, RunsWhatIsPosted) {
  Executor executor({.threads = 2, .max_queued = 10});
  std::latch done(1);

  ASSERT_TRUE(executor.Post([&] { done.count_down(); }));

  done.wait();
}

TEST(Executor, RefusesWorkWhenTheQueueIsFull) {
  std::latch running(1);
  std::latch release(1);
  Executor executor({.threads = 1, .max_queued = 1});
  ASSERT_TRUE(executor.Post([&] {
    running.count_down();
    release.wait();
  }));
  running.wait();

  EXPECT_TRUE(executor.Post([] {}));
  EXPECT_FALSE(executor.Post([] {}));
  release.count_down();
}

TEST(Executor, DestructorRunsWhatIsQueued) {
  std::atomic<int> count{0};
  {
    Executor executor({.threads = 2, .max_queued = 1000});
    for (int i = 0; i < 500; ++i) {
      ASSERT_TRUE(executor.Post([&] { ++count; }));
    }
  }

  EXPECT_EQ(count, 500);
}

TEST(Executor, SurvivesExceptions) {
  std::latch done(1);
  Executor executor({.threads = 1, .max_queued = 10});

  ASSERT_TRUE(executor.Post([] { throw std::runtime_error("from a test"); }));
  ASSERT_TRUE(executor.Post([] { throw 42; }));
  ASSERT_TRUE(executor.Post([&] { done.count_down(); }));

  done.wait();
}

TEST(Executor, TakesWorkFromManyThreads) {
  std::atomic<int> count{0};
  {
    Executor executor({.threads = 3, .max_queued = 100'000});
    std::vector<std::jthread> posters;
    for (int t = 0; t < 4; ++t) {
      posters.emplace_back([&] {
        for (int i = 0; i < 1000; ++i) {
          ASSERT_TRUE(executor.Post([&] { ++count; }));
        }
      });
    }
    posters.clear();
  }

  EXPECT_EQ(count, 4000);
}

TEST(Executor, WorkMayPostMoreWork) {
  std::latch done(1);
  Executor executor({.threads = 1, .max_queued = 10});

  ASSERT_TRUE(executor.Post(
      [&] { EXPECT_TRUE(executor.Post([&] { done.count_down(); })); }));

  done.wait();
}

}  // namespace
}  // namespace traza
