// SPDX-License-Identifier: Apache-2.0
#include "base/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/file.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait_until.h"

namespace traza {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr absl::Duration kSoon = absl::Seconds(20);
constexpr char kShell[] = "/bin/sh";

// Runs shell scripts and reads what they write to a file as descriptor 1.
class SubprocessTest : public testing::Test {
 protected:
  SubprocessOptions Script(absl::string_view script) {
    return {.program = kShell,
            .args = {"-c", std::string(script)},
            .environment = {"PATH=/usr/bin:/bin"},
            .descriptors = {{output_.get(), 1}},
            .limits = {}};
  }
  Subprocess Start(const SubprocessOptions& options) {
    absl::StatusOr<Subprocess> process = Subprocess::Start(options);
    EXPECT_THAT(process, IsOk());
    return *std::move(process);
  }
  std::string Output() const {
    return std::string(
        absl::StripAsciiWhitespace(*ReadFile(dir_ / "out", 1 << 20)));
  }
  // Runs `options` to its end and returns what it wrote.
  std::string Run(const SubprocessOptions& options) {
    Subprocess process = Start(options);
    EXPECT_TRUE(process.WaitFor(kSoon).has_value());
    return Output();
  }
  // The pid that a script wrote as its only output.
  pid_t WaitForPid() const {
    pid_t pid = 0;
    EXPECT_TRUE(WaitUntil([&] { return absl::SimpleAtoi(Output(), &pid); }));
    return pid;
  }
  static bool Exists(pid_t pid) {
    // A zombie counts as gone: whoever inherited it reaps it when it likes.
    const absl::StatusOr<std::string> stat =
        ReadFile(absl::StrCat("/proc/", pid, "/stat"), 4096);
    return stat.ok() && stat->find(") Z ") == std::string::npos;
  }

  TempDir dir_;
  UniqueFd output_ = *OpenFile(dir_ / "out", O_RDWR | O_CREAT | O_APPEND);
};

TEST_F(SubprocessTest, ExitCodesAreReported) {
  Subprocess process = Start(Script("exit 3"));

  const std::optional<ExitStatus> exit = process.WaitFor(kSoon);

  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->code, 3);
  EXPECT_FALSE(exit->ok());
  EXPECT_EQ(exit->ToString(), "exit 3");
  EXPECT_FALSE(process.running());
}

TEST_F(SubprocessTest, SignalsAreReported) {
  Subprocess process = Start(Script("kill -SEGV $$"));

  const std::optional<ExitStatus> exit = process.WaitFor(kSoon);

  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->signal, SIGSEGV);
  EXPECT_EQ(exit->ToString(), "signal 11 (Segmentation fault)");
}

TEST_F(SubprocessTest, WaitForGivesUpAtItsTimeout) {
  Subprocess process = Start(Script("sleep 100"));

  EXPECT_FALSE(process.WaitFor(absl::ZeroDuration()).has_value());
  EXPECT_FALSE(process.WaitFor(absl::Milliseconds(10)).has_value());
  EXPECT_TRUE(process.running());
}

TEST_F(SubprocessTest, ASecondWaitReturnsTheSameStatus) {
  Subprocess process = Start(Script("exit 4"));
  ASSERT_TRUE(process.WaitFor(kSoon).has_value());

  EXPECT_EQ(process.WaitFor(absl::ZeroDuration())->code, 4);
  EXPECT_EQ(process.Kill().code, 4);
}

