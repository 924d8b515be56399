// SPDX-License-Identifier: Apache-2.0
#include "server/store/trace_rows.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

#include "base/error.h"
#include "base/status_macros.h"
#include "server/store/job_json.h"

namespace traza {
namespace {

constexpr absl::string_view kColumns =
    "t.id, t.job, t.workload, t.variant, t.device, t.host, t.create_time_ns,"
    " t.size_bytes, t.sha256, t.row_count, t.validity, t.verdict, t.partial,"
    " t.labels";

absl::StatusOr<TraceRow> FromRow(const SqlRow& row) {
  TraceRow trace;
  trace.id = TraceId{row.Text(0)};
  if (!row.IsNull(1)) trace.job = JobId{row.Text(1)};
  trace.workload = row.Text(2);
  trace.variant = row.Text(3);
  trace.device = row.Text(4);
  trace.host = row.Text(5);
  trace.create_time = absl::FromUnixNanos(row.Int(6));
  trace.size_bytes = row.Int(7);
  trace.sha256 = row.Text(8);
  trace.rows = row.Int(9);
  trace.validity = row.Text(10);
  trace.verdict = row.OptionalText(11);
  trace.partial = row.Int(12) != 0;
  ASSIGN_OR_RETURN(trace.labels, LabelsFromJson(row.Text(13)));
  return trace;
}

absl::Status NotFound(const TraceId& id) {
  return ErrorBuilder(absl::StatusCode::kNotFound, Reason::kTraceNotFound)
      .With("trace", id.value)
      .Build(absl::StrCat("There is no trace ", id.value, "."));
}

SqlValue OrNull(const std::optional<std::string>& text) {
  if (text.has_value()) return *text;
  return nullptr;
}

}  // namespace

ListTable TracesTable() {
  return {"traces", "trace_labels", "trace", kColumns};
}

absl::StatusOr<std::vector<TraceRow>> ReadTraces(SqlTransaction& sql,
                                                 const ListQuery& query) {
  std::vector<TraceRow> traces;
  absl::Status fault;
  RETURN_IF_ERROR(sql.Query(query.sql, query.values, [&](const SqlRow& row) {
    absl::StatusOr<TraceRow> trace = FromRow(row);
    fault = trace.status();
    if (trace.ok()) traces.push_back(*std::move(trace));
    return fault.ok();
  }));
  RETURN_IF_ERROR(fault);
  return traces;
}

absl::StatusOr<TraceRow> ReadTrace(SqlTransaction& sql, const TraceId& id) {
  ASSIGN_OR_RETURN(std::vector<TraceRow> traces,
                   ReadTraces(sql, {absl::StrCat("SELECT ", kColumns,
                                                 " FROM traces t WHERE t.id=?"),
                                    {id.value}}));
  if (traces.empty()) return NotFound(id);
  return std::move(traces.front());
}

absl::StatusOr<std::string> ReadAnswer(SqlTransaction& sql, const TraceId& id) {
  std::optional<std::string> answer;
  RETURN_IF_ERROR(sql.Query("SELECT answer FROM answers WHERE trace=?",
                            {id.value}, [&](const SqlRow& row) {
                              answer = row.Blob(0);
                              return true;
                            }));
  if (!answer.has_value()) return NotFound(id);
  return *std::move(answer);
}

absl::Status InsertTrace(SqlTransaction& sql, const TraceRow& trace,
                         absl::string_view answer) {
  const int64_t created = absl::ToUnixNanos(trace.create_time);
  const SqlValue job = trace.job ? SqlValue(trace.job->value) : nullptr;
  RETURN_IF_ERROR(
      sql.Run("INSERT INTO traces (id, job, workload, variant, device, host,"
              " create_time_ns, size_bytes, sha256, row_count, validity,"
              " verdict, partial, labels) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
              {trace.id.value, job, trace.workload, trace.variant, trace.device,
               trace.host, created, trace.size_bytes, trace.sha256, trace.rows,
               trace.validity, OrNull(trace.verdict), int64_t{trace.partial},
               LabelsToJson(trace.labels)})
          .status());
  for (const auto& [key, value] : trace.labels) {
    RETURN_IF_ERROR(
        sql.Run("INSERT INTO trace_labels (key, value, create_time_ns, trace,"
                " workload) VALUES (?,?,?,?,?)",
                {key, value, created, trace.id.value, trace.workload})
            .status());
  }
  return sql
      .Run("INSERT INTO answers (trace, answer) VALUES (?,?)",
           {trace.id.value, SqlBlob{answer}})
      .status();
}

absl::Status DeleteTraceRow(SqlTransaction& sql, const TraceId& id) {
  ASSIGN_OR_RETURN(const int64_t deleted,
                   sql.Run("DELETE FROM traces WHERE id=?", {id.value}));
  return deleted == 0 ? NotFound(id) : absl::OkStatus();
}

}  // namespace traza
