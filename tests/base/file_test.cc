// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace traza {
namespace {

using absl::StatusCode;
using testing::HasSubstr;
using testing::SizeIs;

class File : public testing::Test {
 protected:
  void Write(const std::filesystem::path& path, absl::string_view bytes) {
    ASSERT_THAT(WriteFileAtomically(path, bytes), IsOk());
  }
  size_t CountEntries() const {
    size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(dir_.path())) {
      (void)entry;
      ++count;
    }
    return count;
  }

  TempDir dir_;
};

TEST_F(File, OpenedDescriptorsAreCloseOnExec) {
  const absl::StatusOr<UniqueFd> fd = OpenFile(dir_ / "f", O_WRONLY | O_CREAT);

  ASSERT_THAT(fd, IsOk());
  EXPECT_NE(::fcntl(fd->get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST_F(File, AMissingFileIsNotFoundAndNamed) {
  const absl::Status status = OpenFile(dir_ / "absent", O_RDONLY).status();

  EXPECT_THAT(status, StatusIs(StatusCode::kNotFound));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr((dir_ / "absent").native()));
}

TEST_F(File, ReadFileReturnsAllBytes) {
  const std::string bytes = std::string(700'000, 'x') + '\0' + "end";
  Write(dir_ / "f", bytes);

  EXPECT_THAT(ReadFile(dir_ / "f", 1 << 20), IsOkAndHolds(bytes));
}

TEST_F(File, ReadFileTakesExactlyTheLimit) {
  Write(dir_ / "f", "12345");

  EXPECT_THAT(ReadFile(dir_ / "f", 5), IsOkAndHolds("12345"));
  EXPECT_THAT(ReadFile(dir_ / "f", 4),
              StatusIs(StatusCode::kResourceExhausted));
}

TEST_F(File, ReadFileReadsFilesThatSayTheyAreEmpty) {
  const absl::StatusOr<std::string> text =
      ReadFile("/proc/self/status", 1 << 20);

  ASSERT_THAT(text, IsOk());
  EXPECT_THAT(*text, HasSubstr("VmRSS"));
}

TEST_F(File, ReadFileOfAFolderFails) {
  EXPECT_FALSE(ReadFile(dir_.path(), 100).ok());
}

TEST_F(File, ReadFileAtIsShortOnlyAtTheEnd) {
  Write(dir_ / "f", "0123456789");
  const UniqueFd fd = *OpenFile(dir_ / "f", O_RDONLY);

  EXPECT_THAT(ReadFileAt(fd.get(), 2, 3), IsOkAndHolds("234"));
  EXPECT_THAT(ReadFileAt(fd.get(), 8, 5), IsOkAndHolds("89"));
  EXPECT_THAT(ReadFileAt(fd.get(), 20, 5), IsOkAndHolds(""));
}

TEST_F(File, ReadFileAtRefusesNegativeNumbers) {
  Write(dir_ / "f", "x");
  const UniqueFd fd = *OpenFile(dir_ / "f", O_RDONLY);

  EXPECT_THAT(ReadFileAt(fd.get(), -1, 1),
              StatusIs(StatusCode::kInvalidArgument));
  EXPECT_THAT(ReadFileAt(fd.get(), 0, -1),
              StatusIs(StatusCode::kInvalidArgument));
}

TEST_F(File, WriteFileAtomicallyReplacesAndLeavesNoTemporary) {
  Write(dir_ / "f", "old");
  Write(dir_ / "f", "new");

  EXPECT_THAT(ReadFile(dir_ / "f", 100), IsOkAndHolds("new"));
  EXPECT_EQ(CountEntries(), 1);
}

TEST_F(File, AFailedReplacementLeavesNoTemporary) {
  ASSERT_THAT(MakeDirectories(dir_ / "f/inside"), IsOk());

  EXPECT_FALSE(WriteFileAtomically(dir_ / "f", "new").ok());
  EXPECT_EQ(CountEntries(), 1);
}

TEST_F(File, AFullDiskHasItsReason) {
  const UniqueFd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(full.valid());

  EXPECT_THAT(
      WriteAll(full.get(), "x"),
      StatusIs(StatusCode::kResourceExhausted, HasReason(Reason::kStoreFull)));
}

TEST_F(File, MakeDirectoriesMakesPrivateParents) {
  ASSERT_THAT(MakeDirectories(dir_ / "a/b/c"), IsOk());
  ASSERT_THAT(MakeDirectories(dir_ / "a/b/c"), IsOk());

  struct stat info;
  ASSERT_EQ(::stat((dir_ / "a/b").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
}

TEST_F(File, MakeDirectoriesRefusesAFileInTheWay) {
  Write(dir_ / "a", "x");

  const absl::Status status = MakeDirectories(dir_ / "a/b");

  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr("Not a directory"));
}

TEST_F(File, RemoveFileOfNothingIsFine) {
  Write(dir_ / "f", "x");

  EXPECT_THAT(RemoveFile(dir_ / "f"), IsOk());
  EXPECT_THAT(RemoveFile(dir_ / "f"), IsOk());
  EXPECT_EQ(CountEntries(), 0);
}

TEST_F(File, RenameFileOfNothingIsNotFound) {
  EXPECT_THAT(RenameFile(dir_ / "a", dir_ / "b"),
              StatusIs(StatusCode::kNotFound));
}

TEST_F(File, SyncWorksOnFilesAndFolders) {
  Write(dir_ / "f", "x");

  EXPECT_THAT(SyncFile(dir_ / "f"), IsOk());
  EXPECT_THAT(SyncDirectory(dir_.path()), IsOk());
  EXPECT_FALSE(SyncDirectory(dir_ / "f").ok());
}

TEST_F(File, FileSizeCountsBytes) {
  Write(dir_ / "f", "12345");

  EXPECT_THAT(FileSize(dir_ / "f"), IsOkAndHolds(5));
  EXPECT_THAT(FileSize(dir_ / "absent"), StatusIs(StatusCode::kNotFound));
}

TEST_F(File, FreeBytesOfATemporaryFolderIsPositive) {
  const absl::StatusOr<int64_t> free = FreeBytes(dir_.path());

  ASSERT_THAT(free, IsOk());
  EXPECT_GT(*free, 0);
}

// Known answers from FIPS 180-2.
TEST_F(File, Sha256MatchesKnownAnswers) {
  Write(dir_ / "empty", "");
  Write(dir_ / "abc", "abc");
  Write(dir_ / "million", std::string(1'000'000, 'a'));

  EXPECT_THAT(
      FileSha256(dir_ / "empty"),
      IsOkAndHolds(
          "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"));
  EXPECT_THAT(
      FileSha256(dir_ / "abc"),
      IsOkAndHolds(
          "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
  EXPECT_THAT(
      FileSha256(dir_ / "million"),
      IsOkAndHolds(
          "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"));
}

TEST_F(File, ALockHoldsUntilItsDescriptorIsClosed) {
  absl::StatusOr<UniqueFd> lock = LockFile(dir_ / "lock");
  ASSERT_THAT(lock, IsOk());

  EXPECT_THAT(LockFile(dir_ / "lock"),
              StatusIs(StatusCode::kFailedPrecondition,
                       HasReason(Reason::kStoreInUse)));
  lock->Reset();
  EXPECT_THAT(LockFile(dir_ / "lock"), IsOk());
}

TEST_F(File, AHeldLockNamesItsHolder) {
  const absl::StatusOr<UniqueFd> lock = LockFile(dir_ / "lock");
  ASSERT_THAT(lock, IsOk());

  const absl::Status refused = LockFile(dir_ / "lock").status();

  EXPECT_THAT(refused, HasMetadata("pid", absl::StrCat(::getpid())));
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr(absl::StrCat("process ", ::getpid())));
}

TEST_F(File, ExecutableDirectoryHoldsThisProgram) {
  EXPECT_TRUE(std::filesystem::exists(ExecutableDirectory() / "file_test"));
}

}  // namespace
}  // namespace traza
