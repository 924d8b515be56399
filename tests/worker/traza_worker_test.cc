// SPDX-License-Identifier: Apache-2.0
// The program traza-worker from outside: by hand, and as the daemon uses it.

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/check.h"
#include "base/file.h"
#include "base/subprocess.h"
#include "spec/worker_description.h"
#include "spec/worker_message.h"
#include "tests/support/stand_in_python.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait_until.h"
#include "trace/file/parquet_file.h"

namespace traza {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr absl::Duration kPatience = absl::Seconds(50);

std::filesystem::path WorkerPath() {
  return ExecutableDirectory().parent_path() / "traza-worker";
}

int64_t CountOf(const Trace& trace, EventKind kind, Phase phase) {
  int64_t count = 0;
  for (size_t row = 0; row < trace.rows(); ++row) {
    if (trace.kind[row] == kind &&
        trace.phase.at(row) == static_cast<int8_t>(phase)) {
      ++count;
    }
  }
  return count;
}

// ---- By hand

class WorkerByHandTest : public testing::Test {
 protected:
  // Runs a program to its end and returns its exit as text.
  std::string Run(const std::filesystem::path& program,
                  const std::vector<std::string>& args,
                  const std::string& input = "") {
    EXPECT_THAT(WriteFileAtomically(dir_ / "in", input), IsOk());
    const UniqueFd in = *OpenFile(dir_ / "in", O_RDONLY);
    const UniqueFd out = *OpenFile(dir_ / "out", O_CREAT | O_TRUNC | O_WRONLY);
    const UniqueFd err = *OpenFile(dir_ / "err", O_CREAT | O_TRUNC | O_WRONLY);
    Subprocess process = *Subprocess::Start(
        {.program = program,
         .args = args,
         .environment = {"PATH=/usr/bin:/bin"},
         .descriptors = {{in.get(), 0}, {out.get(), 1}, {err.get(), 2}}});
    const std::optional<ExitStatus> exit = process.WaitFor(kPatience);
    out_ = *ReadFile(dir_ / "out", 1 << 20);
    err_ = *ReadFile(dir_ / "err", 1 << 20);
    return exit ? exit->ToString() : "still running";
  }
  std::string RunWorker(const std::vector<std::string>& args,
                        const std::string& input = "") {
    return Run(WorkerPath(), args, input);
  }
  std::string RunSpec(const std::string& spec) {
    return RunWorker({"--spec", "-", "--out", trace_path()}, spec);
  }
  std::string trace_path() const { return (dir_ / "x.parquet").string(); }

  TempDir dir_;
  std::string out_;
  std::string err_;
};

TEST_F(WorkerByHandTest, DescribesItselfInJsonAndNothingElse) {
  ASSERT_EQ(RunWorker({"--describe"}), "exit 0") << err_;

  const auto description = WorkerDescriptionFromJson(out_);
  ASSERT_THAT(description, IsOk());
  EXPECT_EQ(description->protocol, kWorkerProtocol);
  EXPECT_NE(description->FindWorkload("geglu_mlp"), nullptr);
  const DeviceDescription* const cpu = description->FindDevice("cpu");
  ASSERT_NE(cpu, nullptr);
  EXPECT_FALSE(cpu->model.empty());
  EXPECT_GT(cpu->memory_bytes, 0);
  EXPECT_GT(cpu->roofs.flops_per_second.at("fp32"), 1e8);
}

// The daemon reads no longer ones, and must start whatever lies in its folder.
TEST_F(WorkerByHandTest, ReasonsOfAnyLengthAreCut) {
  const std::filesystem::path models = dir_ / "models";
  ASSERT_TRUE(std::filesystem::create_directory(models));
  for (int i = 0; i < 40; ++i) {
    // Listed as one name, with all of their faults.
    const std::string name =
        absl::StrCat("\xc3", std::string(1, static_cast<char>(0x80 + i)));
    ASSERT_THAT(WriteFileAtomically(models / (name + ".json"), "{ no json"),
                IsOk());
  }

  ASSERT_EQ(RunWorker({"--describe", "--models", models.string()}), "exit 0")
      << err_;

  const auto description = WorkerDescriptionFromJson(out_);
  ASSERT_THAT(description, IsOk());
  const WorkloadSchema* const broken = description->FindWorkload("__.json");
  ASSERT_NE(broken, nullptr);
  EXPECT_THAT(broken->variants.front().unavailable.at("cpu"),
              testing::EndsWith("..."));
}

TEST_F(WorkerByHandTest, RunsARequestWithEveryDefault) {
  ASSERT_EQ(RunSpec(R"({"workload": "matmul_add", "device": "cpu"})"), "exit 0")
      << err_;

  EXPECT_THAT(err_, HasSubstr("params[size] = 64"));
  const Trace trace = *ReadParquet(trace_path());
  EXPECT_EQ(CountOf(trace, EventKind::kStep, Phase::kCold), 1);
  EXPECT_EQ(CountOf(trace, EventKind::kStep, Phase::kTimed), 30);
  EXPECT_EQ(CountOf(trace, EventKind::kStep, Phase::kTraced), 30);
  EXPECT_EQ(CountOf(trace, EventKind::kRange, Phase::kTraced), 30);
  EXPECT_EQ(CountOf(trace, EventKind::kOp, Phase::kTraced), 180);
  EXPECT_EQ(trace.header.completeness.dropped_ops, 0);
  EXPECT_EQ(trace.header.completeness.id_stack_depth, 0);
  EXPECT_EQ(trace.header.versions.at("torch"), "2.11.0");
  EXPECT_EQ(trace.header.fingerprint->shape, "[64,64]");
}

TEST_F(WorkerByHandTest, RecordsShapesWhenAsked) {
  ASSERT_EQ(RunSpec(R"({"workload": "linear", "device": "cpu",
                        "depth": "shapes"})"),
            "exit 0")
      << err_;

