// SPDX-License-Identifier: Apache-2.0
// What scripts and people rely on: exit codes, streams, signals and terminals
// of the real `traza` against a real daemon and worker.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "base/file.h"
#include "base/subprocess.h"
#include "tests/integration/daemon_fixture.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait_until.h"

namespace traza {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

// Takes minutes when nobody stops it, and leaves a small trace.
const std::vector<std::string>& LongJob() {
  static const auto& words = *new std::vector<std::string>{
      "run",           "matmul_add", "-p",        "size=256",
      "--timed-steps", "1000000",    "--timeout", "1h"};
  return words;
}

json Parse(const std::string& text) {
  json parsed = json::parse(text, nullptr, false);
  EXPECT_FALSE(parsed.is_discarded()) << text;
  return parsed.is_discarded() ? json::object() : parsed;
}

class CliEndToEnd : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    // A runner in the background of a shell ignores it, and children inherit
    // that.
    ::signal(SIGINT, SIG_DFL);
    ::signal(SIGPIPE, SIG_DFL);
    dir_ = new TempDir();
    auto daemon = TestDaemon::Start({.data_dir = dir_->path() / "data",
                                     .args = {"--standby-workers=1"},
                                     .environment = {},
                                     .log = dir_->path() / "log"});
    ASSERT_TRUE(daemon.ok()) << daemon.status();
    daemon_ = daemon->release();
  }

  static void TearDownTestSuite() {
    delete daemon_;
    daemon_ = nullptr;
    delete dir_;
    dir_ = nullptr;
  }

  static std::filesystem::path Binary() { return ProgramDir() / "traza"; }

  // Runs a shell line in which $TRAZA is the program with its --server.
  static ProgramOutput Shell(const std::string& line) {
    return RunProgram("/bin/bash", {"-c", line},
                      {absl::StrCat("TRAZA=", Binary().native(), " --server ",
                                    daemon_->grpc_address())});
  }

  static ProgramOutput Cli(const std::vector<std::string>& args) {
    return daemon_->Cli(args);
  }

  // Starts the program with its streams on `fds`.
  static Subprocess Start(std::vector<std::string> args,
                          std::vector<std::pair<int, int>> fds) {
    SubprocessOptions options;
    options.program = Binary();
    options.args = {"--server", daemon_->grpc_address()};
    options.args.insert(options.args.end(), args.begin(), args.end());
    options.environment = {"HOME=/nonexistent", "TERM=xterm", "PATH=/bin"};
    options.descriptors = std::move(fds);
    auto process = Subprocess::Start(options);
    EXPECT_TRUE(process.ok()) << process.status();
    return *std::move(process);
  }

  // The newest job once it is in that state.
  static bool NewestJobBecomes(const std::string& state, std::string* name) {
    return WaitUntil([&] {
      const json jobs =
          Parse(Cli({"jobs", "--limit", "1", "--json"}).out)["jobs"];
      if (jobs.empty() || jobs[0]["state"] != state) return false;
      *name = jobs[0]["name"];
      return true;
    });
  }

  static void CancelAll() {
    for (const char* state : {"pending", "running"}) {
      const json jobs =
          Parse(Cli({"jobs", "--state", state, "--json"}).out)["jobs"];
      for (const json& job : jobs) {
        Cli({"cancel", job["name"].get<std::string>()});
      }
    }
  }

  static TempDir* dir_;
  static TestDaemon* daemon_;
};
TempDir* CliEndToEnd::dir_ = nullptr;
TestDaemon* CliEndToEnd::daemon_ = nullptr;

TEST_F(CliEndToEnd, OptionsStandBeforeOrAfterTheWorkload) {
  EXPECT_EQ(Cli({"run", "-p", "size=64", "matmul_add"}).exit.code, 0);
  EXPECT_EQ(
      Cli({"run", "matmul_add", "-p", "size=64", "-p", "dtype=fp32"}).exit.code,
      0);
}

TEST_F(CliEndToEnd, TheLastLineOfARunIsTheVerdict) {
  const ProgramOutput output = Cli({"run", "matmul_add", "-p", "size=64"});

  const std::vector<std::string> lines = absl::StrSplit(output.out, '\n');
  ASSERT_GE(lines.size(), 2u) << output.err;
  EXPECT_THAT(lines[lines.size() - 2], StartsWith("Verdict: cpu-only"));
  EXPECT_THAT(output.err, Not(HasSubstr("Verdict")));
}

