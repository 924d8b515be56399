// SPDX-License-Identifier: Apache-2.0
// Real files, cut and changed: reading never crashes, and never says that a
// part is the whole.
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/file.h"
#include "base/unique_fd.h"
#include "tests/support/record_builder.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "trace/file/parquet_file.h"

namespace traza {
namespace {

class DamagedFile : public testing::Test {
 protected:
  void SetUp() override {
    trace_ = MakeGpuTrace(50);
    ASSERT_THAT(WriteParquet(trace_, path_), IsOk());
    const absl::StatusOr<std::string> bytes = ReadFile(path_, 1 << 24);
    ASSERT_THAT(bytes, IsOk());
    bytes_ = *bytes;
  }
  // From a file in memory: thousands of files on a disk take their time.
  static absl::StatusOr<Trace> Read(const std::string& bytes) {
    const UniqueFd fd(::memfd_create("damaged", MFD_CLOEXEC));
    EXPECT_THAT(WriteAll(fd.get(), bytes), IsOk());
    return ReadParquet(absl::StrCat("/proc/self/fd/", fd.get()));
  }

  TempDir dir_;
  const std::filesystem::path path_ = dir_ / "whole.parquet";
  Trace trace_;
  std::string bytes_;
};

TEST_F(DamagedFile, CutOffAnywhereItIsIncomplete) {
  std::vector<size_t> lengths = {0, 1, 3, 4, 5, 11, 12, 13};
  for (size_t length = 100; length < bytes_.size(); length += 997) {
    lengths.push_back(length);
  }
  for (size_t missing = 1; missing <= 16; ++missing) {
    lengths.push_back(bytes_.size() - missing);
  }
  for (const size_t length : lengths) {
    EXPECT_THAT(
        Read(bytes_.substr(0, length)),
        StatusIs(absl::StatusCode::kDataLoss, HasReason("TRACE_INCOMPLETE")))
        << length << " of " << bytes_.size() << " bytes";
  }
}

TEST_F(DamagedFile, WithTheEndOfAnotherFileItIsIncomplete) {
  // A footer that points past the end of what is left.
  const std::string tail = bytes_.substr(bytes_.size() / 2);
  EXPECT_THAT(Read("PAR1" + tail), testing::Not(IsOk()));
}

// Pages have a checksum; the rest (page headers, the footer) has none, and
// holds things that nobody needs. The store keeps a digest of the whole file.
TEST_F(DamagedFile, AByteChangedInTheDataIsNoticed) {
  const Trace trace = MakeGpuTrace(3'000);
  ASSERT_THAT(WriteParquet(trace, path_), IsOk());
  const absl::StatusOr<std::string> bytes = ReadFile(path_, 1 << 24);
  ASSERT_THAT(bytes, IsOk());
  size_t unnoticed = 0, tried = 0;
  for (size_t at = 4; at < bytes->size() * 3 / 4; at += 1'999) {
    std::string changed = *bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    const absl::StatusOr<Trace> read = Read(changed);
    ++tried;
    if (!read.ok()) continue;
    ++unnoticed;
    EXPECT_EQ(read->start_ns, trace.start_ns) << at;
    EXPECT_EQ(read->duration_ns, trace.duration_ns) << at;
    EXPECT_EQ(read->parent.cells(), trace.parent.cells()) << at;
  }
  EXPECT_LE(unnoticed, tried / 20) << tried;
}

// Large row groups are decoded on two threads; either may meet the damage.
TEST_F(DamagedFile, DamageInALargeFileIsAnErrorOnWhicheverThreadItIs) {
  const Trace trace = MakeGpuTrace(12'000);  // 108,000 rows
  ASSERT_THAT(WriteParquet(trace, path_), IsOk());
  const absl::StatusOr<std::string> bytes = ReadFile(path_, 1 << 26);
  ASSERT_THAT(bytes, IsOk());
  size_t noticed = 0, tried = 0;
  for (size_t at = 4; at < bytes->size() * 9 / 10; at += bytes->size() / 40) {
    std::string changed = *bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    const absl::StatusOr<Trace> read = Read(changed);
    ++tried;
    noticed += read.ok() ? 0 : 1;
  }
  EXPECT_GE(noticed, tried * 9 / 10) << tried;
}

TEST_F(DamagedFile, AnyByteChangedNeverCrashes) {
  for (size_t at = 0; at < bytes_.size(); at += 29) {
    std::string changed = bytes_;
    changed[at] = static_cast<char>(changed[at] ^ (1 << (at % 8)));
    const absl::StatusOr<Trace> read = Read(changed);
    if (read.ok()) {
      EXPECT_THAT(Validate(*read), IsOk()) << at;
    }
  }
}

TEST_F(DamagedFile, EveryByteOfTheFooterSetToAnExtremeNeverCrashes) {
  for (size_t from_end = 1; from_end <= bytes_.size(); from_end += 11) {
    std::string changed = bytes_;
    changed[bytes_.size() - from_end] =
        static_cast<char>(from_end % 2 == 0 ? 0xff : 0);
    const absl::StatusOr<Trace> read = Read(changed);
    if (read.ok()) {
      EXPECT_THAT(Validate(*read), IsOk()) << from_end;
    }
  }
}

TEST_F(DamagedFile, AFooterThatClaimsToBeHugeIsRefused) {
  std::string changed = bytes_;
  const uint32_t huge = 0xfffffff0;
  std::copy_n(reinterpret_cast<const char*>(&huge), 4, changed.end() - 8);
  EXPECT_THAT(Read(changed), StatusIs(absl::StatusCode::kDataLoss,
                                      HasReason("TRACE_INCOMPLETE")));
}

TEST_F(DamagedFile, WhatIsNoParquetFileIsUnreadable) {
  for (const std::string& bytes :
       {std::string("hello, world"), std::string("{\"traceEvents\":[]}"),
        std::string(5'000, '\0'), std::string("PAR2") + bytes_.substr(4)}) {
    EXPECT_THAT(Read(bytes), StatusIs(absl::StatusCode::kInvalidArgument,
                                      HasReason("TRACE_UNREADABLE")));
  }
}

}  // namespace
}  // namespace traza
