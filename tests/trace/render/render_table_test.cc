// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/record_builder.h"
#include "trace/analysis/table.h"
#include "trace/render/render.h"

namespace traza {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Table TableOf(const Trace& trace, TableBy by, int64_t limit = 0) {
  TableQuery query;
  query.by = by;
  query.limit = limit;
  return *MakeTable(trace, query);
}

RenderOptions Width(int width) {
  RenderOptions options;
  options.width = width;
  return options;
}

std::vector<std::string> Lines(const std::string& text) {
  return absl::StrSplit(text, '\n');
}

Trace SmallTrace() {
  return RecordBuilder()
      .Step(Phase::kTraced, 0, 0, 200'000)
      .Op("aten::matmul", 10'000, 100'000)
      .Op("aten::mm", 20'000, 90'000)
      .Op("aten::add", 110'000, 140'500)
      .Build();
}

TEST(RenderTable, NumbersAreRightAlignedUnderATotal) {
  EXPECT_EQ(
      RenderTable(TableOf(SmallTrace(), TableBy::kOp), Width(100)),
      "Operator      Self CPU       %  Total CPU     Mean      p50      Max  "
      "Count\n"
      "---------------------------------------------------------------------"
      "------\n"
      "aten::mm       70.0 us  58.1 %    70.0 us  70.0 us  70.0 us  70.0 us  "
      "    1\n"
      "aten::add      30.5 us  25.3 %    30.5 us  30.5 us  30.5 us  30.5 us  "
      "    1\n"
      "aten::matmul   20.0 us  16.6 %    90.0 us  90.0 us  90.0 us  90.0 us  "
      "    1\n"
      "---------------------------------------------------------------------"
      "------\n"
      "Total           121 us                                                "
      "    3\n");
}

TEST(RenderTable, FitsTheTerminal) {
  const Trace trace = MakeGpuTrace(30);
  for (const TableBy by : {TableBy::kOp, TableBy::kKernel, TableBy::kCall,
                           TableBy::kRange, TableBy::kStep}) {
    for (const int width : {40, 60, 80, 100, 132, 200}) {
      const std::string text = RenderTable(TableOf(trace, by), Width(width));
      for (const std::string& line : Lines(text)) {
        EXPECT_LE(DisplayWidth(line), width) << line;
      }
    }
  }
}

TEST(RenderTable, NarrowTerminalsKeepTheMainColumns) {
  const std::string text =
      RenderTable(TableOf(MakeGpuTrace(30), TableBy::kOp), Width(44));

  EXPECT_THAT(text, HasSubstr("Self CPU"));
  EXPECT_THAT(text, HasSubstr("Self dev."));
  EXPECT_THAT(text, Not(HasSubstr("p50")));
}

TEST(RenderTable, WithoutAWidthNothingIsCut) {
  RecordBuilder builder;
  const std::string name(500, 'k');
  builder.Kernel(name, 0, 10, 1);
  const Table table = TableOf(builder.Build(), TableBy::kKernel);

  EXPECT_THAT(RenderTable(table, Width(0)), HasSubstr(name));
  EXPECT_THAT(RenderTable(table, Width(100)), HasSubstr("k...k"));
}

TEST(RenderTable, NamesCannotWriteToTheTerminal) {
  RecordBuilder builder;
  builder.Op("evil\x1b[31m\nop\x9b", 0, 10);

  const std::string text =
      RenderTable(TableOf(builder.Build(), TableBy::kOp), Width(100));

  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, HasSubstr("evil\\x1b[31m\\nop"));
}

TEST(RenderTable, WideNamesKeepTheColumnsAligned) {
  RecordBuilder builder;
  builder.Op("矩阵乘法", 0, 10'000).Op("mm", 20'000, 21'000);

  const std::vector<std::string> lines =
      Lines(RenderTable(TableOf(builder.Build(), TableBy::kOp), Width(100)));

  EXPECT_EQ(DisplayWidth(lines[2]), DisplayWidth(lines[3]));
}

TEST(RenderTable, SaysWhatIsNotShown) {
  const std::string text =
      RenderTable(TableOf(SmallTrace(), TableBy::kOp, 1), Width(100));

  EXPECT_THAT(text, HasSubstr("1 of 3 rows shown"));
  EXPECT_THAT(text, Not(HasSubstr("aten::add")));
}

TEST(RenderTable, SaysWhatIsInNoRow) {
  RecordBuilder builder;
  builder.Op("mm", 0, 10'000)
      .Overhead("Activity Buffer Request", 1'000, 3'000)
      .Kernel("launched before", 0, 5'000, 9);

  const std::string text =
      RenderTable(TableOf(builder.Build(), TableBy::kOp), Width(100));

  EXPECT_THAT(text, HasSubstr("Device work of no row: 5.00 us."));
  EXPECT_THAT(
      text, HasSubstr("Overhead of tracer and driver, in no total: 2.00 us."));
}

TEST(RenderTable, UnknownOccupancyIsNotZero) {
  RecordBuilder builder;
  builder.Kernel("known", 0, 10, 1).Kernel("unknown", 20, 25, 2);
  builder.records().device[1].occupancy = Column<double>::Null();

  const std::vector<std::string> lines =
      Lines(RenderTable(TableOf(builder.Build(), TableBy::kKernel), Width(0)));

  EXPECT_THAT(lines[2], AllOf(StartsWith("known"), HasSubstr("18.8 %")));
  EXPECT_THAT(lines[3], AllOf(StartsWith("unknown"), HasSubstr("  n/a")));
}

TEST(RenderTable, MarksKernelsWithoutALaunch) {
  const Trace with = MakeGpuTrace(3);
  EXPECT_THAT(RenderTable(TableOf(with, TableBy::kKernel), Width(0)),
              Not(HasSubstr("No launch")));

  RecordBuilder builder;
  builder.Kernel("k", 0, 10, 1);
  EXPECT_THAT(RenderTable(TableOf(builder.Build(), TableBy::kKernel), Width(0)),
              HasSubstr("No launch"));
}

TEST(RenderTable, OfNothingSaysSo) {
  EXPECT_EQ(RenderTable(TableOf(Trace(), TableBy::kOp), Width(80)),
            "No operator was recorded.\n");
  EXPECT_EQ(RenderTable(TableOf(Trace(), TableBy::kKernel), Width(80)),
            "No device work was recorded.\n");
}

TEST(RenderTable, AbsentIsNotAvailableAndNeverNaN) {
  Table table;
  table.rows.resize(1);
  table.rows[0].name = "row";
  table.rows[0].self_cpu_share = std::numeric_limits<double>::quiet_NaN();
  table.totals.self_device_ns = 5;

  const std::string text = RenderTable(table, Width(0));

  EXPECT_THAT(text, HasSubstr("n/a"));
  EXPECT_THAT(text, Not(HasSubstr("nan")));
}

TEST(RenderTable, ColourIsForTerminalsOnly) {
  RenderOptions options;
  const Table table = TableOf(SmallTrace(), TableBy::kOp);
  EXPECT_THAT(RenderTable(table, options), Not(HasSubstr("\033")));

  options.color = true;
  EXPECT_THAT(RenderTable(table, options), StartsWith("\033[1mOperator"));
}

}  // namespace
}  // namespace traza
