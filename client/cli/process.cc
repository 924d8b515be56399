// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "client/cli/app.h"
#include "client/term/console.h"
#include "client/term/fd_stream.h"
#include "client/term/interrupt.h"

namespace traza {
namespace {

std::optional<std::string> Variable(const char* name) {
  // Read before there are threads.
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

}  // namespace

void RunProcess(int argc, char** argv, const TraceReader& reader) {
  ExitOnInterrupt();
  FdStream out(STDOUT_FILENO);
  FdStream err(STDERR_FILENO);
  Console console = ProcessConsole(out, err, Variable);
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  ExitCode code = RunTraza(words, console, Variable, reader);
  out.flush();
  // A reader that had enough (head) is no error; a full disk is one.
  if (out.error() != 0 && out.error() != EPIPE) {
    err << "traza: cannot write the output: " << ::strerrordesc_np(out.error())
        << '\n';
    code = ExitCode::kFailed;
  }
  err.flush();
  // Everything is written, and the destructors of gRPC's globals take longer
  // than most commands.
  std::_Exit(static_cast<int>(code));
}

}  // namespace traza
