// SPDX-License-Identifier: Apache-2.0
#include "worker/host_python.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "nlohmann/json.hpp"

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "base/subprocess.h"
#include "base/unique_fd.h"
#include "base/utf8.h"
#include "spec/json_fields.h"

namespace traza {
namespace {

constexpr char kScript[] = "export_workload.py";

// Between looks at whether the job was stopped.
constexpr absl::Duration kLookPeriod = absl::Milliseconds(50);
// Between asking the compilers to end and killing them: below the grace that
// the daemon gives us (SupervisorLimits::grace).
constexpr absl::Duration kGrace = absl::Seconds(2);

constexpr int64_t kMaxAnswerBytes = 64 << 10;
constexpr size_t kMaxTextBytes = 800;
constexpr size_t kMaxTailBytes = 600;
constexpr size_t kMaxVersionBytes = 64;

absl::Status Failed(absl::string_view message) {
  return ErrorBuilder(absl::StatusCode::kFailedPrecondition,
                      Reason::kCompileFailed)
      .Build(absl::StrCat("Cannot compile: ", absl::StripSuffix(message, "."),
                          "."));
}

// The value of the last entry of that name; empty when there is none.
std::string Lookup(const std::vector<std::string>& environment,
                   absl::string_view name) {
  std::string value;
  for (const std::string& entry : environment) {
    absl::string_view rest = entry;
    if (absl::StartsWith(rest, name) && rest.substr(name.size(), 1) == "=") {
      value = std::string(rest.substr(name.size() + 1));
    }
  }
  return value;
}

// Sets NAME=value in place of what was there.
void Set(absl::string_view name, const std::string& value,
         std::vector<std::string>* environment) {
  const std::string start = absl::StrCat(name, "=");
  std::erase_if(*environment, [&](const std::string& entry) {
    return absl::StartsWith(entry, start);
  });
  environment->push_back(absl::StrCat(start, value));
}

bool IsProgram(const std::filesystem::path& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

absl::StatusOr<std::filesystem::path> FindProgram(
    const std::vector<std::string>& environment) {
  const std::string named = Lookup(environment, "TRAZA_PYTHON");
  if (!named.empty()) {
    if (IsProgram(named)) return std::filesystem::path(named);
    return Failed(
        absl::StrCat("TRAZA_PYTHON names ", named, ", which is no program"));
  }
  const std::string path = Lookup(environment, "PATH");
  for (const absl::string_view folder : absl::StrSplit(path, ':')) {
    if (folder.empty()) continue;
    const std::filesystem::path program =
        std::filesystem::path(std::string(folder)) / "python3";
    if (IsProgram(program)) return program;
  }
  return Failed(
      "there is no python3 on PATH: install Python with PyTorch and Triton, or "
      "name it in TRAZA_PYTHON");
}

absl::StatusOr<UniqueFd> MemoryFile(const char* name) {
  UniqueFd fd(::memfd_create(name, MFD_CLOEXEC));
  if (!fd.valid()) return ErrnoStatus(errno, "Cannot make a memory file");
  return fd;
}

// The last `max` bytes of a memory file.
std::string Tail(const UniqueFd& file, int64_t max) {
  const int64_t size = ::lseek(file.get(), 0, SEEK_END);
  const int64_t from = std::max<int64_t>(0, size - max);
  return ReadFileAt(file.get(), from, size - from).value_or("");
}

// On one line, and no more than is read: the end, where the reason is.
std::string LastWords(const std::string& text) {
  std::string valid =
      ToValidUtf8(std::string(absl::StripAsciiWhitespace(text)));
  if (valid.size() > kMaxTailBytes) {
    valid = ToValidUtf8(valid.substr(valid.size() - kMaxTailBytes));
    valid = absl::StrCat("...", valid);
  }
  return EscapeControlCharacters(valid);
}

std::string LastLine(absl::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  const size_t end = text.rfind('\n');
  return std::string(end == absl::string_view::npos ? text
                                                    : text.substr(end + 1));
}

// What the script said, as it is or as an error. `faults` that name what is
// missing need no traceback beside them.
absl::StatusOr<PythonVersions> ReadAnswer(const std::string& line,
                                          const std::string& stderr_tail) {
  ASSIGN_OR_RETURN(const nlohmann::json json, ParseJson(line, kMaxAnswerBytes));
  ASSIGN_OR_RETURN(const JsonFields fields, JsonFields::Of(json));
  if (fields.Has("error")) {
    ASSIGN_OR_RETURN(const std::string code,
                     fields.CutString("error", kMaxVersionBytes));
    ASSIGN_OR_RETURN(const std::string text,
                     fields.CutString("message", kMaxTextBytes));
    const bool failed = absl::EndsWith(code, "-failed");
    const std::string words = failed ? LastWords(stderr_tail) : "";
    return Failed(absl::StrCat(EscapeControlCharacters(text),
                               words.empty() ? "" : "; Python said: ", words));
  }
  PythonVersions versions;
  ASSIGN_OR_RETURN(versions.python, fields.String("python", kMaxVersionBytes));
  ASSIGN_OR_RETURN(versions.torch, fields.String("torch", kMaxVersionBytes));
  ASSIGN_OR_RETURN(versions.triton, fields.String("triton", kMaxVersionBytes));
  return versions;
}

}  // namespace

std::vector<std::string> ProcessEnvironment() {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    entries.emplace_back(*entry);
  }
  return entries;
}

HostPython::HostPython(std::filesystem::path program,
                       std::filesystem::path script,
                       std::vector<std::string> environment)
    : program_(std::move(program)),
      script_(std::move(script)),
      environment_(std::move(environment)) {}

absl::StatusOr<HostPython> HostPython::Find(
    std::vector<std::string> environment) {
  ASSIGN_OR_RETURN(std::filesystem::path program, FindProgram(environment));
  std::filesystem::path script = Lookup(environment, "TRAZA_EXPORT_SCRIPT");
  if (script.empty()) script = ExecutableDirectory() / kScript;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(script, ignored)) {
    return Failed(absl::StrCat("there is no ", script.native(),
                               ": the installation is not whole"));
  }
  return HostPython(std::move(program), std::move(script),
                    std::move(environment));
}

