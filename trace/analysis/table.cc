// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/table.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"

#include "base/error.h"
#include "base/status_macros.h"
#include "trace/analysis/row_times.h"
#include "trace/analysis/statistics.h"
#include "trace/analysis/table_groups.h"

namespace traza {
namespace {

constexpr std::array<const char*, 5> kByNames = {"op", "kernel", "call",
                                                 "range", "step"};

// What a row is sorted by; absent goes last.
using SortValue = std::optional<double> (*)(const TableRow&);

template <auto TableRow::* member>
std::optional<double> ValueOf(const TableRow& row) {
  using T = std::decay_t<decltype(row.*member)>;
  if constexpr (std::is_same_v<T, int64_t>) {
    return static_cast<double>(row.*member);
  } else {
    const auto& value = row.*member;
    return value.has_value() ? std::optional<double>(*value) : std::nullopt;
  }
}

struct SortColumn {
  const char* name;
  SortValue value;  // null: by name
};

constexpr SortColumn kSortColumns[] = {
    {"name", nullptr},
    {"count", ValueOf<&TableRow::count>},
    {"self_cpu_ns", ValueOf<&TableRow::self_cpu_ns>},
    {"total_cpu_ns", ValueOf<&TableRow::total_cpu_ns>},
    {"self_device_ns", ValueOf<&TableRow::self_device_ns>},
    {"total_device_ns", ValueOf<&TableRow::total_device_ns>},
    {"mean_ns", ValueOf<&TableRow::mean_ns>},
    {"p50_ns", ValueOf<&TableRow::p50_ns>},
    {"p99_ns", ValueOf<&TableRow::p99_ns>},
    {"min_ns", ValueOf<&TableRow::min_ns>},
    {"max_ns", ValueOf<&TableRow::max_ns>},
    {"self_cpu_share", ValueOf<&TableRow::self_cpu_share>},
    {"self_device_share", ValueOf<&TableRow::self_device_share>},
    {"flops", ValueOf<&TableRow::flops>},
    {"bytes", ValueOf<&TableRow::bytes>},
    {"registers", ValueOf<&TableRow::registers>},
    {"shared_bytes", ValueOf<&TableRow::shared_bytes>},
    {"occupancy", ValueOf<&TableRow::occupancy>},
    {"launchless", ValueOf<&TableRow::launchless>},
    {"step", ValueOf<&TableRow::step>},
};

absl::string_view DefaultSort(TableBy by) {
  switch (by) {
    case TableBy::kKernel:
      return "self_device_ns";
    case TableBy::kStep:
      return "";  // the order in time
    default:
      return "self_cpu_ns";
  }
}

// "self_cpu" is taken for "self_cpu_ns": the unit is no part of what a person
// means.
absl::StatusOr<const SortColumn*> FindSortColumn(absl::string_view name) {
  for (const SortColumn& column : kSortColumns) {
    const absl::string_view known = column.name;
    if (name == known || name == absl::StripSuffix(known, "_ns")) {
      return &column;
    }
  }
  const std::string known = absl::StrJoin(
      kSortColumns, ", ", [](std::string* out, const SortColumn& column) {
        absl::StrAppend(out, column.name);
      });
  return ErrorBuilder(absl::StatusCode::kInvalidArgument,
                      Reason::kInvalidArgument)
      .Violation("sort", absl::StrCat("is none of: ", known))
      .Build(absl::StrCat("There is no column '", name,
                          "' to sort by; choose one of: ", known, "."));
}

void Sort(const SortColumn& column, std::vector<TableRow>* rows) {
  const auto by_name = [](const TableRow& a, const TableRow& b) {
    return a.name < b.name;
  };
  if (column.value == nullptr) {
    std::ranges::stable_sort(*rows, by_name);
    return;
  }
  std::ranges::stable_sort(*rows, [&](const TableRow& a, const TableRow& b) {
    const auto left = column.value(a);
    const auto right = column.value(b);
    if (left != right) return left > right;
    return by_name(a, b);
  });
}

std::optional<double> ShareOf(const std::optional<int64_t>& part,
                              const std::optional<int64_t>& whole) {
  if (!part.has_value() || !whole.has_value() || *whole <= 0) {
    return std::nullopt;
  }
  return static_cast<double>(*part) / static_cast<double>(*whole);
}

void AddSum(const std::optional<int64_t>& value, std::optional<int64_t>* sum) {
  if (value.has_value()) *sum = AddSaturating(sum->value_or(0), *value);
}

void FillTotals(const Trace& trace, const TableQuery& query,
                const RowTimes& times, Table* table) {
  TableTotals& totals = table->totals;
  for (const TableRow& row : table->rows) {
    if (!IsInTotals(query.by, row)) continue;
    totals.count += row.count;
    AddSum(row.self_cpu_ns, &totals.self_cpu_ns);
  }
  if (times.has_device_work()) {
    const DeviceSums sums = SumDeviceWork(trace, query);
    totals.self_device_ns = sums.all_ns;
    if (query.by != TableBy::kKernel) {
      totals.unattributed_device_ns = sums.unattributed_ns;
    }
  }
  totals.overhead_ns = SumOverhead(trace, query.phase);
  for (TableRow& row : table->rows) {
    if (!IsInTotals(query.by, row)) continue;
    row.self_cpu_share = ShareOf(row.self_cpu_ns, totals.self_cpu_ns);
    row.self_device_share = ShareOf(row.self_device_ns, totals.self_device_ns);
  }
}

}  // namespace

absl::string_view TableByName(TableBy by) {
  return kByNames[static_cast<size_t>(by)];
}

std::optional<TableBy> TableByFromName(absl::string_view name) {
  for (size_t i = 0; i < kByNames.size(); ++i) {
    if (name == kByNames[i]) return static_cast<TableBy>(i);
  }
  return std::nullopt;
}

absl::StatusOr<Table> MakeTable(const Trace& trace, const TableQuery& query) {
  const absl::string_view sort =
      query.sort.empty() ? DefaultSort(query.by) : query.sort;
  const SortColumn* column = nullptr;
  if (!sort.empty()) {
    ASSIGN_OR_RETURN(column, FindSortColumn(sort));
  }
  const RowTimes times(trace);
  Table table;
  table.by = query.by;
  table.rows = query.by == TableBy::kStep ? StepRows(trace, query, times)
                                          : GroupedRows(trace, query, times);
  table.all_rows = static_cast<int64_t>(table.rows.size());
  FillTotals(trace, query, times, &table);
  if (column != nullptr) Sort(*column, &table.rows);
  std::ranges::stable_partition(table.rows, [&](const TableRow& row) {
    return IsInTotals(query.by, row);
  });
  if (query.limit > 0 && query.limit < table.all_rows) {
    table.rows.resize(query.limit);
  }
  return table;
}

}  // namespace traza
