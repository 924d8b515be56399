// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "api/convert_trace.h"
#include "base/status_macros.h"
#include "client/cli/commands.h"
#include "client/cli/options.h"
#include "client/cli/trace_source.h"
#include "trace/analysis/answer.h"
#include "trace/render/render.h"

namespace traza {
namespace {

absl::StatusOr<v1::Answer> GetAnswer(const std::string& trace,
                                     CommandContext& context) {
  if (const auto path = LocalTrace(trace)) {
    ASSIGN_OR_RETURN(const Trace local, ReadLocalTrace(*path, context));
    return ToProto(Explain(local));
  }
  v1::ExplainTraceRequest request;
  ASSIGN_OR_RETURN(*request.mutable_name(), RemoteTrace(trace, context));
  ASSIGN_OR_RETURN(Client* const client, context.Connect());
  return client->ExplainTrace(request);
}

absl::StatusOr<ExitCode> ShowAnswer(const std::string& trace,
                                    CommandContext& context) {
  ASSIGN_OR_RETURN(const v1::Answer answer, GetAnswer(trace, context));
  if (context.json()) {
    context.PrintJson(answer);
    return ExitCode::kOk;
  }
  const Console& console = context.console();
  console.out << RenderAnswer(FromProto(answer),
                              {.width = console.width, .color = console.color});
  return ExitCode::kOk;
}

}  // namespace

void AddExplainCommand(CommandTree& tree) {
  const auto trace = std::make_shared<std::string>();
  CLI::App& app = tree.Add(
      "explain", "Say what a trace waited for, why, and how sure that is",
      [trace](CommandContext& context) { return ShowAnswer(*trace, context); });
  AddPositional(app, "T", trace.get(), "A trace id, or a trace file");
}

}  // namespace traza
