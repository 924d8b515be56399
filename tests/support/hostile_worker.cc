// SPDX-License-Identifier: Apache-2.0
// A worker that speaks the messages of spec/worker_message.h and misbehaves on
// request: `trazad --worker .../hostile_worker`, then
//
//   traza run hostile -p mode=segfault -p phase=traced
//
// It runs nothing: with mode=ok it goes through its phases in a few
// milliseconds and leaves a correct trace of `rows` rows. With
// TRAZA_HOSTILE_GPU=UUID in the environment of the daemon it has a GPU, too.

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

#include "base/file.h"
#include "spec/worker_description.h"
#include "spec/worker_message.h"
#include "tests/support/hostile_trace.h"
#include "trace/file/parquet_file.h"

namespace traza {
namespace {

std::atomic<bool> term = false;
std::atomic<bool> quiet = false;  // no heartbeats

void OnTerm(int /*signal*/) { term = true; }

// Nobody else in this process waits; poll(2) with no descriptors is a sleep
// that a signal ends.
void Pause(int ms) { ::poll(nullptr, 0, ms); }

void SendBytes(const std::string& bytes) {
  size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t n = ::send(kWorkerSocketFd, bytes.data() + sent,
                             bytes.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) _exit(9);  // the daemon has had enough
    sent += static_cast<size_t>(n);
  }
}

void Send(const WorkerMessage& message) { SendBytes(Encode(message)); }

[[noreturn]] void Hang() {
  while (true) Pause(1000);
}

// A sanitizer would turn the signal into an exit.
void Crash() {
  ::signal(SIGSEGV, SIG_DFL);
  ::raise(SIGSEGV);
}

// One worker with its job.
class Hostile {
 public:
  explicit Hostile(StartJob start)
      : start_(std::move(start)),
        mode_(Param("mode", "ok")),
        phase_(
            PhaseFromName(Param("phase", "traced")).value_or(Phase::kTraced)),
        rows_(std::stoll(Param("rows", "300"))) {}

  [[noreturn]] void Run() {
    for (const Phase phase : kAllPhases) {
      if (phase == Phase::kCompiling) continue;
      if (phase == Phase::kCold && start_.spec.cold_steps == 0) continue;
      Send(PhaseStarted{phase});
      if (phase == phase_) Misbehave();
      if (phase == Phase::kTraced) Steps(30, 0);
    }
    WriteTrace(rows_);
    Finish(rows_, partial_);
  }

 private:
  std::string Param(const std::string& name, const std::string& fallback) {
    const auto found = start_.spec.params.find(name);
    return found == start_.spec.params.end() ? fallback : found->second;
  }

  void Steps(int64_t count, int pause_ms) {
    for (int64_t i = 1; i <= count && !term; ++i) {
      Send(StepsDone{phase_, i, count});
      if (pause_ms > 0) Pause(pause_ms);
    }
  }

  void WriteTrace(int64_t rows) {
    const auto written =
        WriteParquet(MakeSimpleTrace(start_.spec, rows), start_.out);
    if (!written.ok()) {
      Send(WorkerError{Reason::kWorkerFailed,
                       std::string(written.status().message()), Phase::kStore});
      _exit(1);
    }
  }

  int64_t FileBytes() { return FileSize(start_.out).value_or(0); }

  [[noreturn]] void Finish(int64_t rows, bool partial) {
    Send(WorkerResult{rows, FileBytes(), partial});
    _exit(0);
  }

  void Misbehave() {
    const auto found = Modes().find(mode_);
    if (found != Modes().end()) found->second(*this);
  }

