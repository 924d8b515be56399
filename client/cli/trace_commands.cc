// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

#include "api/convert_enum.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "client/cli/commands.h"
#include "client/cli/filter.h"
#include "client/cli/job_text.h"
#include "client/cli/options.h"
#include "client/cli/trace_source.h"
#include "client/term/list_table.h"
#include "trace/analysis/answer.h"
#include "trace/quantity.h"

namespace traza {
namespace {

struct ListOptions {
  std::optional<std::string> workload;
  std::optional<int64_t> limit;
};

std::string ValidityText(v1::ValidityLevel level) {
  const std::optional<ValidityLevel> known = FromProto(level);
  return known ? std::string(ValidityLevelName(*known)) : "?";
}

std::string VerdictText(const v1::Trace& trace) {
  if (!trace.has_verdict()) return "none";
  const std::optional<VerdictKind> known = FromProto(trace.verdict());
  return known ? std::string(VerdictKindName(*known)) : "?";
}

std::string RenderTraces(const v1::ListTracesResponse& traces, int width) {
  ListTable table({{"TRACE"},
                   {"WORKLOAD", Align::kLeft, true},
                   {"DEVICE"},
                   {"CREATED"},
                   {"ROWS", Align::kRight},
                   {"SIZE", Align::kRight},
                   {"VALIDITY"},
                   {"VERDICT", Align::kLeft, true}});
  for (const v1::Trace& trace : traces.traces()) {
    table.AddRow({trace.name(), trace.workload(), trace.device(),
                  TimeText(trace.create_time()), absl::StrCat(trace.rows()),
                  BytesText(static_cast<double>(trace.size_bytes())),
                  ValidityText(trace.validity()), VerdictText(trace)});
  }
  return table.Render(width);
}

std::string RenderTrace(const v1::Trace& trace) {
  return RenderPairs(
      {{"trace", trace.name()},
       {"job", trace.job()},
       {"workload", absl::StrCat(trace.workload(), " ", trace.variant())},
       {"device", trace.device()},
       {"host", trace.host()},
       {"created", TimeText(trace.create_time())},
       {"rows", absl::StrCat(trace.rows())},
       {"size", BytesText(static_cast<double>(trace.size_bytes()))},
       {"sha256", trace.sha256()},
       {"validity", ValidityText(trace.validity())},
       {"verdict", VerdictText(trace)},
       {"partial", trace.partial() ? "yes: the job was stopped early" : ""},
       {"labels", MapText(trace.labels())}});
}

absl::StatusOr<ExitCode> ListTraces(const ListOptions& options,
                                    CommandContext& context) {
  v1::ListTracesRequest request;
  if (options.workload) {
    request.set_filter(FilterTerm("workload", *options.workload));
  }
  const int64_t limit = options.limit.value_or(kDefaultListLimit);
  ASSIGN_OR_RETURN(Client* const client, context.Connect());
  v1::ListTracesResponse all;
  do {
    request.set_page_size(NextPageSize(limit, all.traces_size()));
    request.set_page_token(all.next_page_token());
    ASSIGN_OR_RETURN(const v1::ListTracesResponse page,
                     client->ListTraces(request));
    all.mutable_traces()->MergeFrom(page.traces());
    all.set_next_page_token(page.next_page_token());
  } while (!all.next_page_token().empty() && all.traces_size() < limit);
  if (context.json()) {
    context.PrintJson(all);
    return ExitCode::kOk;
  }
  const Console& console = context.console();
  if (all.traces().empty()) {
    console.Note("There are no traces of that kind.");
    return ExitCode::kOk;
  }
  console.out << RenderTraces(all, console.out_is_terminal ? console.width : 0)
              << std::flush;
  if (!all.next_page_token().empty()) {
    console.Note(
        absl::StrCat("There are more; see them with --limit ", limit * 2));
  }
  return ExitCode::kOk;
}

// What the daemon would say of the file; it has no name and no time there.
absl::StatusOr<v1::Trace> DescribeFile(const std::filesystem::path& path,
                                       CommandContext& context) {
  ASSIGN_OR_RETURN(const Trace local, ReadLocalTrace(path, context));
  const Answer answer = Explain(local);
  v1::Trace trace;
  if (!local.header.job_id.empty()) {
    trace.set_job(absl::StrCat("jobs/", local.header.job_id));
  }
  trace.set_workload(answer.workload);
  trace.set_variant(answer.variant);
  trace.set_device(answer.device);
  trace.set_host(local.header.host);
  ASSIGN_OR_RETURN(const int64_t size, FileSize(path));
  trace.set_size_bytes(size);
  ASSIGN_OR_RETURN(*trace.mutable_sha256(), FileSha256(path));
  trace.set_rows(static_cast<int64_t>(local.rows()));
  trace.set_validity(ToProto(answer.validity.level));
  if (answer.verdict) trace.set_verdict(ToProto(answer.verdict->kind));
  trace.set_partial(answer.partial);
  trace.mutable_labels()->insert(local.header.job.labels.begin(),
                                 local.header.job.labels.end());
  return trace;
}

absl::StatusOr<v1::Trace> DescribeTrace(const std::string& text,
                                        CommandContext& context) {
  if (const auto path = LocalTrace(text)) return DescribeFile(*path, context);
  v1::GetTraceRequest request;
  ASSIGN_OR_RETURN(*request.mutable_name(), RemoteTrace(text, context));
  ASSIGN_OR_RETURN(Client* const client, context.Connect());
  return client->GetTrace(request);
}

absl::StatusOr<ExitCode> ShowTrace(const std::string& text,
                                   CommandContext& context) {
  ASSIGN_OR_RETURN(const v1::Trace trace, DescribeTrace(text, context));
  if (context.json()) {
    context.PrintJson(trace);
  } else {
    context.console().out << RenderTrace(trace);
  }
  return ExitCode::kOk;
}

}  // namespace

void AddTraceCommands(CommandTree& tree) {
  const auto options = std::make_shared<ListOptions>();
  CLI::App& traces = tree.Add("traces", "List traces, newest first",
                              [options](CommandContext& context) {
                                return ListTraces(*options, context);
                              });
  AddText(traces, "--workload", &options->workload,
          "Only traces of that workload", "W");
  AddLimit(traces, &options->limit);

  const auto trace = std::make_shared<std::string>();
  CLI::App& one = tree.Add(
      "trace", "Show what is known of a trace",
      [trace](CommandContext& context) { return ShowTrace(*trace, context); });
  AddPositional(one, "T", trace.get(), "A trace id, or a trace file");
}

}  // namespace traza