  const Trace trace = *ReadParquet(trace_path());
  for (size_t row = 0; row < trace.rows(); ++row) {
    if (trace.name_of(row) != "aten::addmm") continue;
    EXPECT_EQ(trace.names.at(trace.shapes.at(row)),
              "[[64],[1024,32],[32,64],[],[]]");
    EXPECT_EQ(trace.flops.at(row), 2 * 1024 * 32 * 64 + 1024 * 64);
  }
}

TEST_F(WorkerByHandTest, ACompiledVariantIsNotForTheCpu) {
  ASSERT_EQ(RunSpec(R"({"workload": "linear", "variant": "compiled",
                        "device": "cpu"})"),
            "exit 2");

  EXPECT_THAT(err_, HasSubstr("WORKLOAD_UNAVAILABLE"));
  EXPECT_THAT(err_, HasSubstr("libtorch_cuda"));
}

TEST_F(WorkerByHandTest, SaysWhatIsWrongWithTheUsage) {
  EXPECT_EQ(RunWorker({"--nonsense"}), "exit 2");
  EXPECT_THAT(err_, HasSubstr("usage:"));
  EXPECT_EQ(RunWorker({}), "exit 2");
  EXPECT_EQ(RunWorker({"--help"}), "exit 0");
  EXPECT_THAT(out_, HasSubstr("usage:"));
  EXPECT_EQ(RunWorker({"--version"}), "exit 0");
  EXPECT_THAT(out_, HasSubstr("traza-worker "));
}

TEST_F(WorkerByHandTest, SaysWhatIsWrongWithARequest) {
  EXPECT_EQ(RunSpec("no json"), "exit 2");
  EXPECT_EQ(RunSpec(R"({"workload": "nonsense"})"), "exit 2");
  EXPECT_THAT(err_, HasSubstr("WORKLOAD_NOT_FOUND"));
  EXPECT_EQ(RunSpec(R"({"workload": "linear", "params": {"batch": "many"}})"),
            "exit 2");
  EXPECT_THAT(err_, HasSubstr("params[batch]"));
  EXPECT_EQ(RunWorker({"--spec", "/nonexistent", "--out", trace_path()}),
            "exit 2");
}

TEST_F(WorkerByHandTest, AJobThatFailsSaysWhere) {
  ASSERT_EQ(RunWorker({"--spec", "-", "--out", "/nonexistent/x.parquet"},
                      R"({"workload": "linear", "device": "cpu"})"),
            "exit 1");

  EXPECT_THAT(err_, HasSubstr("phase store"));
}

TEST_F(WorkerByHandTest, DaemonModeNeedsItsSocket) {
  EXPECT_EQ(RunWorker({"--daemon", "--device", "cpu"}), "exit 2");
}

TEST_F(WorkerByHandTest, LinksNeitherGrpcNorProtobuf) {
  ASSERT_EQ(Run("/usr/bin/ldd", {WorkerPath()}), "exit 0") << err_;

  EXPECT_THAT(out_, HasSubstr("libtorch_cpu"));
  EXPECT_THAT(out_, Not(HasSubstr("grpc")));
  EXPECT_THAT(out_, Not(HasSubstr("protobuf")));
  EXPECT_THAT(out_, Not(HasSubstr("libtorch_cuda")));
}

// ---- As the daemon uses it

class WorkerForDaemonTest : public testing::Test {
 protected:
  void Start(const std::vector<std::string>& args,
             std::vector<std::pair<int, uint64_t>> limits = {}) {
    auto [ours, theirs] = *MakeSocketPair();
    socket_ = std::move(ours);
    worker_ =
        *Subprocess::Start({.program = WorkerPath(),
                            .args = args,
                            .environment = environment_,
                            .descriptors = {{theirs.get(), kWorkerSocketFd}},
                            .limits = std::move(limits)});
  }

