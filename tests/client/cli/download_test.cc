// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/file.h>

#include <filesystem>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "base/clock.h"
#include "base/file.h"
#include "client/cli/trace_download.h"
#include "tests/client/cli/cli_fixture.h"
#include "tests/support/status_matchers.h"

namespace traza {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kMaxBytes = 1 << 20;

class DownloadTest : public CliTest {
 protected:
  DownloadTest() {
    for (int i = 0; bytes_.size() < 10'500; ++i) absl::StrAppend(&bytes_, i);
    EXPECT_THAT(WriteFileAtomically(dir_ / "reference", bytes_), IsOk());
    replies_.file = bytes_;
    replies_.trace.set_name("traces/t1");
    replies_.trace.set_size_bytes(static_cast<int64_t>(bytes_.size()));
    replies_.trace.set_sha256(*FileSha256(dir_ / "reference"));
  }

  int Download() { return Run({"download", "t1", "-o", target_.native()}); }

  // What lies in the folder but the reference.
  std::vector<std::string> Files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(dir_.path())) {
      const std::string name = entry.path().filename().native();
      if (name != "reference") names.push_back(name);
    }
    return names;
  }

  TempDir dir_;
  std::string bytes_;
  FakeReplies replies_;
  const std::filesystem::path target_ = dir_ / "out.parquet";
};

TEST_F(DownloadTest, WritesTheFileAndNamesIt) {
  daemon_.Set(replies_);

  ASSERT_EQ(Download(), 0) << err_;

  EXPECT_EQ(out_, target_.native() + "\n");
  EXPECT_THAT(ReadFile(target_, kMaxBytes), IsOkAndHolds(bytes_));
  EXPECT_THAT(Files(), ElementsAre("out.parquet"));
}

TEST_F(DownloadTest, AFolderGetsTheFileUnderItsId) {
  daemon_.Set(replies_);

  ASSERT_EQ(Run({"download", "t1", "-o", dir_.path().native(), "--json"}), 0)
      << err_;

  EXPECT_THAT(ReadFile(dir_ / "t1.parquet", kMaxBytes), IsOkAndHolds(bytes_));
  EXPECT_EQ(nlohmann::json::parse(out_).at("size_bytes"), bytes_.size());
}

TEST_F(DownloadTest, ResumesAfterABrokenStream) {
  replies_.read_breaks = {3000, 7000};
  daemon_.Set(replies_);

  ASSERT_EQ(Download(), 0) << err_;

  EXPECT_THAT(daemon_.calls().read_offsets, ElementsAre(0, 3000, 7000));
  EXPECT_THAT(ReadFile(target_, kMaxBytes), IsOkAndHolds(bytes_));
}

TEST_F(DownloadTest, ResumesWhatAnEarlierRunLeft) {
  ASSERT_THAT(
      WriteFileAtomically(dir_ / "out.parquet.part", bytes_.substr(0, 5000)),
      IsOk());
  daemon_.Set(replies_);

  ASSERT_EQ(Download(), 0) << err_;

  EXPECT_THAT(daemon_.calls().read_offsets, ElementsAre(5000));
  EXPECT_THAT(ReadFile(target_, kMaxBytes), IsOkAndHolds(bytes_));
}

TEST_F(DownloadTest, StartsAnewWhenThePartIsOfAnotherFile) {
  ASSERT_THAT(
      WriteFileAtomically(dir_ / "out.parquet.part", std::string(5000, '?')),
      IsOk());
  daemon_.Set(replies_);

  ASSERT_EQ(Download(), 0) << err_;

  EXPECT_THAT(daemon_.calls().read_offsets, ElementsAre(5000, 0));
  EXPECT_THAT(ReadFile(target_, kMaxBytes), IsOkAndHolds(bytes_));
}

TEST_F(DownloadTest, StartsAnewWhenThePartIsLongerThanTheFile) {
  ASSERT_THAT(
      WriteFileAtomically(dir_ / "out.parquet.part", std::string(50'000, '?')),
      IsOk());
  daemon_.Set(replies_);

  ASSERT_EQ(Download(), 0) << err_;

  EXPECT_THAT(ReadFile(target_, kMaxBytes), IsOkAndHolds(bytes_));
}

TEST_F(DownloadTest, AWrongDigestLeavesNoFileOfThatName) {
  replies_.trace.set_sha256(std::string(64, '0'));
  daemon_.Set(replies_);

  EXPECT_EQ(Download(), 1);

  EXPECT_THAT(err_, HasSubstr("TRACE_CORRUPT"));
  EXPECT_FALSE(std::filesystem::exists(target_));
}

TEST_F(DownloadTest, ADownloadThatBreaksLeavesNoFileOfThatName) {
  replies_.read_breaks.assign(20, 3000);
  daemon_.Set(replies_);
  Client client({.server = daemon_.address()});
  std::ostringstream out;
  const Console console{.out = out, .err = out};
  ProgressLine progress(console, Clock::Real());

  EXPECT_THAT(DownloadToFile(client, replies_.trace, target_, progress,
                             {.max_attempts = 3, .first_wait = {}}),
              StatusIs(absl::StatusCode::kUnavailable));

  EXPECT_THAT(daemon_.calls().read_offsets, ElementsAre(0, 3000, 3000, 3000));
  EXPECT_THAT(Files(), ElementsAre("out.parquet.part"));
}

TEST_F(DownloadTest, KeepsAFileThatIsTheSame) {
  ASSERT_THAT(WriteFileAtomically(target_, bytes_), IsOk());
  daemon_.Set(replies_);

  ASSERT_EQ(Download(), 0) << err_;

  EXPECT_THAT(daemon_.calls().names, ElementsAre("GetTrace"));
}

TEST_F(DownloadTest, ReplacesAFileThatIsAnother) {
  ASSERT_THAT(WriteFileAtomically(target_, "old"), IsOk());
  daemon_.Set(replies_);

  ASSERT_EQ(Download(), 0) << err_;

  EXPECT_THAT(ReadFile(target_, kMaxBytes), IsOkAndHolds(bytes_));
}

TEST_F(DownloadTest, RefusesWhileAnotherDownloadWritesThere) {
  auto fd = OpenFile(dir_ / "out.parquet.part", O_RDWR | O_CREAT);
  ASSERT_THAT(fd, IsOk());
  ASSERT_EQ(::flock(fd->get(), LOCK_EX), 0);
  daemon_.Set(replies_);

  EXPECT_EQ(Download(), 4);
}

TEST_F(DownloadTest, WritesToTheStandardOutput) {
  daemon_.Set(replies_);

  ASSERT_EQ(Run({"download", "t1", "-o", "-"}), 0) << err_;

  EXPECT_EQ(out_, bytes_);
}

TEST_F(DownloadTest, WritesNothingToTheStandardOutputWhenTheDigestIsWrong) {
  replies_.trace.set_sha256(std::string(64, '0'));
  daemon_.Set(replies_);

  EXPECT_EQ(Run({"download", "t1", "-o", "-"}), 1);

  EXPECT_EQ(out_, "");
}

TEST_F(DownloadTest, NeverReplacesADevice) {
  daemon_.Set(replies_);

  ASSERT_EQ(Run({"download", "t1", "-o", "/dev/null"}), 0) << err_;

  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST_F(DownloadTest, AFolderThatIsNotThereExitsWith2) {
  daemon_.Set(replies_);

  EXPECT_EQ(Run({"download", "t1", "-o", (dir_ / "no/such").native()}), 2);
}

}  // namespace
}  // namespace traza
