// SPDX-License-Identifier: Apache-2.0
#include "trace/render/text_table.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "absl/strings/str_cat.h"

#include "trace/render/display_width.h"

namespace traza {
namespace {

constexpr int kGap = 2;
// A name in fewer columns says nothing: other columns go first.
constexpr int kMinNameWidth = 24;
// Of a terminal that is too narrow for any table.
constexpr int kLeastNameWidth = 8;

constexpr char kBold[] = "\033[1m";
constexpr char kPlain[] = "\033[0m";

// The columns that are printed, and how wide.
struct Layout {
  std::vector<size_t> shown;
  std::vector<int> widths;

  int total() const {
    return std::accumulate(widths.begin(), widths.end(), 0) +
           kGap * static_cast<int>(widths.size() - 1);
  }
  // That of all but the first column.
  int rest() const { return total() - widths[0]; }
};

// The least important of the shown columns, the first aside; of equals the
// last.
size_t LeastImportant(const std::vector<TextTable::Column>& columns,
                      const Layout& layout) {
  size_t least = 1;
  for (size_t i = 2; i < layout.shown.size(); ++i) {
    if (columns[layout.shown[i]].importance <=
        columns[layout.shown[least]].importance) {
      least = i;
    }
  }
  return least;
}

// Makes the table fit into `width` columns of the terminal.
void Shrink(const std::vector<TextTable::Column>& columns, int width,
            Layout* layout) {
  const int least_name = std::min(layout->widths[0], kMinNameWidth);
  while (layout->shown.size() > 2 && layout->rest() + least_name > width) {
    const auto drop = static_cast<ptrdiff_t>(LeastImportant(columns, *layout));
    layout->shown.erase(layout->shown.begin() + drop);
    layout->widths.erase(layout->widths.begin() + drop);
  }
  const int room = std::max(width - layout->rest(), kLeastNameWidth);
  layout->widths[0] = std::min(layout->widths[0], room);
}

}  // namespace

std::string TextTable::Line(const std::vector<size_t>& shown,
                            const std::vector<int>& widths,
                            const std::vector<std::string>& cells) {
  std::string line = PadRight(CutMiddle(cells[0], widths[0]), widths[0]);
  for (size_t i = 1; i < shown.size(); ++i) {
    absl::StrAppend(&line, std::string(kGap, ' '),
                    PadLeft(cells[shown[i]], widths[i]));
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return absl::StrCat(line, "\n");
}

std::string TextTable::Render(const RenderOptions& options) const {
  Layout layout;
  std::vector<std::string> titles;
  for (const Column& column : columns_) {
    layout.shown.push_back(titles.size());
    layout.widths.push_back(DisplayWidth(column.title));
    titles.push_back(column.title);
  }
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) {
      layout.widths[i] = std::max(layout.widths[i], DisplayWidth(row[i]));
    }
  }
  if (options.width > 0) Shrink(columns_, options.width, &layout);

  const std::string rule =
      absl::StrCat(std::string(static_cast<size_t>(layout.total()), '-'), "\n");
  std::string text = Line(layout.shown, layout.widths, titles);
  if (options.color) text = absl::StrCat(kBold, text, kPlain);
  text += rule;
  for (size_t row = 0; row < rows_.size(); ++row) {
    if (static_cast<int>(row) == totals_) text += rule;
    text += Line(layout.shown, layout.widths, rows_[row]);
  }
  return text;
}

}  // namespace traza
