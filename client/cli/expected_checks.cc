// SPDX-License-Identifier: Apache-2.0
#include "client/cli/expected_checks.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>

#include "absl/strings/match.h"

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

std::vector<std::string> ExpectedChecks::TraceBaselines() const {
  std::vector<std::string> names;
  for (const CheckExpression& check : checks_) {
    if (!check.baseline.has_value() ||
        absl::StartsWith(*check.baseline, "jobs/") ||
        files_.contains(*check.baseline) ||
        std::ranges::find(names, *check.baseline) != names.end()) {
      continue;
    }
    names.push_back(*check.baseline);
  }
  return names;
}

void ExpectedChecks::UseTrace(const std::string& name,
                              const std::string& trace) {
  traces_[name] = trace;
}

std::vector<std::string> ExpectedChecks::RemoteTexts() const {
  std::vector<std::string> texts;
  for (const CheckExpression& check : checks_) {
    const auto trace = traces_.find(check.baseline.value_or(""));
    std::string text = check.text;
    if (trace != traces_.end()) {
      text.replace(check.baseline_begin,
                   check.baseline_end - check.baseline_begin, trace->second);
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

absl::StatusOr<v1::CheckTraceResponse> ExpectedChecks::Run(
    const std::string& trace, CommandContext& context) {
  const std::optional<std::filesystem::path> path = LocalTrace(trace);
  if (!path.has_value() && files_.empty()) {
    v1::CheckTraceRequest request;
    ASSIGN_OR_RETURN(*request.mutable_name(), RemoteTrace(trace, context));
    for (const std::string& text : RemoteTexts()) request.add_expressions(text);
    ASSIGN_OR_RETURN(Client* const client, context.Connect());
    ASSIGN_OR_RETURN(v1::CheckTraceResponse response,
                     client->CheckTrace(request));
    // As they were written.
    for (int i = 0; i < response.results_size() && i < std::ssize(checks_);
         ++i) {
      response.mutable_results(i)->set_expression(checks_[i].text);
    }
    return response;
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
                  if (file == files_.end()) {
                    const auto known = traces_.find(name);
                    return FetchTrace(
                        known == traces_.end() ? name : known->second, context);
                  }
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