TEST_F(CliEndToEnd, ARunIsComparedWithAVariantThatRunsFirst) {
  const ProgramOutput output =
      Cli({"run", "matmul_add", "-p", "size=32", "--json", "--expect",
           "same_output(eager)", "--expect", "ops_per_step == baseline(eager)",
           "--expect", "same_output(eager) == false"});

  EXPECT_EQ(output.exit.code, 1) << output.err;
  EXPECT_THAT(output.err, HasSubstr("running eager first, to compare with"));
  const json results = Parse(output.out)["checks"]["results"];
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results[0]["outcome"], "passed") << results[0];
  EXPECT_EQ(results[1]["outcome"], "passed") << results[1];
  EXPECT_EQ(results[2]["outcome"], "failed") << results[2];
  EXPECT_EQ(results[2]["expression"], "same_output(eager) == false");
}

TEST_F(CliEndToEnd, ASweepIsAJobForEachValue) {
  const ProgramOutput output =
      Cli({"run", "matmul_add", "--json", "--sweep", "size=16,0,32", "--expect",
           "output_finite"});

  EXPECT_EQ(output.exit.code, 2) << output.err;
  const json sweep = Parse(output.out)["sweep"];
  ASSERT_EQ(sweep.size(), 3u);
  EXPECT_EQ(sweep[0]["job"]["spec"]["params"]["size"], "16");
  EXPECT_EQ(sweep[0]["checks"]["passed"], true);
  EXPECT_TRUE(sweep[1]["job"].is_null());
  EXPECT_EQ(sweep[1]["error"]["reason"], "INVALID_ARGUMENT");
  EXPECT_EQ(sweep[2]["job"]["state"], "SUCCEEDED");
}

TEST_F(CliEndToEnd, AnInterruptCancelsAllJobsOfASweep) {
  std::vector<std::string> words = LongJob();
  words.insert(words.end(), {"--sweep", "dtype=fp32,bf16"});
  Subprocess run = Start(words, {});
  std::string name;
  // The newest is the second, which waits for the first.
  ASSERT_TRUE(NewestJobBecomes("PENDING", &name)) << daemon_->Log();

  run.Signal(SIGINT);

  const auto exit = run.WaitFor(absl::Seconds(30));
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->code, 130);
  EXPECT_EQ(Parse(Cli({"job", name, "--json"}).out)["state"], "CANCELLED");
}

TEST_F(CliEndToEnd, UnknownNamesExitWith2) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{
           {"run", "no_such_workload"},
           {"run", "matmul_add", "--variant", "none"},
           {"run", "matmul_add", "--device", "gpu99"},
           {"run", "matmul_add", "-p", "colour=red"},
           {"run", "matmul_add", "-p", "size=big"},
           {"run", "matmul_add", "-p", "size=-1"},
           {"run", "matmul_add", "--device", "cpu", "--l2", "flush"},
           {"job", "nosuchjob"},
           {"explain", "nosuchtrace"},
           {"workloads", "none"}}) {
    const ProgramOutput output = Cli(words);
    EXPECT_EQ(output.exit.code, 2) << words[1] << output.err;
    EXPECT_EQ(output.out, "");
    EXPECT_THAT(output.err, AllOf(StartsWith("traza: "), HasSubstr("  try: ")));
  }
}

TEST_F(CliEndToEnd, NobodyThereExitsWith3) {
  const ProgramOutput output =
      RunProgram(Binary(), {"--server", "127.0.0.1:1", "jobs"});

  EXPECT_EQ(output.exit.code, 3);
  EXPECT_THAT(output.err,
              AllOf(HasSubstr("127.0.0.1:1"), HasSubstr("Connection refused"),
                    HasSubstr("trazad")));
}

TEST_F(CliEndToEnd, CancellingAJobThatEndedExitsWith4) {
  const json run =
      Parse(Cli({"run", "matmul_add", "-p", "size=64", "--json"}).out);

  EXPECT_EQ(Cli({"cancel", run["job"]["name"].get<std::string>()}).exit.code,
            4);
}

