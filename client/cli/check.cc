// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "base/error.h"
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

// The name of a variant is one for `traza run` only.
absl::Status Explained(const absl::Status& status,
                       const std::vector<std::string>& names) {
  const std::optional<ErrorDetails> details = DetailsOf(status);
  if (names.empty() || !details || details->reason != Reason::kTraceNotFound) {
    return status;
  }
  return Annotate(
      status,
      absl::StrCat("To compare with (", absl::StrJoin(names, ", "),
                   "), give the id or the file of a trace; a variant is run "
                   "by: traza run WORKLOAD --expect EXPR"));
}

absl::StatusOr<ExitCode> Check(const CheckOptions& options,
                               CommandContext& context) {
  ASSIGN_OR_RETURN(ExpectedChecks checks,
                   ExpectedChecks::Create(options.expectations, context));
  absl::StatusOr<v1::CheckTraceResponse> ran =
      checks.Run(options.trace, context);
  if (!ran.ok()) return Explained(ran.status(), checks.TraceBaselines());
  const v1::CheckTraceResponse& response = *ran;
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
