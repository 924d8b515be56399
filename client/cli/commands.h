// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_CLI_COMMANDS_H_
#define CLIENT_CLI_COMMANDS_H_

#include "client/cli/command_tree.h"

namespace traza {

// Each adds the commands of the file of its name.
void AddRunCommand(CommandTree& tree);        // run.cc
void AddJobCommands(CommandTree& tree);       // job_commands.cc
void AddTraceCommands(CommandTree& tree);     // trace_commands.cc
void AddDownloadCommand(CommandTree& tree);   // download.cc
void AddImportCommand(CommandTree& tree);     // import.cc
void AddTableCommand(CommandTree& tree);      // table.cc
void AddExplainCommand(CommandTree& tree);    // explain.cc
void AddCheckCommand(CommandTree& tree);      // check.cc
void AddDiffCommand(CommandTree& tree);       // diff.cc
void AddWorkloadsCommand(CommandTree& tree);  // workloads.cc
void AddHostCommands(CommandTree& tree);      // host_commands.cc

// All of them, in the order in which --help lists them.
inline void AddAllCommands(CommandTree& tree) {
  AddRunCommand(tree);
  AddJobCommands(tree);
  AddTraceCommands(tree);
  AddDownloadCommand(tree);
  AddImportCommand(tree);
  AddTableCommand(tree);
  AddExplainCommand(tree);
  AddCheckCommand(tree);
  AddDiffCommand(tree);
  AddWorkloadsCommand(tree);
  AddHostCommands(tree);
}

}  // namespace traza

#endif  // CLIENT_CLI_COMMANDS_H_