TEST_F(CliEndToEnd, AJobThatAnotherClientCancelsExitsWith1) {
  Subprocess run = Start(LongJob(), {});
  std::string name;
  ASSERT_TRUE(NewestJobBecomes("RUNNING", &name)) << daemon_->Log();

  EXPECT_EQ(Cli({"cancel", name}).exit.code, 0);

  const auto exit = run.WaitFor(absl::Seconds(30));
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->code, 1);
}

TEST_F(CliEndToEnd, AnInterruptCancelsTheJobAndExitsWith130) {
  Subprocess run = Start(LongJob(), {});
  std::string name;
  ASSERT_TRUE(NewestJobBecomes("RUNNING", &name)) << daemon_->Log();

  run.Signal(SIGINT);

  const auto exit = run.WaitFor(absl::Seconds(30));
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->code, 130);
  EXPECT_EQ(Parse(Cli({"job", name, "--json"}).out)["state"], "CANCELLED");
}

TEST_F(CliEndToEnd, AnInterruptOfWatchLeavesTheJobAlone) {
  std::vector<std::string> words = LongJob();
  words.emplace_back("--detach");
  const ProgramOutput detached = Cli(words);
  ASSERT_EQ(detached.exit.code, 0) << detached.err;
  std::string name;
  ASSERT_TRUE(NewestJobBecomes("RUNNING", &name)) << daemon_->Log();
  EXPECT_EQ(detached.out, name + "\n");

  Subprocess watch = Start({"watch", name}, {});
  // It answers an interrupt from its first instruction on.
  watch.Signal(SIGINT);

  const auto exit = watch.WaitFor(absl::Seconds(30));
  ASSERT_TRUE(exit.has_value());
  EXPECT_NE(exit->code.value_or(130), 0);
  EXPECT_EQ(Parse(Cli({"job", name, "--json"}).out)["state"], "RUNNING");
  CancelAll();
}

TEST_F(CliEndToEnd, TheSameRequestIdIsTheSameJob) {
  const std::vector<std::string> words = {
      "run", "matmul_add", "-p", "size=64", "--request-id", "r-1", "--json"};
  const json first = Parse(Cli(words).out);
  const json second = Parse(Cli(words).out);
  EXPECT_EQ(first["job"]["name"], second["job"]["name"]);

  const ProgramOutput other = Cli(
      {"run", "matmul_add", "-p", "size=32", "--request-id", "r-1", "--json"});
  EXPECT_EQ(other.exit.code, 2);
  EXPECT_THAT(other.err, HasSubstr("REQUEST_ID_REUSED"));
}

TEST_F(CliEndToEnd, DownloadsAreWholeAndAgree) {
  const json run =
      Parse(Cli({"run", "matmul_add", "-p", "size=64", "--json"}).out);
  const std::string trace = run["job"]["trace"];
  const json description = Parse(Cli({"trace", trace, "--json"}).out);
  const std::string file = (dir_->path() / "t.parquet").native();

  ASSERT_EQ(Cli({"download", trace, "-o", file}).exit.code, 0);
  const ProgramOutput piped = Cli({"download", trace, "-o", "-"});

  EXPECT_EQ(*FileSha256(file), description["sha256"].get<std::string>());
  EXPECT_EQ(piped.out, *ReadFile(file, 64 << 20));
  EXPECT_FALSE(std::filesystem::exists(file + ".part"));
  EXPECT_EQ(Parse(Cli({"trace", file, "--json"}).out)["rows"],
            description["rows"]);
}

TEST_F(CliEndToEnd, DeletesJobsAndTraces) {
  const json run =
      Parse(Cli({"run", "matmul_add", "-p", "size=64", "--json"}).out);
  const std::string job = run["job"]["name"];
  const std::string trace = run["job"]["trace"];

  EXPECT_EQ(Cli({"delete", job}).exit.code, 0);
  EXPECT_EQ(Cli({"job", job}).exit.code, 2);
  EXPECT_EQ(Cli({"explain", trace}).exit.code, 0);
  EXPECT_EQ(Cli({"delete", trace}).exit.code, 0);
  EXPECT_EQ(Cli({"explain", trace}).exit.code, 2);
}

