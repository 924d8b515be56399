// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/table.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "api/convert_enum.h"
#include "api/convert_trace.h"
#include "base/status_macros.h"
#include "client/cli/commands.h"
#include "client/cli/options.h"
#include "client/cli/trace_source.h"
#include "spec/phase.h"
#include "trace/render/render.h"

namespace traza {
namespace {

struct TableOptions {
  std::string trace;
  std::optional<std::string> by, sort, phase;
  std::optional<int64_t> limit;
};

TableQuery MakeQuery(const TableOptions& options) {
  TableQuery query;
  if (options.by) query.by = TableByFromName(*options.by).value_or(query.by);
  query.sort = options.sort.value_or("");
  query.limit = options.limit.value_or(0);
  if (options.phase) query.phase = PhaseFromName(*options.phase);
  return query;
}

absl::StatusOr<v1::GetTableResponse> GetRemoteTable(const std::string& trace,
                                                    const TableQuery& query,
                                                    CommandContext& context) {
  v1::GetTableRequest request;
  ASSIGN_OR_RETURN(*request.mutable_name(), RemoteTrace(trace, context));
  request.set_by(ToProto(query.by));
  request.set_sort(query.sort);
  request.set_limit(query.limit);
  if (query.phase) request.set_phase(ToProto(*query.phase));
  ASSIGN_OR_RETURN(Client* const client, context.Connect());
  return client->GetTable(request);
}

absl::StatusOr<ExitCode> ShowTable(const TableOptions& options,
                                   CommandContext& context) {
  const TableQuery query = MakeQuery(options);
  v1::GetTableResponse table;
  if (const auto path = LocalTrace(options.trace)) {
    ASSIGN_OR_RETURN(const Trace trace, ReadLocalTrace(*path, context));
    ASSIGN_OR_RETURN(const Table local, MakeTable(trace, query));
    table = ToProto(local);
    if (local.rows.empty() && !trace.header.collector_note.empty()) {
      context.console().Note(trace.header.collector_note);
    }
  } else {
    ASSIGN_OR_RETURN(table, GetRemoteTable(options.trace, query, context));
  }
  if (context.json()) {
    context.PrintJson(table);
    return ExitCode::kOk;
  }
  const Console& console = context.console();
  console.out << RenderTable(FromProto(table),
                             {.width = console.width, .color = console.color});
  return ExitCode::kOk;
}

}  // namespace

void AddTableCommand(CommandTree& tree) {
  const auto options = std::make_shared<TableOptions>();
  CLI::App& app = tree.Add("table", "Show what ran in a trace, summed by name",
                           [options](CommandContext& context) {
                             return ShowTable(*options, context);
                           });
  AddPositional(app, "T", &options->trace, "A trace id, or a trace file");
  AddWord(app, "--by", &options->by, {"op", "kernel", "call", "range", "step"},
          "What a row is: op (default), kernel, call, range, step", "WHAT");
  AddText(app, "--sort", &options->sort,
          "Column to sort by, largest first: self_cpu_ns, count, name, ...",
          "COLUMN");
  AddNumber(app, "--limit", &options->limit, 0,
            std::numeric_limits<int64_t>::max(),
            "How many rows at most (default all)");
  AddWord(app, "--phase", &options->phase, {"cold", "warmup", "traced"},
          "Only records of that phase: cold, warmup, traced", "PHASE");
}

}  // namespace traza
