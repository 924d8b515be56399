// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "client/cli/commands.h"
#include "client/cli/expected_checks.h"
#include "client/cli/options.h"

namespace traza {
namespace {

struct CheckOptions {
  std::string trace;
  std::vector<std::string> expectations;
};

absl::StatusOr<ExitCode> Check(const CheckOptions& options,
                               CommandContext& context) {
  ASSIGN_OR_RETURN(ExpectedChecks checks,
                   ExpectedChecks::Create(options.expectations, context));
  ASSIGN_OR_RETURN(const v1::CheckTraceResponse response,
                   checks.Run(options.trace, context));
  if (context.json()) {
    context.PrintJson(response);
  } else {
    PrintChecks(response, context.console());
  }
  return response.passed() ? ExitCode::kOk : ExitCode::kFailed;
}

}  // namespace

void AddCheckCommand(CommandTree& tree) {
  const auto options = std::make_shared<CheckOptions>();
  CLI::App& app = tree.Add(
      "check", "Compare a trace with what is expected of it",
      [options](CommandContext& context) { return Check(*options, context); });
  AddPositional(app, "T", &options->trace, "A trace id, or a trace file");
  AddTexts(app, "--expect", &options->expectations,
           "What is expected, e.g. \"kernels_per_step == 5\"; may be repeated",
           "EXPR")
      ->required();
}

}  // namespace traza
