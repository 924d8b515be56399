// SPDX-License-Identifier: Apache-2.0
#include "client/cli/expected_checks.h"

#include <filesystem>
#include <optional>

#include "api/convert_check.h"
#include "base/status_macros.h"
#include "client/cli/trace_source.h"
#include "trace/render/render.h"

namespace traza {

absl::StatusOr<ExpectedChecks> ExpectedChecks::Create(
    std::vector<std::string> texts, CommandContext& context) {
  ASSIGN_OR_RETURN(std::vector<CheckExpression> parsed, ParseChecks(texts));
  ExpectedChecks checks(std::move(texts), std::move(parsed));
  for (const CheckExpression& check : checks.checks_) {
    if (!check.baseline.has_value() ||
        checks.files_.contains(*check.baseline)) {
      continue;
    }
    const auto path = LocalTrace(*check.baseline);
    if (!path.has_value()) continue;
    ASSIGN_OR_RETURN(Trace trace, ReadLocalTrace(*path, context));
    checks.files_.emplace(*check.baseline, std::move(trace));
  }
  return checks;
}

absl::StatusOr<v1::CheckTraceResponse> ExpectedChecks::Run(
    const std::string& trace, CommandContext& context) {
  const std::optional<std::filesystem::path> path = LocalTrace(trace);
  if (!path.has_value() && files_.empty()) {
    v1::CheckTraceRequest request;
    ASSIGN_OR_RETURN(*request.mutable_name(), RemoteTrace(trace, context));
    for (const std::string& text : texts_) request.add_expressions(text);
    ASSIGN_OR_RETURN(Client* const client, context.Connect());
    return client->CheckTrace(request);
  }
  absl::StatusOr<Trace> subject = path.has_value()
                                      ? ReadLocalTrace(*path, context)
                                      : FetchTrace(trace, context);
  RETURN_IF_ERROR(subject.status());
  ASSIGN_OR_RETURN(
      const std::vector<CheckResult> results,
      RunChecks(*subject, checks_,
                [&](const std::string& name) -> absl::StatusOr<Trace> {
                  const auto file = files_.find(name);
                  if (file == files_.end()) return FetchTrace(name, context);
                  return std::move(file->second);
                }));
  return ToProto(results);
}

void PrintChecks(const v1::CheckTraceResponse& response,
                 const Console& console) {
  console.out << RenderChecks(FromProto(response),
                              {.width = console.width, .color = console.color})
              << std::flush;
}

}  // namespace traza
