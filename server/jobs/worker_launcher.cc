// SPDX-License-Identifier: Apache-2.0
#include "server/jobs/worker_launcher.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "base/utf8.h"
#include "spec/model_folder.h"
#include "spec/worker_message.h"

namespace traza {
namespace {

// A trace of the largest size is refused with a reason; the limit of the
// kernel, which kills, lies beyond it.
constexpr int64_t kFileSlackBytes = 64 << 20;
// PyTorch opens some hundred files while it loads.
constexpr uint64_t kMaxDescriptors = 4096;
constexpr size_t kMaxDescriptionBytes = 4 << 20;
constexpr size_t kMaxComplaintBytes = 2048;

class ChildWorker final : public WorkerProcess {
 public:
  // `mark` is an entry of its environment that no other process has.
  ChildWorker(Subprocess process, std::string mark)
      : process_(std::move(process)), mark_(std::move(mark)) {}
  ~ChildWorker() override {
    process_.Kill();
    const int left = KillProcessesWithEnvironment(mark_);
    if (left == 0) return;
    LogWarning("Worker ", process_.pid(), " left ", left,
               " processes behind; they were killed.");
  }
  ChildWorker(const ChildWorker&) = delete;
  ChildWorker& operator=(const ChildWorker&) = delete;

  int pid() const override { return process_.pid(); }
  int exit_fd() const override { return process_.pidfd(); }
  void Signal(int signal) override { process_.Signal(signal); }
  std::optional<ExitStatus> WaitFor(absl::Duration timeout) override {
    return process_.WaitFor(timeout);
  }
  ExitStatus Kill() override { return process_.Kill(); }

 private:
  Subprocess process_;
  const std::string mark_;
};

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

absl::StatusOr<Pipe> MakePipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) {
    return ErrnoStatus(errno, "Cannot make a pipe");
  }
  return Pipe{UniqueFd(fds[0]), UniqueFd(fds[1])};
}

void SetNonBlocking(const UniqueFd& fd) {
  ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
}

// Appends what there is to read, up to `max` bytes in all; more is read and
// dropped, so that the writer does not block. False at the end of the stream.
bool ReadInto(int fd, size_t max, std::string* text) {
  std::array<char, 16 << 10> chunk;
  const ssize_t n = ::read(fd, chunk.data(), chunk.size());
  if (n < 0) return errno == EINTR || errno == EAGAIN;
  const size_t room = max - std::min(max, text->size());
  text->append(chunk.data(), std::min(room, static_cast<size_t>(n)));
  return n > 0;
}

struct Output {
  std::string out;
  std::string err;
};

// Reads both streams until they end or `timeout` has passed.
Output ReadBoth(Pipe out, Pipe err, absl::Duration timeout) {
  out.write.Reset();
  err.write.Reset();
  const Clock& clock = Clock::Real();
  const absl::Duration deadline = clock.Monotonic() + timeout;
  Output output;
  while (out.read.valid() || err.read.valid()) {
    const int64_t ms = absl::ToInt64Milliseconds(deadline - clock.Monotonic());
    if (ms <= 0) break;
    // poll(2) ignores a negative descriptor.
    pollfd fds[] = {{out.read.get(), POLLIN, 0}, {err.read.get(), POLLIN, 0}};
    ::poll(fds, 2, static_cast<int>(std::min<int64_t>(ms, 1 << 30)));
    if (fds[0].revents != 0 &&
        !ReadInto(out.read.get(), kMaxDescriptionBytes + 1, &output.out)) {
      out.read.Reset();
    }
    if (fds[1].revents != 0 &&
        !ReadInto(err.read.get(), kMaxComplaintBytes, &output.err)) {
      err.read.Reset();
    }
  }
  return output;
}

// `run` is the program with its arguments.
absl::Status NotStarted(const std::string& run, absl::string_view what,
                        absl::string_view complaint) {
  const std::string said =
      EscapeControlCharacters(absl::StripAsciiWhitespace(complaint));
  return ErrorBuilder(absl::StatusCode::kFailedPrecondition,
                      Reason::kWorkerNotStarted)
      .With("program", run.substr(0, run.find(' ')))
      .Build(
          absl::StrCat(run, " ", what, said.empty() ? "" : " It said: ", said));
}

absl::Status Unreadable(const std::string& program, absl::string_view mode,
                        const absl::Status& fault) {
  return NotStarted(absl::StrCat(program, " ", mode),
                    absl::StrCat("printed what cannot be read: ",
                                 std::string(fault.message())),
                    "");
}

}  // namespace