  std::optional<WorkerMessage> Receive() {
    for (;;) {
      if (const auto line = lines_.Next()) return *DecodeWorkerMessage(*line);
      char bytes[4096];
      const ssize_t size = read(socket_.get(), bytes, sizeof bytes);
      if (size <= 0) return std::nullopt;
      TRAZA_CHECK(
          lines_.Add(absl::string_view(bytes, static_cast<size_t>(size))).ok());
    }
  }
  // Skips messages up to one of that kind.
  template <typename Message>
  Message ReceiveA() {
    for (;;) {
      const std::optional<WorkerMessage> message = Receive();
      TRAZA_CHECK(message.has_value());
      if (const auto* const wanted = std::get_if<Message>(&*message)) {
        return *wanted;
      }
    }
  }
  void SendJob() { ASSERT_THAT(WriteAll(socket_.get(), Encode(job_)), IsOk()); }
  std::string Exit() {
    const std::optional<ExitStatus> exit = worker_->WaitFor(kPatience);
    return exit ? exit->ToString() : "still running";
  }
  Trace ReadTrace() { return *ReadParquet(job_.out); }

  WorkerForDaemonTest() {
    job_.spec.workload = "matmul_add";
    job_.spec.variant = "eager";
    job_.spec.device = "cpu";
    job_.spec.params = {{"size", "64"}, {"bias", "2d"}, {"dtype", "fp32"}};
    job_.out = (dir_ / "x.parquet").string();
  }

  TempDir dir_;
  std::vector<std::string> environment_ = {"PATH=/usr/bin:/bin"};
  StartJob job_;
  UniqueFd socket_;
  LineSplitter lines_;
  std::optional<Subprocess> worker_;
};

TEST_F(WorkerForDaemonTest, RunsAJobThatIsSentAtOnce) {
  Start({"--daemon", "--device", "cpu"});
  SendJob();

  EXPECT_EQ(ReceiveA<Hello>().protocol, kWorkerProtocol);
  ReceiveA<Ready>();
  EXPECT_EQ(ReceiveA<PhaseStarted>().phase, Phase::kSetup);
  EXPECT_EQ(ReceiveA<PhaseStarted>().phase, Phase::kCold);
  const auto result = ReceiveA<WorkerResult>();

  EXPECT_EQ(Exit(), "exit 0");
  const Trace trace = ReadTrace();
  EXPECT_EQ(trace.rows(), result.rows);
  EXPECT_EQ(std::filesystem::file_size(job_.out), result.file_bytes);
  EXPECT_FALSE(trace.header.standby);
}

TEST_F(WorkerForDaemonTest, TheTraceKeepsTheRoofsThatTheDaemonKnows) {
  job_.roofs = {.flops_per_second = {{"fp32", 1e11}},
                .memory_bytes_per_second = 2e10};
  Start({"--daemon", "--device", "cpu"});
  SendJob();
  ReceiveA<WorkerResult>();
  Exit();

  EXPECT_EQ(ReadTrace().header.device.roofs, job_.roofs);
}

TEST_F(WorkerForDaemonTest, AJobForAnotherDeviceIsRefused) {
  job_.spec.device = "gpu0";
  Start({"--daemon", "--device", "cpu"});
  SendJob();

  EXPECT_EQ(ReceiveA<WorkerError>().reason, Reason::kWorkerProtocol);
  EXPECT_EQ(Exit(), "exit 1");
}

TEST_F(WorkerForDaemonTest, AStandbyRunsNoColdStep) {
  Start({"--daemon", "--device", "cpu", "--standby"});
  ReceiveA<Ready>();
  SendJob();
  ReceiveA<WorkerResult>();

  EXPECT_EQ(Exit(), "exit 0");
  const Trace trace = ReadTrace();
  EXPECT_TRUE(trace.header.standby);
  EXPECT_EQ(CountOf(trace, EventKind::kStep, Phase::kCold), 0);
}

TEST_F(WorkerForDaemonTest, ReportsAnErrorWithItsPhase) {
  job_.spec.device = "gpu99";
  Start({"--daemon", "--device", "gpu99"});
  SendJob();

  const auto error = ReceiveA<WorkerError>();

  EXPECT_THAT(error.reason, AnyOf(Reason::kDeviceNotFound));
  EXPECT_EQ(error.phase, Phase::kSetup);
  EXPECT_EQ(Exit(), "exit 1");
}

TEST_F(WorkerForDaemonTest, ReportsThatMemoryIsShort) {
  job_.spec.params["size"] = "65536";
  Start({"--daemon", "--device", "cpu"}, {{RLIMIT_AS, uint64_t{8} << 30}});
  SendJob();

  EXPECT_EQ(ReceiveA<WorkerError>().reason, Reason::kOutOfMemory);
  EXPECT_EQ(Exit(), "exit 1");
}

