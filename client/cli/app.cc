// SPDX-License-Identifier: Apache-2.0
#include "client/cli/app.h"

#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "base/error.h"
#include "client/cli/command_context.h"
#include "client/cli/command_tree.h"
#include "client/cli/commands.h"

namespace traza {
namespace {

// Says how to get an answer, and who chose the address that gave none.
void PrintUnreachable(const CommandContext& context, std::ostream& err) {
  const ServerAddress& server = context.server();
  err << "  address: " << server.address << " (from " << server.source << ")\n"
      << "  to start a daemon here: trazad --listen " << kDefaultServer << '\n'
      << std::flush;
}

}  // namespace

ExitCode RunTraza(const std::vector<std::string>& words, Console& console,
                  const Environment& environment, const TraceReader& reader) {
  CommandTree tree;
  AddAllCommands(tree);
  const absl::StatusOr<std::optional<RunCommand>> run =
      tree.Parse(words, console.out);
  if (!run.ok()) {
    PrintError(run.status(), console.err);
    return ExitCode::kWrong;
  }
  const std::optional<RunCommand>& command = *run;
  if (!command.has_value()) return ExitCode::kOk;
  console.verbosity = tree.verbosity();
  console.yes = tree.yes();
  CommandContext context(tree.globals(), console, environment, reader);
  const absl::StatusOr<ExitCode> code = (*command)(context);
  if (code.ok()) return *code;
  // Data before talk, where both go to one terminal.
  console.out << std::flush;
  PrintError(code.status(), console.err);
  const ExitCode failure = ExitCodeOf(code.status());
  if (failure == ExitCode::kUnreachable) {
    PrintUnreachable(context, console.err);
  }
  return failure;
}

}  // namespace traza