absl::StatusOr<PythonVersions> HostPython::Probe(
    const std::string& torch, const PythonLimits& limits) const {
  return Run({"probe", torch}, environment_, limits);
}

absl::StatusOr<PythonVersions> HostPython::Compile(
    const std::filesystem::path& request, const std::filesystem::path& scratch,
    const PythonLimits& limits) const {
  std::vector<std::string> environment = environment_;
  // Everything that is written on the way goes with the scratch folder: the
  // home of a service may not be there or not be writable. HOME itself stays,
  // for packages that lie below it.
  for (const char* name : {"TMPDIR", "TORCHINDUCTOR_CACHE_DIR",
                           "TRITON_CACHE_DIR", "TRITON_HOME"}) {
    const std::filesystem::path folder = scratch / name;
    RETURN_IF_ERROR(MakeDirectories(folder));
    Set(name, folder.native(), &environment);
  }
  // A few kernels: a pool of compile processes would take longer to start.
  Set("TORCHINDUCTOR_COMPILE_THREADS", "1", &environment);
  return Run({"compile", request.native()}, std::move(environment), limits);
}

absl::StatusOr<PythonVersions> HostPython::Run(
    std::vector<std::string> args, std::vector<std::string> environment,
    const PythonLimits& limits) const {
  ASSIGN_OR_RETURN(const UniqueFd out, MemoryFile("stdout"));
  ASSIGN_OR_RETURN(const UniqueFd err, MemoryFile("stderr"));
  args.insert(args.begin(), {"-B", script_.native()});
  absl::StatusOr<Subprocess> process =
      Subprocess::Start({.program = program_,
                         .args = std::move(args),
                         .environment = std::move(environment),
                         .descriptors = {{out.get(), STDOUT_FILENO},
                                         {err.get(), STDERR_FILENO}}});
  if (!process.ok()) return Failed(std::string(process.status().message()));

  const Clock& clock = Clock::Real();
  const absl::Duration deadline = clock.Monotonic() + limits.timeout;
  std::optional<ExitStatus> exit;
  while (!(exit = process->WaitFor(kLookPeriod))) {
    if (limits.stop.load(std::memory_order_relaxed)) {
      process->Terminate(kGrace);
      return ErrorBuilder(absl::StatusCode::kCancelled, Reason::kCancelled)
          .Build("The job was stopped while its workload was compiled.");
    }
    if (clock.Monotonic() < deadline) continue;
    process->Terminate(kGrace);
    const std::string words = LastWords(Tail(err, kMaxAnswerBytes));
    return ErrorBuilder(absl::StatusCode::kDeadlineExceeded,
                        Reason::kPhaseTimeout)
        .Build(absl::StrCat(program_.native(), " ", script_.native(),
                            " did not end within ",
                            absl::FormatDuration(limits.timeout),
                            words.empty() ? "." : "; it said: ", words));
  }
  const std::string tail = Tail(err, kMaxAnswerBytes);
  const std::string line = LastLine(Tail(out, kMaxAnswerBytes));
  absl::StatusOr<PythonVersions> answer = ReadAnswer(line, tail);
  if (answer.ok() && exit->ok()) return answer;
  const std::optional<ErrorDetails> fault = DetailsOf(answer.status());
  if (fault && fault->reason == Reason::kCompileFailed) return answer;
  const std::string words = LastWords(tail);
  return Failed(absl::StrCat(program_.native(), " ", script_.native(),
                             " ended with ", exit->ToString(),
                             answer.ok() ? "" : " and without an answer",
                             words.empty() ? "." : "; it said: ", words));
}

}  // namespace traza