TEST_F(WorkerForDaemonTest, TermInTracedStepsLeavesAPartialTrace) {
  job_.spec.traced_steps = 1'000'000;
  Start({"--daemon", "--device", "cpu"});
  SendJob();
  while (ReceiveA<StepsDone>().phase != Phase::kTraced) {
  }

  worker_->Signal(SIGTERM);

  EXPECT_TRUE(ReceiveA<WorkerResult>().partial);
  EXPECT_EQ(Exit(), "exit 0");
  const Trace trace = ReadTrace();
  EXPECT_TRUE(trace.header.partial);
  const int64_t steps = CountOf(trace, EventKind::kStep, Phase::kTraced);
  EXPECT_GT(steps, 0);
  EXPECT_LT(steps, 1'000'000);
  EXPECT_EQ(CountOf(trace, EventKind::kOp, Phase::kTraced), 6 * steps);
}

TEST_F(WorkerForDaemonTest, TermBeforeThatIsCancelled) {
  job_.spec.timed_steps = 1'000'000;
  Start({"--daemon", "--device", "cpu"});
  SendJob();
  while (ReceiveA<StepsDone>().phase != Phase::kTimed) {
  }

  worker_->Signal(SIGTERM);

  EXPECT_EQ(ReceiveA<WorkerError>().reason, Reason::kCancelled);
  EXPECT_EQ(Exit(), "exit 1");
  EXPECT_FALSE(std::filesystem::exists(job_.out));
}

TEST_F(WorkerForDaemonTest, TermEndsAWaitingStandby) {
  Start({"--daemon", "--device", "cpu", "--standby"});
  ReceiveA<Ready>();

  worker_->Signal(SIGTERM);

  EXPECT_EQ(Exit(), "exit 1");
}

// ---- Compiled variants, with a stand-in for the host's Python

class CompiledVariantTest : public WorkerForDaemonTest {
 protected:
  CompiledVariantTest() { job_.spec.variant = "compiled"; }

  void StartCompiling() {
    environment_ = stand_in_.environment();
    Start({"--daemon", "--device", "cpu", "--models",
           (dir_ / "models").string(), "--compile-timeout", "20s"});
    SendJob();
    while (ReceiveA<PhaseStarted>().phase != Phase::kCompiling) {
    }
  }
  std::filesystem::path python_pid() const { return dir_ / "pid"; }
  bool PythonIsGone() {
    int pid = 0;
    EXPECT_TRUE(absl::SimpleAtoi(*ReadFile(python_pid(), 100), &pid));
    return WaitUntil([&] { return kill(pid, 0) != 0; });
  }

  StandInPython stand_in_{dir_.path()};
};

TEST_F(CompiledVariantTest, APackageThatDoesNotLoadIsTheReason) {
  StartCompiling();

  const auto error = ReceiveA<WorkerError>();

  EXPECT_EQ(error.reason, Reason::kModelUnusable);
  EXPECT_EQ(error.phase, Phase::kCompiling);
  EXPECT_THAT(error.message, HasSubstr("delete the file"));
  EXPECT_EQ(stand_in_.compilations(), 1);
  EXPECT_EQ(Exit(), "exit 1");
}

TEST_F(CompiledVariantTest, WhatPythonSaysIsTheReason) {
  stand_in_.Play("",
                 R"(echo '{"error": "no-cuda", "message": "no GPU"}'; exit 1)");
  StartCompiling();

  const auto error = ReceiveA<WorkerError>();

  EXPECT_EQ(error.reason, Reason::kCompileFailed);
  EXPECT_THAT(error.message, HasSubstr("no GPU"));
}

TEST_F(CompiledVariantTest, HeartbeatsGoOnAndTermEndsPythonToo) {
  stand_in_.Play("echo $$ >" + python_pid().native() + "; sleep 600");
  StartCompiling();
  ASSERT_TRUE(WaitUntil([&] { return ReadFile(python_pid(), 9).ok(); }));
  ReceiveA<Heartbeat>();

  worker_->Signal(SIGTERM);

  EXPECT_EQ(ReceiveA<WorkerError>().reason, Reason::kCancelled);
  EXPECT_EQ(Exit(), "exit 1");
  EXPECT_TRUE(PythonIsGone());
}

TEST_F(WorkerForDaemonTest, EndsWithTheDaemonsEndOfTheSocket) {
  Start({"--daemon", "--device", "cpu", "--standby"});
  ReceiveA<Ready>();

  socket_.Reset();

  EXPECT_EQ(Exit(), "exit 3");
}

}  // namespace
}  // namespace traza
