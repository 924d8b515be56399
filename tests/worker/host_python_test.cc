// SPDX-License-Identifier: Apache-2.0
#include "worker/host_python.h"

#include <signal.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/file.h"
#include "tests/support/stand_in_python.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait_until.h"

namespace traza {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class HostPythonTest : public testing::Test {
 protected:
  absl::StatusOr<PythonVersions> Compile(
      absl::Duration timeout = absl::Seconds(20)) {
    EXPECT_THAT(WriteFileAtomically(dir_ / "request",
                                    absl::StrCat("{\"out\":\"", out(), "\"}")),
                IsOk());
    return HostPython::Find(stand_in_.environment())
        ->Compile(dir_ / "request", dir_ / "scratch",
                  {.timeout = timeout, .stop = stop_});
  }
  absl::StatusOr<PythonVersions> Probe(
      absl::Duration timeout = absl::Seconds(20)) {
    return HostPython::Find(stand_in_.environment())
        ->Probe("2.11.0", {.timeout = timeout, .stop = stop_});
  }
  std::string out() const { return (dir_ / "out").native(); }
  // Whether the process whose number the stand-in wrote is gone.
  bool Gone(const std::string& file) {
    int pid = 0;
    const std::string text = ReadFile(dir_ / file, 100).value_or("");
    EXPECT_TRUE(absl::SimpleAtoi(text, &pid)) << text;
    return WaitUntil([&] { return kill(pid, 0) != 0; });
  }

  TempDir dir_;
  StandInPython stand_in_{dir_.path()};
  std::atomic<bool> stop_ = false;
};

TEST_F(HostPythonTest, IsThePythonThatTheEnvironmentNames) {
  const auto python = HostPython::Find(stand_in_.environment());

  ASSERT_THAT(python, IsOk());
  EXPECT_EQ(python->program(), stand_in_.program());
  EXPECT_EQ(python->script(), stand_in_.script());
}

TEST_F(HostPythonTest, IsElseTheFirstOneOnThePath) {
  const auto python = HostPython::Find(
      {absl::StrCat("PATH=/nonexistent::", dir_.path().native(), ":/usr/bin"),
       absl::StrCat("TRAZA_EXPORT_SCRIPT=", stand_in_.script().native())});

  ASSERT_THAT(python, IsOk());
  EXPECT_EQ(python->program(), stand_in_.program());
}

TEST_F(HostPythonTest, WithoutPythonSaysWhereItWasSought) {
  const auto named = HostPython::Find({"TRAZA_PYTHON=/nonexistent/python3"});
  const auto on_path = HostPython::Find({"PATH=/nonexistent"});
  const auto script = HostPython::Find(
      {absl::StrCat("TRAZA_PYTHON=", stand_in_.program().native()),
       "TRAZA_EXPORT_SCRIPT=/nonexistent/x.py"});

  for (const auto& python : {named, on_path, script}) {
    EXPECT_THAT(python, StatusIs(absl::StatusCode::kFailedPrecondition,
                                 HasReason(Reason::kCompileFailed)));
  }
  EXPECT_THAT(std::string(named.status().message()),
              HasSubstr("/nonexistent/python3"));
  EXPECT_THAT(std::string(on_path.status().message()),
              HasSubstr("TRAZA_PYTHON"));
  EXPECT_THAT(std::string(script.status().message()),
              HasSubstr("/nonexistent/x.py"));
}

TEST_F(HostPythonTest, SaysWhatItHas) {
  const auto versions = Probe();

  ASSERT_THAT(versions, IsOk());
  EXPECT_EQ(versions->torch, "2.11.0+cu130");
  EXPECT_EQ(versions->triton, "3.6.0");
}

TEST_F(HostPythonTest, WhatTheScriptMissesIsTheReason) {
  stand_in_.Play("", "",
                 R"(echo '{"error": "no-triton", "message": "no Triton"}')"
                 "; echo noise >&2; exit 1");

  const auto versions = Probe();

  ASSERT_THAT(versions, StatusIs(absl::StatusCode::kFailedPrecondition,
                                 HasReason(Reason::kCompileFailed)));
  EXPECT_EQ(std::string(versions.status().message()),
            "Cannot compile: no Triton.");
}

TEST_F(HostPythonTest, WhatGoesWrongInACompilerEndsWithItsWords) {
  stand_in_.Play("echo 'ld: cannot find -lcuda' >&2",
                 R"(echo '{"error": "compile-failed", "message": "it broke"}')"
                 "; exit 1");

  EXPECT_THAT(std::string(Compile().status().message()),
              AllOf(HasSubstr("it broke"), HasSubstr("cannot find -lcuda")));
}

TEST_F(HostPythonTest, ACrashIsToldWithTheEndOfWhatItSaid) {
  stand_in_.Play("echo 'Fatal Python error' >&2; kill -SEGV $$");

  const auto versions = Compile();

  EXPECT_THAT(versions, StatusIs(absl::StatusCode::kFailedPrecondition,
                                 HasReason(Reason::kCompileFailed)));
  EXPECT_THAT(std::string(versions.status().message()),
              AllOf(HasSubstr("signal 11"), HasSubstr("Fatal Python error")));
}

TEST_F(HostPythonTest, GarbageIsNoAnswer) {
  stand_in_.Play("", "echo 'warning: nonsense'");

  EXPECT_THAT(std::string(Compile().status().message()),
              HasSubstr("without an answer"));
}

TEST_F(HostPythonTest, OutputWithoutEndIsNotRepeated) {
  stand_in_.Play("yes complaint | head -c 1000000 >&2", "exit 3");

  EXPECT_LT(Compile().status().message().size(), 1024);
}

TEST_F(HostPythonTest, TheLimitKillsItAndAllThatItStarted) {
  stand_in_.Play("sleep 600 & echo $! >" + (dir_ / "child").native() +
                 "; echo $$ >" + (dir_ / "self").native() + "; wait");

  EXPECT_THAT(Compile(absl::Milliseconds(500)),
              StatusIs(absl::StatusCode::kDeadlineExceeded,
                       HasReason(Reason::kPhaseTimeout)));
  EXPECT_TRUE(Gone("child"));
  EXPECT_TRUE(Gone("self"));
}

TEST_F(HostPythonTest, StoppingTheJobKillsIt) {
  stand_in_.Play("trap '' TERM; echo $$ >" + (dir_ / "self").native() +
                 "; while true; do sleep 0.1; done");
  const std::jthread stopper([this] {
    EXPECT_TRUE(WaitUntil(
        [this] { return ReadFile(dir_ / "self", 100).value_or("") != ""; }));
    stop_ = true;
  });

  EXPECT_THAT(Compile(), StatusIs(absl::StatusCode::kCancelled,
                                  HasReason(Reason::kCancelled)));
  EXPECT_TRUE(Gone("self"));
}

TEST_F(HostPythonTest, CompilersWriteIntoTheScratchFolder) {
  stand_in_.Play("env >" + (dir_ / "env").native());

  ASSERT_THAT(Compile(), IsOk());

  const std::string env = *ReadFile(dir_ / "env", 1 << 20);
  const std::string scratch = (dir_ / "scratch").native();
  for (const char* name :
       {"TMPDIR", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR"}) {
    EXPECT_THAT(env, HasSubstr(absl::StrCat(name, "=", scratch))) << name;
  }
  EXPECT_THAT(env, Not(HasSubstr(absl::StrCat("HOME=", scratch, "\n"))));
}

}  // namespace
}  // namespace traza
