// SPDX-License-Identifier: Apache-2.0
#include "server/store/trace_store.h"

#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/file.h"
#include "tests/support/make_job.h"
#include "tests/support/scoped_mount.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace traza {
namespace {

namespace fs = std::filesystem;
using absl::StatusCode;

const JobId kJob{"job"};
const TraceId kTrace{"trace"};

class TraceStoreTest : public ::testing::Test {
 protected:
  TraceStoreTest() {
    auto store = TraceStore::Open(dir_.path());
    EXPECT_THAT(store, IsOk());
    store_ = *std::move(store);
  }

  fs::path WriteTemporary(const std::string& bytes) {
    const fs::path path = store_->TemporaryPath(kJob);
    EXPECT_THAT(WriteFileAtomically(path, bytes), IsOk());
    return path;
  }

  TempDir dir_;
  const absl::Time created_ = absl::FromUnixSeconds(kJobOriginSeconds);
  std::unique_ptr<TraceStore> store_;
};

TEST_F(TraceStoreTest, CommitMovesTheFileToItsDayAndDigestsIt) {
  const fs::path temporary = WriteTemporary("abc");

  const auto committed = store_->Commit(temporary, kTrace, created_);

  ASSERT_THAT(committed, IsOk());
  EXPECT_EQ(committed->size_bytes, 3);
  EXPECT_EQ(committed->sha256,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_FALSE(fs::exists(temporary));
  EXPECT_EQ(store_->PathOf(kTrace, created_),
            dir_.path() / "traces" / "2026-01-01" / "trace.parquet");
  EXPECT_THAT(ReadFile(store_->PathOf(kTrace, created_), 100),
              IsOkAndHolds(std::string("abc")));
}

TEST_F(TraceStoreTest, CommitOfAMissingFileFails) {
  EXPECT_THAT(store_->Commit(store_->TemporaryPath(kJob), kTrace, created_),
              StatusIs(StatusCode::kNotFound));
}

TEST_F(TraceStoreTest, AFailedCommitLeavesNothingBehind) {
  const fs::path temporary = WriteTemporary("abc");
  // A folder in the way of the file.
  fs::create_directories(store_->PathOf(kTrace, created_) / "x");

  EXPECT_FALSE(store_->Commit(temporary, kTrace, created_).ok());

  EXPECT_FALSE(fs::exists(temporary));
}

TEST_F(TraceStoreTest, AReadOnlyStoreIsSaidToBe) {
  const fs::path temporary = WriteTemporary("abc");
  const auto mount = ScopedMount::ReadOnly(dir_ / "traces");
  if (!mount.ok()) GTEST_SKIP() << mount.status();

  EXPECT_THAT(store_->Commit(temporary, kTrace, created_),
              HasReason(Reason::kStoreUnwritable));
}

TEST_F(TraceStoreTest, OpenDeletesWhatWorkersLeft) {
  WriteTemporary("abc");
  fs::create_directories(dir_ / "tmp" / "folder" / "inner");

  ASSERT_THAT(TraceStore::Open(dir_.path()), IsOk());

  EXPECT_TRUE(fs::is_empty(dir_ / "tmp"));
}

TEST_F(TraceStoreTest, RemoveDeletesTheFileAndAnEmptyDay) {
  ASSERT_THAT(store_->Commit(WriteTemporary("abc"), kTrace, created_), IsOk());
  ASSERT_THAT(store_->Commit(WriteTemporary("abc"), TraceId{"b"}, created_),
              IsOk());

  ASSERT_THAT(store_->Remove(kTrace, created_), IsOk());
  EXPECT_TRUE(fs::exists(store_->PathOf(TraceId{"b"}, created_)));
  ASSERT_THAT(store_->Remove(TraceId{"b"}, created_), IsOk());

  EXPECT_TRUE(fs::is_empty(dir_ / "traces"));
  EXPECT_THAT(store_->Remove(kTrace, created_), IsOk());
}

TEST_F(TraceStoreTest, RemoveUnknownDeletesOnlyTracesWithoutARow) {
  ASSERT_THAT(store_->Commit(WriteTemporary("a"), kTrace, created_), IsOk());
  ASSERT_THAT(store_->Commit(WriteTemporary("b"), TraceId{"lost"},
                             created_ + absl::Hours(24)),
              IsOk());
  ASSERT_THAT(WriteFileAtomically(dir_ / "traces" / "notes.txt", "x"), IsOk());

  EXPECT_THAT(
      store_->RemoveUnknown([](const TraceId& id) { return id == kTrace; }),
      IsOkAndHolds(1));

  EXPECT_TRUE(fs::exists(store_->PathOf(kTrace, created_)));
  EXPECT_FALSE(fs::exists(dir_ / "traces" / "2026-01-02"));
  EXPECT_TRUE(fs::exists(dir_ / "traces" / "notes.txt"));
}

}  // namespace
}  // namespace traza
