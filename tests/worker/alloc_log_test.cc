// SPDX-License-Identifier: Apache-2.0
#include "worker/alloc_log.h"

#include <unistd.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/clock.h"
#include "tests/support/status_matchers.h"

namespace traza {
namespace {

using ::testing::SizeIs;

class AllocLogTest : public testing::Test {
 protected:
  WindowClock clock_;
  AllocLog log_{clock_};
  RawRecords records_;
};

TEST_F(AllocLogTest, KeepsBytesDeviceThreadAndTime) {
  ASSERT_THAT(log_.Reserve(10), IsOk());
  clock_.Open();
  const int64_t before = RealtimeNs();
  log_.Add(512, 0);
  log_.Add(-512, kNull<int32_t>);
  clock_.Close();

  EXPECT_EQ(log_.Drain(&records_), 0);

  ASSERT_THAT(records_.allocs, SizeIs(2));
  EXPECT_EQ(records_.allocs[0].bytes, 512);
  EXPECT_EQ(records_.allocs[0].device, 0);
  EXPECT_EQ(records_.allocs[0].thread, gettid());
  EXPECT_EQ(records_.allocs[0].process, getpid());
  EXPECT_GE(records_.allocs[0].time_ns, before - 1000);
  EXPECT_EQ(records_.allocs[1].bytes, -512);
  EXPECT_EQ(records_.allocs[1].device, kNull<int32_t>);
}

TEST_F(AllocLogTest, WhatFindsNoRoomIsCounted) {
  ASSERT_THAT(log_.Reserve(1), IsOk());
  log_.Add(1, 0);
  log_.Add(2, 0);
  log_.Add(3, 0);

  EXPECT_EQ(log_.Drain(&records_), 2);
  EXPECT_THAT(records_.allocs, SizeIs(1));
}

TEST_F(AllocLogTest, AWindowForgetsWhatCameBefore) {
  ASSERT_THAT(log_.Reserve(2), IsOk());
  log_.Add(1, 0);
  log_.Rewind();
  log_.Add(2, 0);

  EXPECT_EQ(log_.Drain(&records_), 0);
  ASSERT_THAT(records_.allocs, SizeIs(1));
  EXPECT_EQ(records_.allocs[0].bytes, 2);
}

TEST_F(AllocLogTest, WithoutRoomEverythingIsCounted) {
  log_.Add(1, 0);

  EXPECT_EQ(log_.Drain(&records_), 1);
}

}  // namespace
}  // namespace traza