ProcessLauncher::ProcessLauncher(const ProcessLauncherOptions& options)
    : options_(options),
      environment_(WorkerEnvironment(options.environment, options.data_dir)) {}

absl::StatusOr<LaunchedWorker> ProcessLauncher::Launch(
    const LaunchOptions& options) {
  ASSIGN_OR_RETURN(auto sockets, MakeSocketPair());
  ASSIGN_OR_RETURN(Pipe pipe, MakePipe());
  SetNonBlocking(sockets.first);
  SetNonBlocking(pipe.read);
  SubprocessOptions child;
  child.program = options_.program;
  child.args = {"--daemon",
                "--device",
                options.device,
                "--models",
                options_.models.native(),
                "--compile-timeout",
                absl::FormatDuration(options_.compile_timeout)};
  if (options.standby) child.args.emplace_back("--standby");
  child.environment = environment_;
  // Unlike that of any other daemon on the host, in a container or not.
  std::string mark = absl::StrCat("TRAZA_WORKER=", ::getpid(), ".",
                                  RealtimeNs(), ".", launched_.fetch_add(1));
  child.environment.push_back(mark);
  child.descriptors = {{sockets.second.get(), kWorkerSocketFd},
                       {pipe.write.get(), STDOUT_FILENO},
                       {pipe.write.get(), STDERR_FILENO}};
  // A worker also unpacks the package of an operator's model.
  const int64_t max_file_bytes =
      std::max(options_.max_trace_bytes, LargestUnpackedBytes(options_.models));
  child.limits = {
      {RLIMIT_CORE, 0},
      {RLIMIT_NOFILE, kMaxDescriptors},
      {RLIMIT_FSIZE, static_cast<uint64_t>(max_file_bytes + kFileSlackBytes)}};
  ASSIGN_OR_RETURN(Subprocess process, Subprocess::Start(child));
  return LaunchedWorker{
      std::make_unique<ChildWorker>(std::move(process), std::move(mark)),
      std::move(sockets.first), std::move(pipe.read)};
}

absl::StatusOr<std::string> ProcessLauncher::OutputOf(
    const std::vector<std::string>& args) {
  const std::string run =
      absl::StrCat(options_.program.native(), " ", absl::StrJoin(args, " "));
  ASSIGN_OR_RETURN(Pipe out, MakePipe());
  ASSIGN_OR_RETURN(Pipe err, MakePipe());
  SubprocessOptions child;
  child.program = options_.program;
  child.args = args;
  child.environment = environment_;
  child.descriptors = {{out.write.get(), STDOUT_FILENO},
                       {err.write.get(), STDERR_FILENO}};
  child.limits = {{RLIMIT_CORE, 0}, {RLIMIT_NOFILE, kMaxDescriptors}};
  ASSIGN_OR_RETURN(Subprocess process, Subprocess::Start(child));
  Output output =
      ReadBoth(std::move(out), std::move(err), options_.describe_timeout);
  // Both streams have ended or the time is over.
  const std::optional<ExitStatus> exit = process.WaitFor(absl::Seconds(1));
  if (!exit.has_value()) {
    process.Kill();
    return NotStarted(
        run,
        absl::StrCat("did not end within ",
                     absl::FormatDuration(options_.describe_timeout), "."),
        output.err);
  }
  if (!exit->ok()) {
    return NotStarted(run, absl::StrCat("ended with ", exit->ToString(), "."),
                      output.err);
  }
  if (output.out.size() > kMaxDescriptionBytes) {
    return NotStarted(run, "printed too much.", output.err);
  }
  return std::move(output.out);
}

absl::StatusOr<WorkerDescription> ProcessLauncher::Describe() {
  ASSIGN_OR_RETURN(const std::string text, OutputOf({"--describe"}));
  absl::StatusOr<WorkerDescription> description =
      WorkerDescriptionFromJson(text);
  if (description.ok()) return description;
  return Unreadable(options_.program.native(), "--describe",
                    description.status());
}

absl::StatusOr<DeviceRoofs> ProcessLauncher::Measure(
    const std::string& device) {
  ASSIGN_OR_RETURN(const std::string text,
                   OutputOf({"--measure", "--device", device}));
  absl::StatusOr<DeviceRoofs> roofs = DeviceRoofsFromText(text);
  if (roofs.ok()) return roofs;
  return Unreadable(options_.program.native(), "--measure", roofs.status());
}

}  // namespace traza
