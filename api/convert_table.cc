// SPDX-License-Identifier: Apache-2.0
#include "api/convert_enum.h"
#include "api/convert_trace.h"
#include "api/optional_fields.h"
#include "base/utf8.h"

namespace traza {
namespace {

// The fields that are plain optional values on both sides.
#define TRAZA_ROW_FIELDS(X) \
  X(self_cpu_ns)            \
  X(total_cpu_ns)           \
  X(self_device_ns)         \
  X(total_device_ns)        \
  X(mean_ns)                \
  X(p50_ns)                 \
  X(p99_ns)                 \
  X(min_ns)                 \
  X(max_ns)                 \
  X(self_cpu_share)         \
  X(self_device_share)      \
  X(flops)                  \
  X(bytes)                  \
  X(grid)                   \
  X(block)                  \
  X(registers)              \
  X(shared_bytes)           \
  X(occupancy)              \
  X(launchless)             \
  X(step)

#define TRAZA_TOTALS_FIELDS(X) \
  X(self_cpu_ns)               \
  X(self_device_ns)            \
  X(unattributed_device_ns)    \
  X(overhead_ns)

v1::TableRow ToProto(const TableRow& from) {
  v1::TableRow to;
  to.set_name(ToValidUtf8(from.name));
  to.set_kind(traza::ToProto(from.kind));
  to.set_count(from.count);
  TRAZA_ROW_FIELDS(TRAZA_SET_OPTIONAL)
  if (from.phase.has_value()) to.set_phase(traza::ToProto(*from.phase));
  return to;
}

TableRow FromProto(const v1::TableRow& from) {
  TableRow to;
  to.name = from.name();
  to.kind = traza::FromProto(from.kind()).value_or(EventKind::kOp);
  to.count = from.count();
  TRAZA_ROW_FIELDS(TRAZA_GET_OPTIONAL)
  if (from.has_phase()) to.phase = traza::FromProto(from.phase());
  return to;
}

v1::TableTotals ToProto(const TableTotals& from) {
  v1::TableTotals to;
  to.set_count(from.count);
  TRAZA_TOTALS_FIELDS(TRAZA_SET_OPTIONAL)
  return to;
}

TableTotals FromProto(const v1::TableTotals& from) {
  TableTotals to;
  to.count = from.count();
  TRAZA_TOTALS_FIELDS(TRAZA_GET_OPTIONAL)
  return to;
}

}  // namespace

v1::GetTableResponse ToProto(const Table& table) {
  v1::GetTableResponse to;
  to.set_by(ToProto(table.by));
  for (const TableRow& row : table.rows) *to.add_rows() = ToProto(row);
  to.set_all_rows(table.all_rows);
  *to.mutable_totals() = ToProto(table.totals);
  return to;
}

Table FromProto(const v1::GetTableResponse& table) {
  Table to;
  to.by = FromProto(table.by()).value_or(TableBy::kOp);
  to.rows.reserve(static_cast<size_t>(table.rows_size()));
  for (const v1::TableRow& row : table.rows()) {
    to.rows.push_back(FromProto(row));
  }
  to.all_rows = table.all_rows();
  to.totals = FromProto(table.totals());
  return to;
}

}  // namespace traza
