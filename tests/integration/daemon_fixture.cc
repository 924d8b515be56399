// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/daemon_fixture.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "nlohmann/json.hpp"

#include "base/error.h"
#include "base/file.h"
#include "base/status_macros.h"

namespace traza {
namespace {

constexpr absl::Duration kReadyLimit = absl::Seconds(60);

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

absl::StatusOr<Pipe> MakePipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return ErrnoStatus(errno, "pipe2");
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

std::vector<std::string> BaseEnvironment() {
  std::vector<std::string> result = {"HOME=/nonexistent", "LC_ALL=C.UTF-8"};
  for (const char* name : {"PATH", "LD_LIBRARY_PATH", "ASAN_OPTIONS",
                           "TSAN_OPTIONS", "UBSAN_OPTIONS"}) {
    // Tests read the environment before they start threads.
    const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
    if (value != nullptr) result.push_back(absl::StrCat(name, "=", value));
  }
  return result;
}

// Reads both pipes until the peer closed them or the limit passed.
void Collect(const UniqueFd& out, const UniqueFd& err, absl::Time limit,
             ProgramOutput* result) {
  std::array<pollfd, 2> ends = {pollfd{out.get(), POLLIN, 0},
                                pollfd{err.get(), POLLIN, 0}};
  std::array<std::string*, 2> sinks = {&result->out, &result->err};
  while (ends[0].fd >= 0 || ends[1].fd >= 0) {
    const absl::Duration left = limit - absl::Now();
    if (left <= absl::ZeroDuration()) return;
    if (poll(ends.data(), ends.size(),
             static_cast<int>(absl::ToInt64Milliseconds(left)) + 1) < 0) {
      return;
    }
    for (size_t i = 0; i < ends.size(); ++i) {
      if (ends[i].fd < 0 || ends[i].revents == 0) continue;
      char buffer[65536];
      const ssize_t n = read(ends[i].fd, buffer, sizeof(buffer));
      if (n <= 0) {
        ends[i].fd = -1;
      } else {
        sinks[i]->append(buffer, static_cast<size_t>(n));
      }
    }
  }
}

// The first line that arrives on `fd`.
absl::StatusOr<std::string> ReadLine(int fd, absl::Duration limit) {
  const absl::Time end = absl::Now() + limit;
  std::string line;
  while (absl::Now() < end) {
    pollfd ready = {fd, POLLIN, 0};
    if (poll(&ready, 1, 1000) <= 0) continue;
    char byte = 0;
    const ssize_t n = read(fd, &byte, 1);
    if (n <= 0) return absl::UnavailableError("the daemon ended");
    if (byte == '\n') return line;
    line.push_back(byte);
  }
  return absl::DeadlineExceededError("the daemon was not ready in time");
}

}  // namespace

std::filesystem::path ProgramDir() {
  return ExecutableDirectory().parent_path();
}

ProgramOutput RunProgram(const std::filesystem::path& program,
                         const std::vector<std::string>& args,
                         const std::vector<std::string>& environment,
                         absl::Duration limit) {
  ProgramOutput result;
  absl::StatusOr<Pipe> out = MakePipe();
  absl::StatusOr<Pipe> err = MakePipe();
  if (!out.ok() || !err.ok()) {
    result.err = "no pipe";
    return result;
  }
  SubprocessOptions options;
  options.program = program;
  options.args = args;
  options.environment = BaseEnvironment();
  options.environment.insert(options.environment.end(), environment.begin(),
                             environment.end());
  options.descriptors = {{out->write.get(), 1}, {err->write.get(), 2}};
  absl::StatusOr<Subprocess> process = Subprocess::Start(options);
  if (!process.ok()) {
    result.err = std::string(process.status().message());
    return result;
  }
  out->write.Reset();
  err->write.Reset();
  const absl::Time end = absl::Now() + limit;
  Collect(out->read, err->read, end, &result);
  const std::optional<ExitStatus> exit = process->WaitFor(end - absl::Now());
  result.exit = exit.has_value() ? *exit : process->Kill();
  return result;
}

int CountProcessesWithEnvironment(const std::string& entry) {
  int count = 0;
  std::error_code ignored;
  for (const auto& process :
       std::filesystem::directory_iterator("/proc", ignored)) {
    // Unreadable ones are no processes, have ended, or are somebody else's.
    const absl::StatusOr<std::string> environment =
        ReadFile(process.path() / "environ", 1 << 20);
    if (!environment.ok()) continue;
    for (const absl::string_view one : absl::StrSplit(*environment, '\0')) {
      if (one == entry) ++count;
    }
  }
  return count;
}

absl::StatusOr<std::unique_ptr<TestDaemon>> TestDaemon::Start(
    const Options& options) {
  ASSIGN_OR_RETURN(Pipe ready, MakePipe());
  ASSIGN_OR_RETURN(const UniqueFd log,
                   OpenFile(options.log, O_WRONLY | O_CREAT | O_APPEND));
  SubprocessOptions spawn;
  spawn.program = ProgramDir() / "trazad";
  spawn.args = {"--listen=127.0.0.1:0", "--http-listen=127.0.0.1:0",
                absl::StrCat("--data-dir=", options.data_dir.string()),
                "--ready-fd=9"};
  spawn.args.insert(spawn.args.end(), options.args.begin(), options.args.end());
  spawn.environment = BaseEnvironment();
  spawn.environment.insert(spawn.environment.end(), options.environment.begin(),
                           options.environment.end());
  spawn.descriptors = {{ready.write.get(), 9}, {log.get(), 1}, {log.get(), 2}};
  ASSIGN_OR_RETURN(Subprocess process, Subprocess::Start(spawn));
  ready.write.Reset();

  absl::StatusOr<std::string> line = ReadLine(ready.read.get(), kReadyLimit);
  const nlohmann::json parsed =
      line.ok() ? nlohmann::json::parse(*line, nullptr, false)
                : nlohmann::json();
  if (!line.ok() || !parsed.is_object()) {
    process.Kill();
    const absl::StatusOr<std::string> text = ReadFile(options.log, 1 << 20);
    return absl::UnavailableError(
        absl::StrCat("trazad did not start: ", text.ok() ? *text : ""));
  }
  return std::unique_ptr<TestDaemon>(new TestDaemon(
      std::move(process), options.log, parsed.value("grpc", std::string()),
      parsed.value("http", std::string())));
}

TestDaemon::TestDaemon(Subprocess process, std::filesystem::path log,
                       std::string grpc, std::string http)
    : process_(std::move(process)),
      log_(std::move(log)),
      grpc_(std::move(grpc)),
      http_(std::move(http)) {}

std::string TestDaemon::Log() const {
  const absl::StatusOr<std::string> text = ReadFile(log_, 16 << 20);
  return text.ok() ? *text : std::string(text.status().message());
}

ProgramOutput TestDaemon::Cli(const std::vector<std::string>& args,
                              absl::Duration limit) const {
  std::vector<std::string> all = {"--server", grpc_};
  all.insert(all.end(), args.begin(), args.end());
  return RunProgram(ProgramDir() / "traza", all, {}, limit);
}

}  // namespace traza
