// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_CLI_TRACE_SOURCE_H_
#define CLIENT_CLI_TRACE_SOURCE_H_

#include <filesystem>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

#include "client/cli/command_context.h"
#include "trace/trace.h"

namespace traza {

// Where the trace T of a command line is.

// The file that `text` names: one that exists, or a word that looks like a path
// (it has a slash or a trace file's ending). Nothing for an id, "traces/ID" and
// "jobs/ID".
std::optional<std::filesystem::path> LocalTrace(const std::string& text);

// "traces/ID" for "ID", "traces/ID" and "jobs/ID" (asks the daemon for the
// job's trace).
absl::StatusOr<std::string> RemoteTrace(const std::string& text,
                                        CommandContext& context);

// Reads a file with no daemon. What is wrong with the file makes the request
// wrong (INVALID_ARGUMENT, NOT_FOUND), whatever the reader calls it.
absl::StatusOr<Trace> ReadLocalTrace(const std::filesystem::path& path,
                                     CommandContext& context);

// Fetches the file of a trace of the daemon, named as for RemoteTrace, and
// reads it. Only in a program that reads files (see ReadTraceFile): another one
// would begin its command again.
absl::StatusOr<Trace> FetchTrace(const std::string& text,
                                 CommandContext& context);

}  // namespace traza

#endif  // CLIENT_CLI_TRACE_SOURCE_H_