TEST_F(SubprocessTest, PidfdIsReadableAtTheEnd) {
  Subprocess process = Start(Script("exit 0"));
  pollfd entry{process.pidfd(), POLLIN, 0};

  EXPECT_EQ(::poll(&entry, 1, 20'000), 1);
}

TEST_F(SubprocessTest, AMissingProgramIsNamedWithAdvice) {
  const absl::Status status =
      Subprocess::Start({.program = dir_ / "no-such-worker"}).status();

  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition,
                               HasReason(Reason::kWorkerNotStarted)));
  EXPECT_THAT(std::string(status.message()), HasSubstr("no-such-worker"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("check the path"));
}

TEST_F(SubprocessTest, AFileThatIsNoProgramIsNamedWithAdvice) {
  ASSERT_THAT(WriteFileAtomically(dir_ / "text", "hello"), IsOk());

  EXPECT_THAT(Subprocess::Start({.program = dir_ / "text"}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasReason(Reason::kWorkerNotStarted)));
}

TEST_F(SubprocessTest, TheEnvironmentIsWhatWasGiven) {
  SubprocessOptions options = Script("");
  options.program = "/usr/bin/env";
  options.args = {};
  options.environment = {"A=1", "B=two words"};

  EXPECT_EQ(Run(options), "A=1\nB=two words");
}

TEST_F(SubprocessTest, ArgumentsAreNotTouchedByAShell) {
  SubprocessOptions options = Script("");
  options.program = "/usr/bin/printf";
  options.args = {"%s|", "a b", "$HOME", ";exit", ""};

  EXPECT_EQ(Run(options), "a b|$HOME|;exit||");
}

TEST_F(SubprocessTest, OnlyMappedDescriptorsAreOpen) {
  // Inheritable descriptors of ours, of low and of high number.
  const UniqueFd low(::open("/dev/null", O_RDONLY));
  const UniqueFd high(::fcntl(low.get(), F_DUPFD, 500));
  SubprocessOptions options = Script("");
  options.program = "/bin/ls";
  options.args = {"/proc/self/fd"};
  options.descriptors.emplace_back(low.get(), 7);

  const std::vector<std::string> open = absl::StrSplit(Run(options), '\n');

  // 3 is the folder that ls reads.
  EXPECT_THAT(open, ElementsAre("0", "1", "2", "3", "7"));
}

TEST_F(SubprocessTest, StandardInputIsEmptyUnlessMapped) {
  EXPECT_EQ(Run(Script("readlink /proc/self/fd/0")), "/dev/null");
}

TEST_F(SubprocessTest, DescriptorsMayTradePlaces) {
  ASSERT_THAT(WriteFileAtomically(dir_ / "a", "file a\n"), IsOk());
  ASSERT_THAT(WriteFileAtomically(dir_ / "b", "file b\n"), IsOk());
  const UniqueFd a = *OpenFile(dir_ / "a", O_RDONLY);
  const UniqueFd b = *OpenFile(dir_ / "b", O_RDONLY);
  SubprocessOptions options = Script(
      absl::StrCat("cat /proc/self/fd/", a.get(), " /proc/self/fd/", b.get()));
  options.descriptors.emplace_back(a.get(), b.get());
  options.descriptors.emplace_back(b.get(), a.get());

  EXPECT_EQ(Run(options), "file b\nfile a");
}

TEST_F(SubprocessTest, ADescriptorMayKeepItsNumber) {
  ASSERT_THAT(WriteFileAtomically(dir_ / "a", "file a\n"), IsOk());
  const UniqueFd a = *OpenFile(dir_ / "a", O_RDONLY);
  SubprocessOptions options =
      Script(absl::StrCat("cat /proc/self/fd/", a.get()));
  options.descriptors.emplace_back(a.get(), a.get());

  EXPECT_EQ(Run(options), "file a");
}

TEST_F(SubprocessTest, AClosedDescriptorCannotBeMapped) {
  SubprocessOptions options = Script("exit 0");
  options.descriptors.emplace_back(999'999, 5);

  EXPECT_FALSE(Subprocess::Start(options).ok());
}

TEST_F(SubprocessTest, NoSignalStartsBlocked) {
  sigset_t block;
  sigset_t old;
  sigemptyset(&block);
  sigaddset(&block, SIGTERM);
  ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, &block, &old), 0);

  EXPECT_EQ(Run(Script("grep SigBlk /proc/self/status")),
            "SigBlk:\t0000000000000000");
  ::pthread_sigmask(SIG_SETMASK, &old, nullptr);
}

TEST_F(SubprocessTest, IgnoredSignalsAreNotInherited) {
  const auto old = ::signal(SIGPIPE, SIG_IGN);

  const std::string line = Run(Script("grep SigIgn /proc/self/status"));

  // The C library leaves two signals of its own (32 and 33) ignored.
  uint64_t ignored = ~uint64_t{0};
  ASSERT_TRUE(absl::SimpleHexAtoi(line.substr(line.find('\t') + 1), &ignored));
  EXPECT_EQ(ignored & 0x7fffffff, 0);
  ::signal(SIGPIPE, old);
}

TEST_F(SubprocessTest, TheChildLeadsAGroupOfItsOwn) {
  Subprocess process = Start(Script("sleep 100"));

  EXPECT_EQ(::getpgid(process.pid()), process.pid());
}

TEST_F(SubprocessTest, LimitsAreLowered) {
  SubprocessOptions options = Script("read go; ulimit -Hn; ulimit -Hc");
  auto [ours, theirs] = *MakeSocketPair();
  options.descriptors.emplace_back(theirs.get(), 0);
  options.limits = {{RLIMIT_NOFILE, 77}, {RLIMIT_CORE, 0}};
  Subprocess process = Start(options);

  // It starts when the limits are in force.
  ASSERT_THAT(WriteAll(ours.get(), "go\n"), IsOk());
  ASSERT_TRUE(process.WaitFor(kSoon).has_value());

  EXPECT_EQ(Output(), "77\n0");
}

