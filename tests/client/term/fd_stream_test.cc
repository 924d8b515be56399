// SPDX-License-Identifier: Apache-2.0
#include "client/term/fd_stream.h"

#include <fcntl.h>
#include <signal.h>

#include <cerrno>
#include <string>

#include "gtest/gtest.h"

#include "base/file.h"
#include "base/unique_fd.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace traza {
namespace {

TEST(FdStream, WritesMoreThanItsBuffer) {
  TempDir dir;
  const std::string text(100'000, 'x');
  {
    auto fd = OpenFile(dir / "f", O_WRONLY | O_CREAT);
    ASSERT_THAT(fd, IsOk());
    FdStream stream(fd->get());
    stream << text << 'y' << 12;
  }

  EXPECT_THAT(ReadFile(dir / "f", 1 << 20), IsOkAndHolds(text + "y12"));
}

TEST(FdStream, RemembersAFullDisk) {
  auto full = OpenFile("/dev/full", O_WRONLY);
  ASSERT_THAT(full, IsOk());
  FdStream stream(full->get());

  stream << std::string(100'000, 'x') << std::flush;

  EXPECT_EQ(stream.error(), ENOSPC);
  EXPECT_FALSE(stream.good());
}

TEST(FdStream, RemembersAClosedPipe) {
  ::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd write_end(ends[1]);
  UniqueFd(ends[0]).Reset();
  FdStream stream(write_end.get());

  stream << "x" << std::flush;

  EXPECT_EQ(stream.error(), EPIPE);
}

}  // namespace
}  // namespace traza
