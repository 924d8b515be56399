// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_CLI_EXIT_CODE_H_
#define CLIENT_CLI_EXIT_CODE_H_

#include <ostream>

#include "absl/status/status.h"

namespace traza {

// How the program ends; scripts rely on it.
enum class ExitCode {
  kOk = 0,
  kFailed = 1,        // the job or a check failed; a fault of traza
  kWrong = 2,         // the request: usage, unknown name, value, file
  kUnreachable = 3,   // no answer from the daemon
  kRefused = 4,       // identity, quota, precondition
  kInterrupted = 130  // Ctrl-C
};

// The exit code of a command that ended with `status`, which is not OK.
ExitCode ExitCodeOf(const absl::Status& status);

// Writes "traza: message" and, one a line, violations, the reason, what else
// is known, and what to do about it.
void PrintError(const absl::Status& status, std::ostream& err);

}  // namespace traza

#endif  // CLIENT_CLI_EXIT_CODE_H_
