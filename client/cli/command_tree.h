// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_CLI_COMMAND_TREE_H_
#define CLIENT_CLI_COMMAND_TREE_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "CLI/App.hpp"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "client/cli/command_context.h"
#include "client/cli/exit_code.h"

namespace traza {

// Runs a command whose options were parsed.
using RunCommand = std::function<absl::StatusOr<ExitCode>(CommandContext&)>;

// The commands and their options, as CLI11 parses and describes them. Four of
// its habits are put right in command_tree.cc and options.h: it exits by
// itself with 104 to 109, reads 010 as 8, lets a repeated option swallow the
// positional after it, and `--option=` the next word.
class CommandTree {
 public:
  CommandTree();

  // Adds a command. What its options are stored in must be owned by `run`.
  CLI::App& Add(const std::string& name, const std::string& help,
                RunCommand run);

  // Parses the words after the program's name. Returns the command to run;
  // nothing when help or the version was asked for and written to `out`.
  // INVALID_ARGUMENT says what is wrong, with a suggestion where there is one.
  absl::StatusOr<std::optional<RunCommand>> Parse(
      std::vector<std::string> words, std::ostream& out);

  const GlobalOptions& globals() const { return globals_; }
  int verbosity() const { return quiet_ ? -1 : verbose_; }
  bool yes() const { return yes_; }

 private:
  std::string Explain(const CLI::ParseError& error);
  std::string UnknownWord(const std::string& word);

  CLI::App app_;
  std::vector<std::pair<CLI::App*, RunCommand>> commands_;
  GlobalOptions globals_;
  bool quiet_ = false;
  bool yes_ = false;
  int verbose_ = 0;
  bool version_ = false;
};

}  // namespace traza

#endif  // CLIENT_CLI_COMMAND_TREE_H_