TEST_F(CliEndToEnd, ListsAreFiltered) {
  ASSERT_EQ(Cli({"run", "matmul_add", "-p", "size=64"}).exit.code, 0);

  const json done = Parse(Cli({"jobs", "--state", "succeeded", "--workload",
                               "matmul_add", "--json"})
                              .out);
  const json none = Parse(Cli({"jobs", "--workload", "nothing", "--json"}).out);

  EXPECT_FALSE(done["jobs"].empty());
  EXPECT_TRUE(none["jobs"].empty());
}

TEST_F(CliEndToEnd, EveryListingCommandSucceeds) {
  ASSERT_EQ(Cli({"run", "matmul_add", "-p", "size=32"}).exit.code, 0);
  for (const char* command :
       {"jobs", "traces", "workloads", "devices", "host"}) {
    const ProgramOutput text = Cli({command});
    const ProgramOutput as_json = Cli({command, "--json"});

    EXPECT_EQ(text.exit.code, 0) << command << text.err;
    EXPECT_NE(text.out, "") << command;
    EXPECT_EQ(as_json.exit.code, 0) << command << as_json.err;
    EXPECT_TRUE(Parse(as_json.out).is_object()) << command;
  }
}

// Loading it would double the time of every command.
TEST_F(CliEndToEnd, TheProgramLoadsNoArrowUntilItReadsAFile) {
  const ProgramOutput output = Shell("ldd " + Binary().native());

  EXPECT_EQ(output.exit.code, 0) << output.err;
  EXPECT_THAT(output.out, Not(HasSubstr("libarrow")));
}

TEST_F(CliEndToEnd, AClosedPipeIsQuiet) {
  const ProgramOutput output =
      Shell("set -o pipefail; $TRAZA workloads --json | true; echo $?");

  EXPECT_EQ(output.err, "");
  EXPECT_THAT(output.out, MatchesRegex("(0|141)\n"));
}

TEST_F(CliEndToEnd, AFullDiskIsAnError) {
  const ProgramOutput output = Shell("$TRAZA workloads --json > /dev/full");

  EXPECT_EQ(output.exit.code, 1);
  EXPECT_THAT(output.err, HasSubstr("No space left"));
}

TEST_F(CliEndToEnd, WorksWithoutHome) {
  EXPECT_EQ(Shell("env -u HOME $TRAZA host").exit.code, 0);
}

TEST_F(CliEndToEnd, FlagGoesBeforeVariableBeforeFile) {
  TempDir home;
  const std::string config = (home / ".config/traza/config.toml").native();
  const std::string bare = Binary().native();
  const std::string write =
      absl::StrCat("export HOME=", home.path().native(),
                   "; mkdir -p ${HOME}/.config/traza; ", "echo 'server = \"",
                   daemon_->grpc_address(), "\"' > ", config, "; ");

  EXPECT_EQ(Shell(write + bare + " host").exit.code, 0);
  EXPECT_EQ(
      Shell(write + "TRAZA_SERVER=127.0.0.1:1 " + bare + " host").exit.code, 3);
  EXPECT_EQ(Shell(absl::StrCat(write, "TRAZA_SERVER=127.0.0.1:1 ", bare,
                               " host --server ", daemon_->grpc_address()))
                .exit.code,
            0);
}

TEST_F(CliEndToEnd, BytesThatAreNoTextAreRefusedNotSent) {
  const std::string bytes = "\xff\xfe\x01";
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{
           {"run", bytes},
           {"run", "matmul_add", "-p", "size=" + bytes},
           {"run", "matmul_add", "--label", bytes + "=x"},
           {"job", bytes},
           {"explain", bytes},
           {"--server", bytes, "jobs"},
           {bytes}}) {
    const ProgramOutput output = Cli(words);
    EXPECT_EQ(output.exit.code, 2) << output.err;
    EXPECT_THAT(output.err, Not(HasSubstr("\xff")));
  }
}

