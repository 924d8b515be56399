// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_STORE_TRACE_ROWS_H_
#define SERVER_STORE_TRACE_ROWS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "server/store/list_query.h"
#include "server/store/sqlite.h"
#include "server/store/trace_row.h"
#include "spec/job.h"

namespace traza {

// The tables traces, trace_labels and answers, inside a transaction.

// The table for PlanList(); its columns are those that ReadTraces() expects.
ListTable TracesTable();
absl::StatusOr<std::vector<TraceRow>> ReadTraces(SqlTransaction& sql,
                                                 const ListQuery& query);
// TRACE_NOT_FOUND.
absl::StatusOr<TraceRow> ReadTrace(SqlTransaction& sql, const TraceId& id);
absl::StatusOr<std::string> ReadAnswer(SqlTransaction& sql, const TraceId& id);

absl::Status InsertTrace(SqlTransaction& sql, const TraceRow& trace,
                         absl::string_view answer);
absl::Status DeleteTraceRow(SqlTransaction& sql, const TraceId& id);

}  // namespace traza

#endif  // SERVER_STORE_TRACE_ROWS_H_