  static void Flood() {
    const std::string line = Encode(StepsDone{Phase::kSetup, 1, 2});
    std::string block;
    while (block.size() < 32'000) block += line;
    while (true) SendBytes(block);
  }

  static void FloodStderr() {
    const std::string block(32'000, 'x');
    for (int i = 0; i < 1000; ++i) {
      if (::write(STDERR_FILENO, block.data(), block.size()) < 0) _exit(9);
    }
    const std::string last = "the last words\n";
    if (::write(STDERR_FILENO, last.data(), last.size()) < 0) _exit(9);
  }

  void Fork() {
    if (::fork() == 0) Hang();
  }

  // The child keeps the socket open and, in a group of its own, escapes the
  // daemon's kill of the group.
  void ForkAway() {
    if (::fork() != 0) return;
    ::setsid();
    Hang();
  }

  void Truncate() {
    WriteTrace(rows_);
    std::filesystem::resize_file(start_.out, FileBytes() / 2);
    Finish(rows_, false);
  }

  void Link() {
    std::filesystem::create_symlink("/etc/hostname", start_.out);
    Finish(rows_, false);
  }

  void WriteHugeFile() {
    std::filesystem::resize_file(start_.out = Touch(), int64_t{1} << 42);
  }
  std::string Touch() {
    (void)WriteFileAtomically(start_.out, "x");
    return start_.out;
  }

  // Goes on until told to stop, then keeps what there is.
  void Slow() {
    for (int64_t i = 1; !term; ++i) {
      Send(StepsDone{phase_, i, 1'000'000});
      Pause(10);
    }
    partial_ = true;
  }

  using Mode = std::function<void(Hostile&)>;
  static const std::map<std::string, Mode>& Modes();
  friend std::vector<std::string> ModeNames();

  StartJob start_;
  const std::string mode_;
  const Phase phase_;
  const int64_t rows_;
  bool partial_ = false;
};

const std::map<std::string, Hostile::Mode>& Hostile::Modes() {
  static const std::map<std::string, Mode> modes = {
      {"ok", [](Hostile&) {}},
      {"exit", [](Hostile&) { _exit(3); }},
      {"exit_zero", [](Hostile&) { _exit(0); }},
      {"segfault", [](Hostile&) { Crash(); }},
      {"kill_self", [](Hostile&) { ::raise(SIGKILL); }},
      {"error",
       [](Hostile& h) {
         Send(WorkerError{Reason::kWorkerFailed, "it did not work", h.phase_});
         _exit(1);
       }},
      {"oom",
       [](Hostile& h) {
         Send(WorkerError{Reason::kOutOfMemory, "no memory", h.phase_});
         _exit(1);
       }},
      {"hang",
       [](Hostile&) {
         ::signal(SIGTERM, SIG_DFL);
         Hang();
       }},
      {"silent",
       [](Hostile&) {
         quiet = true;
         Hang();
       }},
      {"ignore_term", [](Hostile&) { Hang(); }},
      {"slow", [](Hostile& h) { h.Slow(); }},
      {"partial", [](Hostile& h) { h.partial_ = true; }},
      {"flood", [](Hostile&) { Flood(); }},
      {"flood_stderr", [](Hostile&) { FloodStderr(); }},
      {"garbage", [](Hostile&) { SendBytes("{\"type\": \xff garbage\n"); }},
      {"big_line",
       [](Hostile&) { SendBytes(std::string(4 * kMaxMessageBytes, 'x')); }},
      {"wrong_version", [](Hostile&) { Send(Hello{99, "99.0"}); }},
      {"backwards", [](Hostile&) { Send(PhaseStarted{Phase::kSetup}); }},
      {"close_socket",
       [](Hostile&) {
         ::shutdown(kWorkerSocketFd, SHUT_RDWR);
         quiet = true;
         Hang();
       }},
      {"fork", [](Hostile& h) { h.Fork(); }},
      {"fork_away", [](Hostile& h) { h.ForkAway(); }},
      {"truncated", [](Hostile& h) { h.Truncate(); }},
      {"no_file", [](Hostile& h) { h.Finish(h.rows_, false); }},
      {"link", [](Hostile& h) { h.Link(); }},
      {"not_parquet",
       [](Hostile& h) {
         h.Touch();
         h.Finish(h.rows_, false);
       }},
      {"wrong_rows",
       [](Hostile& h) {
         h.WriteTrace(h.rows_);
         h.Finish(h.rows_ + 1, false);
       }},
      {"empty",
       [](Hostile& h) {
         h.WriteTrace(0);
         h.Finish(0, false);
       }},
      {"huge_file", [](Hostile& h) { h.WriteHugeFile(); }},
      {"crash_after_result",
       [](Hostile& h) {
         h.WriteTrace(h.rows_);
         Send(WorkerResult{h.rows_, h.FileBytes(), false});
         Crash();
       }},
      {"linger",
       [](Hostile& h) {
         h.WriteTrace(h.rows_);
         Send(WorkerResult{h.rows_, h.FileBytes(), false});
         Hang();
       }},
  };
  return modes;
}

std::vector<std::string> ModeNames() {
  std::vector<std::string> names;
  for (const auto& [name, mode] : Hostile::Modes()) names.push_back(name);
  return names;
}

ParamSchema Choice(const std::string& name, std::vector<std::string> choices,
                   const std::string& fallback) {
  ParamSchema schema;
  schema.name = name;
  schema.type = ParamType::kChoice;
  schema.help = "How the worker behaves.";
  schema.choices = std::move(choices);
  schema.default_cpu = schema.default_gpu = fallback;
  return schema;
}

int Measure() {
  const DeviceRoofs roofs = {.flops_per_second = {{"bf16", 7e14}},
                             .memory_bytes_per_second = 4e12};
  std::printf("%s\n", ToJson(roofs).dump().c_str());
  return 0;
}

int Describe() {
  WorkerDescription description;
  description.versions = {{"traza", "0.1.0"}, {"torch", "none"}};
  description.capabilities = {"ops"};
  DeviceDescription cpu;
  cpu.id = "cpu";
  cpu.model = "A CPU";
  cpu.memory_bytes = int64_t{1} << 30;
  cpu.cores = 1;
  description.devices = {cpu};
  // NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread.
  if (const char* const uuid = std::getenv("TRAZA_HOSTILE_GPU")) {
    DeviceDescription gpu = cpu;
    gpu.id = "gpu0";
    gpu.kind = DeviceKind::kGpu;
    gpu.model = "A GPU";
    gpu.uuid = uuid;
    description.devices.push_back(gpu);
  }
  WorkloadSchema workload;
  workload.name = "hostile";
  workload.title = "Misbehaves as told.";
  workload.range = "hostile";
  workload.variants = {{.name = "eager", .title = "The only one."}};
  std::vector<std::string> phases;
  for (const Phase phase : kAllPhases) {
    phases.emplace_back(std::string(PhaseName(phase)));
  }
  ParamSchema rows;
  rows.name = "rows";
  rows.help = "Rows of the trace.";
  rows.min = 1;
  rows.max = 10'000'000;
  rows.default_cpu = rows.default_gpu = "300";
  workload.params = {Choice("mode", ModeNames(), "ok"),
                     Choice("phase", phases, "traced"), rows};
  description.workloads = {workload};
  std::printf("%s\n", ToJson(description).dump().c_str());
  return 0;
}

void Heartbeats() {
  while (true) {
    Pause(static_cast<int>(absl::ToInt64Milliseconds(kHeartbeatPeriod)));
    if (!quiet) Send(Heartbeat{});
  }
}

StartJob ReceiveJob() {
  LineSplitter lines;
  char chunk[4096];
  while (true) {
    const ssize_t n = ::recv(kWorkerSocketFd, chunk, sizeof(chunk), 0);
    if (n < 0 && errno == EINTR && !term) continue;
    if (n <= 0) _exit(0);
    if (!lines.Add(absl::string_view(chunk, static_cast<size_t>(n))).ok()) {
      _exit(8);
    }
    if (const auto line = lines.Next(); line.has_value()) {
      auto start = DecodeStartJob(*line);
      if (!start.ok()) _exit(8);
      return *std::move(start);
    }
  }
}

int Serve(bool standby) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  struct sigaction action = {};
  action.sa_handler = OnTerm;
  ::sigaction(SIGTERM, &action, nullptr);
  Send(Hello{kWorkerProtocol, "0.1.0"});
  if (standby) Send(Ready{});
  StartJob start = ReceiveJob();
  std::thread(Heartbeats).detach();
  Hostile(std::move(start)).Run();
}

}  // namespace
}  // namespace traza

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  const auto has = [&](const std::string& flag) {
    return std::ranges::find(args, flag) != args.end();
  };
  if (has("--describe")) return traza::Describe();
  if (has("--measure")) return traza::Measure();
  if (has("--daemon")) return traza::Serve(has("--standby"));
  std::fprintf(stderr, "usage: hostile_worker --describe | --daemon\n");
  return 2;
}
