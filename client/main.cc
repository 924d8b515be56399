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

namespace {

std::optional<std::string> Variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

}  // namespace

int main(int argc, char** argv) {
  traza::ExitOnInterrupt();
  traza::FdStream out(STDOUT_FILENO);
  traza::FdStream err(STDERR_FILENO);
  traza::Console console = traza::ProcessConsole(out, err, Variable);
  auto code = traza::RunTraza(std::vector<std::string>(argv + 1, argv + argc),
                              console, Variable);
  out.flush();
  // A reader that had enough (head) is no error; a full disk is one.
  if (out.error() != 0 && out.error() != EPIPE) {
    err << "traza: cannot write the output: " << std::strerror(out.error())
        << '\n';
    code = traza::ExitCode::kFailed;
  }
  err.flush();
  // Everything is written, and the destructors of gRPC's and Arrow's globals
  // take longer than most commands.
  std::_Exit(static_cast<int>(code));
}