// A terminal of 40 columns with the program on it.
class CliOnATerminal : public CliEndToEnd {
 protected:
  void SetUp() override {
    master_ = UniqueFd(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    ASSERT_TRUE(master_.valid());
    ASSERT_EQ(::grantpt(master_.get()), 0);
    ASSERT_EQ(::unlockpt(master_.get()), 0);
    char name[100];
    ASSERT_EQ(::ptsname_r(master_.get(), name, sizeof(name)), 0);
    slave_ = UniqueFd(::open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
    ASSERT_TRUE(slave_.valid());
    const winsize size = {
        .ws_row = 24, .ws_col = 40, .ws_xpixel = 0, .ws_ypixel = 0};
    ASSERT_EQ(::ioctl(slave_.get(), TIOCSWINSZ, &size), 0);
  }

  Subprocess StartOnTerminal(const std::vector<std::string>& args) {
    const int fd = slave_.get();
    return Start(args, {{fd, 0}, {fd, 1}, {fd, 2}});
  }

  // Reads until `text` was shown.
  bool Shows(const std::string& text) {
    return WaitUntil(
        [&] {
          pollfd ready = {master_.get(), POLLIN, 0};
          while (::poll(&ready, 1, 0) > 0 && (ready.revents & POLLIN) != 0) {
            char buffer[4096];
            const ssize_t n = ::read(master_.get(), buffer, sizeof(buffer));
            if (n <= 0) break;
            shown_.append(buffer, static_cast<size_t>(n));
          }
          return shown_.find(text) != std::string::npos;
        },
        absl::Seconds(30));
  }

  void Type(const std::string& text) {
    ASSERT_EQ(::write(master_.get(), text.data(), text.size()),
              static_cast<ssize_t>(text.size()));
  }

  UniqueFd master_;
  UniqueFd slave_;
  std::string shown_;
};

TEST_F(CliOnATerminal, ProgressIsOneLineThatFits) {
  Subprocess run = StartOnTerminal(LongJob());
  ASSERT_TRUE(Shows("timed "));
  CancelAll();
  ASSERT_TRUE(run.WaitFor(absl::Seconds(30)).has_value());

  EXPECT_THAT(shown_, HasSubstr("\r\033[K"));
  const std::string progress = shown_.substr(0, shown_.find('\n'));
  for (absl::string_view part : absl::StrSplit(progress, "\r\033[K")) {
    EXPECT_LT(part.size(), 40u) << part;
  }
}

TEST_F(CliOnATerminal, TheFirstInterruptAsksAndYesCancels) {
  Subprocess run = StartOnTerminal(LongJob());
  ASSERT_TRUE(Shows("timed ")) << shown_;

  run.Signal(SIGINT);
  ASSERT_TRUE(Shows("Cancel the job?")) << shown_;
  EXPECT_TRUE(run.running());
  Type("y\n");

  const auto exit = run.WaitFor(absl::Seconds(30));
  ASSERT_TRUE(exit.has_value()) << shown_;
  EXPECT_EQ(exit->code, 130);
  std::string name;
  EXPECT_TRUE(NewestJobBecomes("CANCELLED", &name));
}

TEST_F(CliOnATerminal, TheSecondInterruptCancels) {
  Subprocess run = StartOnTerminal(LongJob());
  ASSERT_TRUE(Shows("timed ")) << shown_;

  run.Signal(SIGINT);
  ASSERT_TRUE(Shows("Cancel the job?")) << shown_;
  run.Signal(SIGINT);

  const auto exit = run.WaitFor(absl::Seconds(30));
  ASSERT_TRUE(exit.has_value()) << shown_;
  EXPECT_EQ(exit->code, 130);
  std::string name;
  EXPECT_TRUE(NewestJobBecomes("CANCELLED", &name));
}

TEST_F(CliOnATerminal, DetachLeavesTheJobRunning) {
  Subprocess run = StartOnTerminal(LongJob());
  ASSERT_TRUE(Shows("timed ")) << shown_;

  run.Signal(SIGINT);
  ASSERT_TRUE(Shows("Cancel the job?")) << shown_;
  Type("d\n");

  const auto exit = run.WaitFor(absl::Seconds(30));
  ASSERT_TRUE(exit.has_value()) << shown_;
  EXPECT_EQ(exit->code, 130);
  std::string name;
  EXPECT_TRUE(NewestJobBecomes("RUNNING", &name));
  CancelAll();
}

TEST_F(CliOnATerminal, ATraceIsNotWrittenToATerminal) {
  Subprocess run = StartOnTerminal({"download", "t1", "-o", "-"});

  const auto exit = run.WaitFor(absl::Seconds(30));
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->code, 2);
  EXPECT_TRUE(Shows("binary"));
}

}  // namespace
}  // namespace traza
