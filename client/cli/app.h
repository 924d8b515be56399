// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_CLI_APP_H_
#define CLIENT_CLI_APP_H_

#include <string>
#include <vector>

#include "client/args/server_address.h"
#include "client/cli/command_context.h"
#include "client/cli/exit_code.h"
#include "client/term/console.h"

namespace traza {

// The whole program but for its process: parses `words` (without the program's
// name), runs the command, and writes what it has to say to `console`, whose
// verbosity and `yes` it sets from the options. `reader` reads the trace files
// that are named instead of a trace id.
ExitCode RunTraza(const std::vector<std::string>& words, Console& console,
                  const Environment& environment, const TraceReader& reader);

// RunTraza on the streams of this process. Never returns.
[[noreturn]] void RunProcess(int argc, char** argv, const TraceReader& reader);

}  // namespace traza

#endif  // CLIENT_CLI_APP_H_
