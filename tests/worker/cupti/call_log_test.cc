// SPDX-License-Identifier: Apache-2.0
#include "worker/cupti/call_log.h"

#include <unistd.h>

#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/clock.h"
#include "tests/support/status_matchers.h"

namespace traza {
namespace {

constexpr CUpti_CallbackId kLaunch = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel;
constexpr CUpti_CallbackId kWait = CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize;

class CallLogTest : public testing::Test {
 protected:
  void Open(int64_t rows) {
    ASSERT_THAT(log_.Reserve(rows), IsOk());
    clock_.Open();
  }
  int64_t Drain() {
    clock_.Close();
    return log_.Drain(&records_);
  }

  WindowClock clock_;
  CallLog log_{clock_};
  RawRecords records_;
};

TEST_F(CallLogTest, ACallHasNameTimesThreadAndCorrelation) {
  Open(10);
  const int64_t before = RealtimeNs();
  const uint64_t call = log_.Enter(kLaunch, 17);
  log_.Exit(call, /*failed=*/false);
  const int64_t after = RealtimeNs();

  EXPECT_EQ(Drain(), 0);

  ASSERT_THAT(records_.host, testing::SizeIs(1));
  const RawHostEvent& event = records_.host[0];
  EXPECT_EQ(event.kind, EventKind::kCall);
  EXPECT_EQ(records_.names.at(event.name), "cuLaunchKernel");
  EXPECT_EQ(event.correlation, 17);
  EXPECT_EQ(event.process, getpid());
  EXPECT_EQ(event.thread, gettid());
  EXPECT_FALSE(event.failed);
  // The map between the clocks is good to a microsecond.
  EXPECT_GE(event.start_ns, before - 1000);
  EXPECT_LE(event.end_ns, after + 1000);
  EXPECT_LE(event.start_ns, event.end_ns);
}

TEST_F(CallLogTest, WaitsAreSyncsAndFailuresAreMarked) {
  Open(10);
  log_.Exit(log_.Enter(kWait, 1), /*failed=*/true);

  EXPECT_EQ(Drain(), 0);

  EXPECT_EQ(records_.host[0].kind, EventKind::kSync);
  EXPECT_TRUE(records_.host[0].failed);
}

TEST_F(CallLogTest, CallsBeyondTheRoomAreCounted) {
  Open(2);
  for (uint32_t i = 0; i < 5; ++i) {
    log_.Exit(log_.Enter(kLaunch, i), false);
  }

  EXPECT_EQ(Drain(), 3);
  EXPECT_THAT(records_.host, testing::SizeIs(2));
}

TEST_F(CallLogTest, RewindForgetsAndTheWindowHasAllTheRoom) {
  Open(2);
  for (uint32_t i = 0; i < 5; ++i) {
    log_.Exit(log_.Enter(kLaunch, i), false);
  }
  log_.Rewind();
  log_.Exit(log_.Enter(kLaunch, 77), false);

  EXPECT_EQ(Drain(), 0);
  ASSERT_THAT(records_.host, testing::SizeIs(1));
  EXPECT_EQ(records_.host[0].correlation, 77);
}

TEST_F(CallLogTest, ACallThatStillRunsEndsWithTheWindow) {
  Open(2);
  log_.Enter(kLaunch, 1);

  EXPECT_EQ(Drain(), 0);

  EXPECT_LE(records_.host[0].start_ns, records_.host[0].end_ns);
}

TEST_F(CallLogTest, ThreadsDoNotLoseEachOthersCalls) {
  constexpr int kThreads = 4;
  constexpr uint32_t kCalls = 1000;
  Open(kThreads * kCalls);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (uint32_t i = 0; i < kCalls; ++i) {
        log_.Exit(log_.Enter(kLaunch, i), false);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  EXPECT_EQ(Drain(), 0);
  EXPECT_THAT(records_.host, testing::SizeIs(kThreads * kCalls));
}

}  // namespace
}  // namespace traza
