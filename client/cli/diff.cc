// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/diff.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include "api/convert_diff.h"
#include "base/status_macros.h"
#include "base/utf8.h"
#include "client/cli/commands.h"
#include "client/cli/options.h"
#include "client/cli/trace_source.h"
#include "trace/render/render_diff.h"

namespace traza {
namespace {

struct DiffArguments {
  std::string before, after;
  bool force = false;
  std::optional<int64_t> limit;
  std::optional<std::string> confidence;
};

absl::StatusOr<DiffOptions> ParseOptions(const DiffArguments& arguments) {
  DiffOptions options;
  options.force = arguments.force;
  options.limit = arguments.limit.value_or(kDefaultDiffEntries);
  if (!arguments.confidence) return options;
  const std::string& text = *arguments.confidence;
  // NaN is not in range.
  const bool in_range = absl::SimpleAtod(text, &options.confidence) &&
                        options.confidence >= kMinConfidence &&
                        options.confidence <= kMaxConfidence;
  if (!in_range) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--confidence ", Quoted(text), ": a number from ", kMinConfidence,
        " to ", kMaxConfidence, ", such as 0.95."));
  }
  return options;
}

absl::StatusOr<v1::Diff> DiffHere(const DiffArguments& arguments,
                                  const DiffOptions& options,
                                  CommandContext& context) {
  // Files first: reading one may start this program anew as another.
  const std::string* words[] = {&arguments.before, &arguments.after};
  std::optional<Trace> traces[2];
  for (int i = 0; i < 2; ++i) {
    if (const auto path = LocalTrace(*words[i])) {
      ASSIGN_OR_RETURN(traces[i], ReadLocalTrace(*path, context));
    }
  }
  for (int i = 0; i < 2; ++i) {
    if (!traces[i].has_value()) {
      ASSIGN_OR_RETURN(traces[i], FetchTrace(*words[i], context));
    }
  }
  ASSIGN_OR_RETURN(const Diff diff,
                   DiffTraces(*traces[0], *traces[1], options));
  return ToProto(diff);
}

absl::StatusOr<v1::Diff> DiffThere(const DiffArguments& arguments,
                                   const DiffOptions& options,
                                   CommandContext& context) {
  v1::DiffTracesRequest request;
  ASSIGN_OR_RETURN(*request.mutable_before(),
                   RemoteTrace(arguments.before, context));
  ASSIGN_OR_RETURN(*request.mutable_after(),
                   RemoteTrace(arguments.after, context));
  request.set_limit(static_cast<int32_t>(options.limit));
  request.set_confidence(options.confidence);
  request.set_force(options.force);
  ASSIGN_OR_RETURN(Client* const client, context.Connect());
  return client->DiffTraces(request);
}

absl::StatusOr<ExitCode> ShowDiff(const DiffArguments& arguments,
                                  CommandContext& context) {
  ASSIGN_OR_RETURN(const DiffOptions options, ParseOptions(arguments));
  const bool local = LocalTrace(arguments.before).has_value() ||
                     LocalTrace(arguments.after).has_value();
  v1::Diff diff;
  if (local) {
    ASSIGN_OR_RETURN(diff, DiffHere(arguments, options, context));
  } else {
    ASSIGN_OR_RETURN(diff, DiffThere(arguments, options, context));
  }
  if (context.json()) {
    context.PrintJson(diff);
    return ExitCode::kOk;
  }
  const Console& console = context.console();
  console.out << RenderDiff(FromProto(diff),
                            {.width = console.width, .color = console.color});
  return ExitCode::kOk;
}

}  // namespace

void AddDiffCommand(CommandTree& tree) {
  const auto arguments = std::make_shared<DiffArguments>();
  CLI::App& app = tree.Add("diff", "Say what changed from one trace to another",
                           [arguments](CommandContext& context) {
                             return ShowDiff(*arguments, context);
                           });
  AddPositional(app, "A", &arguments->before,
                "The one before: an id or a file");
  AddPositional(app, "B", &arguments->after, "The one after: an id or a file");
  app.add_flag("--force", arguments->force,
               "Compare runs that differ in more than their variant too");
  AddNumber(app, "--limit", &arguments->limit, 1, kMaxDiffEntries,
            "How many parts at most (default 100)");
  AddText(app, "--confidence", &arguments->confidence,
          "Confidence of the intervals, 0.5 to 0.999 (default 0.95)", "C");
}

}  // namespace traza
