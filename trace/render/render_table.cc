// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "base/utf8.h"
#include "trace/quantity.h"
#include "trace/render/render.h"
#include "trace/render/text_table.h"

namespace traza {
namespace {

std::string Ns(const std::optional<int64_t>& ns) {
  return ns.has_value() ? FormatNs(static_cast<double>(*ns)) : "n/a";
}

std::string Percent(const std::optional<double>& share) {
  return share.has_value() ? PercentText(*share) : "n/a";
}

std::string Count(const std::optional<int64_t>& count) {
  return count.has_value() ? CountText(*count) : "n/a";
}

std::string Text(const std::optional<std::string>& text) {
  return text.value_or("n/a");
}

// "12.3 GFLOP".
std::string Flops(const std::optional<int64_t>& flops) {
  static constexpr const char* kUnits[] = {"", "K", "M", "G", "T", "P", "E"};
  if (!flops.has_value()) return "n/a";
  auto value = static_cast<double>(*flops);
  int unit = 0;
  for (; value >= 999.5 && unit < 6; ++unit) value /= 1000;
  return absl::StrFormat("%.3g %s", value, kUnits[unit]);
}

// A column: its title, the cell of a row, the cell of the totals line.
struct CellColumn {
  TextTable::Column column;
  std::function<std::string(const TableRow&)> cell;
  std::function<std::string(const TableTotals&)> total;
};

std::string NoTotal(const TableTotals& /*totals*/) { return ""; }

template <typename T>
bool AnyHas(const Table& table, std::optional<T> TableRow::* member) {
  for (const TableRow& row : table.rows) {
    if ((row.*member).has_value()) return true;
  }
  return false;
}

void AddCpuColumns(std::vector<CellColumn>* columns) {
  columns->push_back({{"Self CPU", 9},
                      [](const TableRow& row) { return Ns(row.self_cpu_ns); },
                      [](const TableTotals& t) { return Ns(t.self_cpu_ns); }});
  columns->push_back(
      {{"%", 7},
       [](const TableRow& row) { return Percent(row.self_cpu_share); },
       NoTotal});
  columns->push_back({{"Total CPU", 6},
                      [](const TableRow& row) { return Ns(row.total_cpu_ns); },
                      NoTotal});
}

void AddDeviceColumns(const Table& table, std::vector<CellColumn>* columns) {
  const bool kernels = table.by == TableBy::kKernel;
  columns->push_back(
      {{kernels ? "Device" : "Self dev.", 8},
       [](const TableRow& row) { return Ns(row.self_device_ns); },
       [](const TableTotals& t) { return Ns(t.self_device_ns); }});
  columns->push_back(
      {{"%", 4},
       [](const TableRow& row) { return Percent(row.self_device_share); },
       NoTotal});
  if (!kernels) {
    columns->push_back(
        {{"Total dev.", 3},
         [](const TableRow& row) { return Ns(row.total_device_ns); },
         NoTotal});
  }
}

void AddDistributionColumns(std::vector<CellColumn>* columns) {
  columns->push_back({{"Mean", 5},
                      [](const TableRow& row) { return Ns(row.mean_ns); },
                      NoTotal});
  columns->push_back({{"p50", 2},
                      [](const TableRow& row) { return Ns(row.p50_ns); },
                      NoTotal});
  columns->push_back({{"Max", 1},
                      [](const TableRow& row) { return Ns(row.max_ns); },
                      NoTotal});
}

void AddShapeColumns(const Table& table, std::vector<CellColumn>* columns) {
  columns->push_back({{"Grid", 0},
                      [](const TableRow& row) { return Text(row.grid); },
                      NoTotal});
  columns->push_back({{"Block", 0},
                      [](const TableRow& row) { return Text(row.block); },
                      NoTotal});
  columns->push_back({{"Regs", 0},
                      [](const TableRow& row) { return Count(row.registers); },
                      NoTotal});
  columns->push_back({{"Shared", 0},
                      [](const TableRow& row) {
                        return row.shared_bytes.has_value()
                                   ? FormatBytes(
                                         static_cast<double>(*row.shared_bytes))
                                   : "n/a";
                      },
                      NoTotal});
  columns->push_back(
      {{"Occup.", 1},
       [](const TableRow& row) { return Percent(row.occupancy); },
       NoTotal});
  for (const TableRow& row : table.rows) {
    if (row.launchless.value_or(0) > 0) {
      columns->push_back({{"No launch", 3},
                          [](const TableRow& r) { return Count(r.launchless); },
                          NoTotal});
      return;
    }
  }
}

// A step is one record: shares and distributions say nothing of it.
void AddStepColumns(bool device, std::vector<CellColumn>* columns) {
  columns->push_back({{"Time", 9},
                      [](const TableRow& row) { return Ns(row.total_cpu_ns); },
                      NoTotal});
  columns->push_back({{"Self CPU", 7},
                      [](const TableRow& row) { return Ns(row.self_cpu_ns); },
                      [](const TableTotals& t) { return Ns(t.self_cpu_ns); }});
  if (device) {
    columns->push_back(
        {{"Device", 8},
         [](const TableRow& row) { return Ns(row.total_device_ns); },
         [](const TableTotals& t) { return Ns(t.self_device_ns); }});
  }
}

void AddCountColumn(std::vector<CellColumn>* columns) {
  columns->push_back({{"Count", 8},
                      [](const TableRow& row) { return CountText(row.count); },
                      [](const TableTotals& t) { return CountText(t.count); }});
}

// What is in no total says so.
std::string NameCell(TableBy by, const TableRow& row) {
  std::string name = EscapeControlCharacters(row.name);
  if (IsInTotals(by, row)) return name;
  return absl::StrCat("[", EventKindName(row.kind), "] ", name);
}

std::vector<CellColumn> ColumnsOf(const Table& table) {
  static constexpr const char* kTitles[] = {"Operator", "Kernel", "Call",
                                            "Range", "Step"};
  std::vector<CellColumn> columns;
  columns.push_back(
      {{kTitles[static_cast<int>(table.by)], 10},
       [by = table.by](const TableRow& row) { return NameCell(by, row); },
       [](const TableTotals& /*totals*/) { return "Total"; }});
  const bool device = table.totals.self_device_ns.has_value();
  if (table.by == TableBy::kStep) {
    AddStepColumns(device, &columns);
    return columns;
  }
  if (table.by == TableBy::kKernel) {
    AddDeviceColumns(table, &columns);
    AddDistributionColumns(&columns);
    AddCountColumn(&columns);
    AddShapeColumns(table, &columns);
    return columns;
  }
  AddCpuColumns(&columns);
  if (device) AddDeviceColumns(table, &columns);
  AddDistributionColumns(&columns);
  if (AnyHas(table, &TableRow::flops)) {
    columns.push_back({{"FLOP", 2},
                       [](const TableRow& row) { return Flops(row.flops); },
                       NoTotal});
  }
  AddCountColumn(&columns);
  return columns;
}

// What the totals line has no column for.
std::string Notes(const Table& table) {
  std::string notes;
  const auto shown = static_cast<int64_t>(table.rows.size());
  if (shown < table.all_rows) {
    absl::StrAppend(&notes, CountText(shown), " of ", CountText(table.all_rows),
                    " rows shown; the totals are of all.\n");
  }
  const TableTotals& totals = table.totals;
  const auto apart = [&](const TableRow& row) {
    return !IsInTotals(table.by, row);
  };
  if (std::ranges::any_of(table.rows, apart)) {
    absl::StrAppend(&notes, "Rows in [brackets] are in no total.\n");
  }
  if (totals.unattributed_device_ns.value_or(0) > 0) {
    absl::StrAppend(&notes, "Device work of no row: ",
                    Ns(totals.unattributed_device_ns), ".\n");
  }
  if (totals.overhead_ns.value_or(0) > 0) {
    absl::StrAppend(&notes, "Overhead of tracer and driver, in no total: ",
                    Ns(totals.overhead_ns), ".\n");
  }
  return notes;
}

const char* NothingOf(TableBy by) {
  switch (by) {
    case TableBy::kOp:
      return "No operator was recorded.\n";
    case TableBy::kKernel:
      return "No device work was recorded.\n";
    case TableBy::kCall:
      return "No call was recorded.\n";
    case TableBy::kRange:
      return "No range was recorded.\n";
    case TableBy::kStep:
      return "No step was recorded.\n";
  }
  return "";
}

}  // namespace

std::string RenderTable(const Table& table, const RenderOptions& options) {
  if (table.rows.empty()) return NothingOf(table.by) + Notes(table);
  const std::vector<CellColumn> columns = ColumnsOf(table);
  std::vector<TextTable::Column> titles;
  for (const CellColumn& column : columns) titles.push_back(column.column);
  TextTable text(std::move(titles));
  for (const TableRow& row : table.rows) {
    std::vector<std::string> cells;
    for (const CellColumn& column : columns) cells.push_back(column.cell(row));
    text.AddRow(std::move(cells));
  }
  std::vector<std::string> totals;
  for (const CellColumn& column : columns) {
    totals.push_back(column.total(table.totals));
  }
  text.AddTotals(std::move(totals));
  return absl::StrCat(text.Render(options), Notes(table));
}

std::string FormatNs(double ns) { return NsText(ns); }

std::string FormatBytes(double bytes) { return BytesText(bytes); }

}  // namespace traza
