// SPDX-License-Identifier: Apache-2.0
#include "client/term/list_table.h"

#include "gtest/gtest.h"

#include "trace/render/render.h"

namespace traza {
namespace {

TEST(ListTable, LinesUpColumns) {
  ListTable table({{"NAME"}, {"ROWS", Align::kRight}, {"NOTE"}});
  table.AddRow({"a", "12345", "x"});
  table.AddRow({"longer", "1"});

  EXPECT_EQ(table.Render(0),
            "NAME     ROWS  NOTE\n"
            "a       12345  x\n"
            "longer      1\n");
}

TEST(ListTable, CountsColumnsNotBytes) {
  ListTable table({{"A"}, {"B"}});
  table.AddRow({"\u6f22\u5b57", "x"});
  table.AddRow({"\u00e9", "y"});

  EXPECT_EQ(table.Render(0),
            "A     B\n"
            "\u6f22\u5b57  x\n"
            "\u00e9     y\n");
}

TEST(ListTable, CutsFlexibleCellsToTheTerminal) {
  ListTable table({{"NAME"}, {"WHAT", Align::kLeft, true}});
  table.AddRow({"matmul_add", "A sentence that is longer than the rest."});

  for (const int width : {24, 30, 40}) {
    const std::string text = table.Render(width);
    const std::string row = text.substr(text.find('\n') + 1);
    EXPECT_LE(DisplayWidth(row.substr(0, row.size() - 1)), width) << text;
    EXPECT_NE(row.find("\u2026"), std::string::npos) << text;
  }
}

TEST(ListTable, RunsOverRatherThanHidingACell) {
  ListTable table({{"NAME"}, {"WHAT", Align::kLeft, true}});
  table.AddRow({"matmul_add", "A sentence."});

  EXPECT_EQ(table.Render(5),
            "NAME        WHAT\n"
            "matmul_add  A sente\u2026\n");
}

TEST(ListTable, EscapesCells) {
  ListTable table({{"A"}});
  table.AddRow({"x\033[2J\ny\xff"});

  EXPECT_EQ(table.Render(0), "A\nx\\x1b[2J\\ny\\xff\n");
}

TEST(RenderPairs, LeavesOutWhatIsEmpty) {
  EXPECT_EQ(
      RenderPairs({{"job", "jobs/a"}, {"a long name", ""}, {"ran", "1 s"}}),
      "job  jobs/a\nran  1 s\n");
}

TEST(CutToWidth, NeverCutsACharacter) {
  EXPECT_EQ(CutToWidth("abc", 3), "abc");
  EXPECT_EQ(CutToWidth("abcd", 3), "ab\u2026");
  EXPECT_EQ(CutToWidth("\u6f22\u5b57\u6f22", 4), "\u6f22\u2026");
  EXPECT_EQ(CutToWidth("abc", 0), "");
}

}  // namespace
}  // namespace traza