TEST_F(SubprocessTest, ALimitIsNeverRaised) {
  SubprocessOptions options = Script("read go; ulimit -Hc");
  auto [ours, theirs] = *MakeSocketPair();
  options.descriptors.emplace_back(theirs.get(), 0);
  options.limits = {{RLIMIT_CORE, 0}, {RLIMIT_CORE, 1 << 20}};
  Subprocess process = Start(options);

  ASSERT_THAT(WriteAll(ours.get(), "go\n"), IsOk());
  ASSERT_TRUE(process.WaitFor(kSoon).has_value());

  EXPECT_EQ(Output(), "0");
}

TEST_F(SubprocessTest, TerminateLetsTheChildFinish) {
  Subprocess process = Start(
      Script("trap 'echo kept; exit 5' TERM; echo $$; while :; do sleep 0.01; "
             "done"));
  WaitForPid();

  EXPECT_EQ(process.Terminate(kSoon).code, 5);
  EXPECT_THAT(Output(), HasSubstr("kept"));
}

TEST_F(SubprocessTest, TerminateKillsWhoeverIgnoresIt) {
  Subprocess process =
      Start(Script("trap '' TERM; echo $$; while :; do sleep 100; done"));
  WaitForPid();

  EXPECT_EQ(process.Terminate(absl::Milliseconds(20)).signal, SIGKILL);
}

TEST_F(SubprocessTest, KillReachesWhatTheChildForked) {
  Subprocess process = Start(Script("sleep 1000 & echo $!; wait"));
  const pid_t grandchild = WaitForPid();

  EXPECT_EQ(process.Kill().signal, SIGKILL);

  EXPECT_TRUE(WaitUntil([&] { return !Exists(grandchild); }));
}

TEST_F(SubprocessTest, WhatAnEndedChildLeftIsKilled) {
  Subprocess process = Start(Script("sleep 1000 & echo $!; exit 0"));

  EXPECT_TRUE(process.WaitFor(kSoon)->ok());

  EXPECT_TRUE(WaitUntil([&] { return !Exists(WaitForPid()); }));
}

TEST_F(SubprocessTest, DestructorKillsAndReaps) {
  pid_t pid = 0;
  {
    Subprocess process = Start(Script("sleep 1000"));
    pid = process.pid();
  }

  EXPECT_EQ(::kill(pid, 0), -1);
}

TEST_F(SubprocessTest, MovedProcessesHaveOneOwner) {
  Subprocess first = Start(Script("exit 6"));
  Subprocess second = std::move(first);
  Subprocess third = Start(Script("sleep 1000"));
  const pid_t replaced = third.pid();

  third = std::move(second);

  EXPECT_EQ(::kill(replaced, 0), -1);
  EXPECT_EQ(third.WaitFor(kSoon)->code, 6);
}

TEST(MakeSocketPair, ConnectsTwoCloseOnExecEnds) {
  auto [a, b] = *MakeSocketPair();
  ASSERT_THAT(WriteAll(a.get(), "hello"), IsOk());
  char buffer[16];

  EXPECT_EQ(::recv(b.get(), buffer, sizeof(buffer), 0), 5);
  EXPECT_NE(::fcntl(a.get(), F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_NE(::fcntl(b.get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST_F(SubprocessTest, MarkedProcessesAreFoundAndKilled) {
  const std::string mark = absl::StrCat("TRAZA_TEST_MARK=", ::getpid());
  // They stop by themselves: while a shell becomes another program, its
  // environment cannot be read for a moment.
  SubprocessOptions marked = Script("kill -STOP $$");
  marked.environment.push_back(mark);
  SubprocessOptions similar = Script("kill -STOP $$");
  similar.environment.push_back(mark + "0");
  Subprocess one = Start(marked);
  Subprocess two = Start(marked);
  Subprocess other = Start(similar);

  EXPECT_EQ(KillProcessesWithEnvironment(mark), 2);
  EXPECT_EQ(KillProcessesWithEnvironment(mark), 0) << "they have ended by now";

  EXPECT_EQ(one.WaitFor(kSoon)->signal, SIGKILL);
  EXPECT_EQ(two.WaitFor(kSoon)->signal, SIGKILL);
  EXPECT_FALSE(other.WaitFor(absl::ZeroDuration()).has_value());
}

TEST(ResidentBytes, OfThisProcessIsMoreThanAMegabyte) {
  const absl::StatusOr<int64_t> bytes = ResidentBytes(::getpid());

  ASSERT_THAT(bytes, IsOk());
  EXPECT_GT(*bytes, 1 << 20);
}

TEST(ResidentBytes, OfNoProcessFails) {
  EXPECT_FALSE(ResidentBytes(0x7ffffff0).ok());
}

}  // namespace
}  // namespace traza
