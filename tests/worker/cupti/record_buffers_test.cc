// SPDX-License-Identifier: Apache-2.0
#include "worker/cupti/record_buffers.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"

namespace traza {
namespace {

constexpr size_t kBytes = 64 << 10;

bool IsZero(const uint8_t* data, size_t bytes) {
  return std::all_of(data, data + bytes, [](uint8_t b) { return b == 0; });
}

TEST(RecordBuffers, ABufferGoesRoundAndComesBackZeroed) {
  RecordBuffers buffers;
  ASSERT_THAT(buffers.Reserve(kBytes, 1), IsOk());
  uint8_t* const first = buffers.Take();
  std::memset(first, 7, 1000);
  buffers.Complete(first, 1000);

  const auto filled = buffers.Next();
  ASSERT_TRUE(filled.has_value());
  EXPECT_EQ(filled->data, first);
  EXPECT_EQ(filled->bytes, 1000u);
  buffers.Return(*filled);

  EXPECT_EQ(buffers.Take(), first);
  EXPECT_TRUE(IsZero(first, kBytes));
  EXPECT_EQ(buffers.requests(), 2);
  EXPECT_EQ(buffers.misses(), 0);
}

TEST(RecordBuffers, AnEmptyPoolMakesOneAndCountsTheMiss) {
  RecordBuffers buffers;
  ASSERT_THAT(buffers.Reserve(kBytes, 1), IsOk());
  uint8_t* const pooled = buffers.Take();
  uint8_t* const made = buffers.Take();

  ASSERT_NE(made, nullptr);
  EXPECT_NE(made, pooled);
  EXPECT_TRUE(IsZero(made, kBytes));
  EXPECT_EQ(buffers.misses(), 1);

  buffers.Complete(made, 10);
  buffers.Return(*buffers.Next());  // frees it
  EXPECT_FALSE(buffers.Next().has_value());
}

TEST(RecordBuffers, LargerOnesTakeThePlaceOfSmallOnes) {
  RecordBuffers buffers;
  ASSERT_THAT(buffers.Reserve(kBytes, 2), IsOk());
  ASSERT_THAT(buffers.Reserve(kBytes / 2, 1), IsOk());
  EXPECT_EQ(buffers.bytes(), kBytes);

  ASSERT_THAT(buffers.Reserve(4 * kBytes, 1), IsOk());

  EXPECT_EQ(buffers.bytes(), 4 * kBytes);
  uint8_t* const only = buffers.Take();
  EXPECT_TRUE(IsZero(only, 4 * kBytes));
  buffers.Take();
  EXPECT_EQ(buffers.misses(), 1);
}

TEST(RecordBuffers, CountsBeginAnewWithAWindow) {
  RecordBuffers buffers;
  ASSERT_THAT(buffers.Reserve(kBytes, 1), IsOk());
  buffers.Take();
  buffers.Take();

  buffers.ResetCounts();

  EXPECT_EQ(buffers.requests(), 0);
  EXPECT_EQ(buffers.misses(), 0);
}

TEST(RecordBuffers, AReaderWaitsUntilFewAreLeft) {
  RecordBuffers buffers;
  ASSERT_THAT(buffers.Reserve(kBytes, 3), IsOk());
  std::atomic<int> reads{0};
  std::thread reader([&] {
    while (buffers.AwaitLow()) {
      if (const auto filled = buffers.Next()) {
        buffers.Return(*filled);
        ++reads;
      }
    }
  });

  // Ten rounds through three buffers without a miss: the reader keeps up.
  for (int i = 0; i < 10; ++i) {
    uint8_t* const data = buffers.Take();
    buffers.Complete(data, kBytes);
    while (i >= 2 && reads.load() < i - 1) std::this_thread::yield();
  }
  buffers.Wake();
  reader.join();

  EXPECT_GE(reads.load(), 8);
  EXPECT_EQ(buffers.misses(), 0);
}

}  // namespace
}  // namespace traza
