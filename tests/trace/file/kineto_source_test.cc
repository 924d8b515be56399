// SPDX-License-Identifier: Apache-2.0
#include "trace/file/kineto_source.h"

#include <memory>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"
#include "tests/trace/file/gzip.h"

namespace traza {
namespace {

// All that comes out of `packed`, `chunk` bytes at a time.
absl::StatusOr<std::string> Unpacked(const std::string& packed,
                                     size_t chunk = 1000) {
  const std::unique_ptr<ByteSource> source = GzipBytes(MemoryBytes(packed));
  std::string text;
  std::string buffer(chunk, '\0');
  for (;;) {
    const absl::StatusOr<size_t> count = source->Read(buffer.data(), chunk);
    if (!count.ok()) return count.status();
    if (*count == 0) return text;
    text.append(buffer, 0, *count);
  }
}

std::string LongText() {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i * 7919);
  return text;
}

const auto kIsIncomplete =
    StatusIs(absl::StatusCode::kDataLoss, HasReason("TRACE_INCOMPLETE"));

TEST(GzipBytes, UnpacksWhatWasPacked) {
  EXPECT_THAT(Unpacked(Gzip("")), IsOkAndHolds(""));
  EXPECT_THAT(Unpacked(Gzip("text"), 1), IsOkAndHolds("text"));
  EXPECT_THAT(Unpacked(Gzip(LongText())), IsOkAndHolds(LongText()));
}

TEST(GzipBytes, UnpacksJoinedMembersAndPadding) {
  const std::string joined = Gzip("ab") + Gzip("") + Gzip("cd");

  EXPECT_THAT(Unpacked(joined), IsOkAndHolds("abcd"));
  EXPECT_THAT(Unpacked(joined + std::string(100'000, '\0')),
              IsOkAndHolds("abcd"));
}

TEST(GzipBytes, CutOffDataIsIncomplete) {
  const std::string packed = Gzip("some text that is packed");
  for (size_t size = 2; size < packed.size(); ++size) {
    EXPECT_THAT(Unpacked(packed.substr(0, size)), kIsIncomplete) << size;
  }
  EXPECT_THAT(Unpacked(packed + packed.substr(0, 5)), kIsIncomplete);
}

TEST(GzipBytes, OtherBytesAfterTheEndAreDamage) {
  EXPECT_THAT(Unpacked(Gzip("ab") + "garbage"), kIsIncomplete);
  EXPECT_THAT(Unpacked(Gzip("ab") + std::string(1, '\0') + Gzip("cd")),
              kIsIncomplete);
}

TEST(GzipBytes, ChecksumAndSizeAreChecked) {
  std::string packed = Gzip("some text");
  packed[packed.size() - 8] ^= 1;  // the checksum
  EXPECT_THAT(Unpacked(packed), kIsIncomplete);

  packed = Gzip("some text");
  packed.replace(packed.size() - 4, 4, "\xff\xff\xff\xff");  // 4 GiB, it says
  EXPECT_THAT(Unpacked(packed), kIsIncomplete);
}

TEST(IsGzip, LooksAtTwoBytes) {
  EXPECT_TRUE(IsGzip(Gzip("x")));
  EXPECT_FALSE(IsGzip("\x1f"));
  EXPECT_FALSE(IsGzip("{}"));
}

}  // namespace
}  // namespace traza
