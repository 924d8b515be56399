// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_TABLE_GROUPS_H_
#define TRACE_ANALYSIS_TABLE_GROUPS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "trace/analysis/row_times.h"
#include "trace/analysis/table.h"
#include "trace/trace.h"

namespace traza {

// The parts that MakeTable puts together. The trace is valid.

// One row for each name of the kinds that the table is about, in the order of
// first appearance; shares are not yet filled in.
std::vector<TableRow> GroupedRows(const Trace& trace, const TableQuery& query,
                                  const RowTimes& times);

// One row for each step, in the order of time.
std::vector<TableRow> StepRows(const Trace& trace, const TableQuery& query,
                               const RowTimes& times);

struct DeviceSums {
  int64_t all_ns = 0;
  int64_t unattributed_ns = 0;  // of no row of the table
};
DeviceSums SumDeviceWork(const Trace& trace, const TableQuery& query);

// The tracer's own time: that of its rows, else what the collector counted.
// Absent when neither says anything.
std::optional<int64_t> SumOverhead(const Trace& trace,
                                   std::optional<Phase> phase);

}  // namespace traza

#endif  // TRACE_ANALYSIS_TABLE_GROUPS_H_
