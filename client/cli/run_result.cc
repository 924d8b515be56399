// SPDX-License-Identifier: Apache-2.0
#include "client/cli/run_result.h"

#include <cstdint>
#include <future>
#include <optional>
#include <ostream>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

#include "api/convert_trace.h"
#include "api/proto_json.h"
#include "base/status_macros.h"
#include "client/cli/job_text.h"
#include "trace/render/render.h"

namespace traza {
namespace {

// Rows of the table above the answer; `traza table` shows all.
constexpr int64_t kTopRows = 12;

// What is printed when a job has succeeded.
struct Result {
  std::optional<v1::GetTableResponse> table;
  v1::Answer answer;
};

// The table that has rows at that depth; a job that only times has none.
std::optional<v1::TableBy> TableOf(v1::Depth depth) {
  switch (depth) {
    case v1::DEPTH_TIMING:
      return std::nullopt;
    case v1::DEPTH_KERNELS:
      return v1::TABLE_BY_KERNEL;
    case v1::DEPTH_LAUNCHES:
      return v1::TABLE_BY_CALL;
    default:
      return v1::TABLE_BY_OP;
  }
}

absl::StatusOr<Result> FetchResult(Client& client, const v1::Job& job,
                                   bool with_table) {
  const std::optional<v1::TableBy> by = TableOf(job.spec().depth());
  std::future<absl::StatusOr<v1::GetTableResponse>> table;
  if (with_table && by) {
    // Beside the answer, not after it: both are a round trip.
    table = std::async(std::launch::async, [&client, &job, &by] {
      v1::GetTableRequest request;
      request.set_name(job.trace());
      request.set_by(*by);
      request.set_limit(kTopRows);
      return client.GetTable(request);
    });
  }
  v1::ExplainTraceRequest request;
  request.set_name(job.trace());
  absl::StatusOr<v1::Answer> answer = client.ExplainTrace(request);
  Result result;
  if (table.valid()) {
    ASSIGN_OR_RETURN(result.table, table.get());
  }
  RETURN_IF_ERROR(answer.status());
  result.answer = *std::move(answer);
  return result;
}

void PrintResult(const Result& result, const v1::Job& job,
                 const Console& console) {
  const RenderOptions render = {.width = console.width, .color = console.color};
  if (result.table) {
    console.out << RenderTable(FromProto(*result.table), render) << '\n';
  }
  console.out << RenderAnswer(FromProto(result.answer), render) << std::flush;
  console.Note(absl::StrCat("Kept as ", job.trace(), "; more: traza table ",
                            job.trace(), ", traza download ", job.trace()));
}

}  // namespace

std::string JsonObject(const std::vector<NamedMessage>& members) {
  std::string text;
  for (const auto& [name, message] : members) {
    // JSON text has no newlines but those between its values.
    absl::StrAppend(
        &text, text.empty() ? "{\n" : ",\n", "  \"", name, "\": ",
        message == nullptr
            ? "null"
            : absl::StrReplaceAll(ToJsonText(*message), {{"\n", "\n  "}}));
  }
  return absl::StrCat(text, "\n}");
}

absl::StatusOr<ExitCode> PrintRunResult(Client& client, const v1::Job& job,
                                        bool interrupted,
                                        ExpectedChecks* checks_or_null,
                                        CommandContext& context) {
  const Console& console = context.console();
  std::vector<NamedMessage> members = {{"job", &job}, {"answer", nullptr}};
  if (checks_or_null != nullptr) members.emplace_back("checks", nullptr);
  if (job.state() != v1::JOB_STATE_SUCCEEDED || interrupted) {
    if (context.json()) console.out << JsonObject(members) << '\n';
    console.out << std::flush;
    console.err << "traza: " << FailureText(job) << std::flush;
    if (job.has_trace()) {
      console.Note(
          absl::StrCat("What was traced is kept: traza explain ", job.trace()));
    }
    return interrupted ? ExitCode::kInterrupted : ExitCode::kFailed;
  }
  ASSIGN_OR_RETURN(const Result result,
                   FetchResult(client, job, !context.json()));
  if (!context.json()) PrintResult(result, job, console);
  members[1].second = &result.answer;
  v1::CheckTraceResponse checks;
  if (checks_or_null != nullptr) {
    ASSIGN_OR_RETURN(checks, checks_or_null->Run(job.trace(), context));
    members[2].second = &checks;
    if (!context.json()) {
      console.out << '\n';
      PrintChecks(checks, console);
    }
  }
  if (context.json()) console.out << JsonObject(members) << '\n';
  return checks_or_null == nullptr || checks.passed() ? ExitCode::kOk
                                                      : ExitCode::kFailed;
}

}  // namespace traza
