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

constexpr char kBold[] = "\033[1m";
constexpr char kPlain[] = "\033[0m";

int TotalWidth(const std::vector<int>& widths) {
  return std::accumulate(widths.begin(), widths.end(), 0) +
         kGap * static_cast<int>(widths.size() - 1);
}

}  // namespace

std::string TextTable::Render(const RenderOptions& options) const {
  std::vector<size_t> shown(columns_.size());
  std::iota(shown.begin(), shown.end(), 0);
  std::vector<int> widths;
  for (const Column& column : columns_) {
    widths.push_back(DisplayWidth(column.title));
  }
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], DisplayWidth(row[i]));
    }
  }
  if (options.width > 0) {
    const int least = std::min(widths[0], kMinNameWidth);
    while (shown.size() > 2 &&
           TotalWidth(widths) - widths[0] + least > options.width) {
      size_t drop = 1;
      for (size_t i = 2; i < shown.size(); ++i) {
        if (columns_[shown[i]].importance <= columns_[shown[drop]].importance) {
          drop = i;
        }
      }
      shown.erase(shown.begin() + static_cast<ptrdiff_t>(drop));
      widths.erase(widths.begin() + static_cast<ptrdiff_t>(drop));
    }
    const int room = options.width - (TotalWidth(widths) - widths[0]);
    widths[0] = std::min(widths[0], std::max(room, 8));
  }

  std::string text;
  const auto add_line = [&](const auto& cell_of) {
    std::string line = PadRight(CutMiddle(cell_of(0), widths[0]), widths[0]);
    for (size_t i = 1; i < shown.size(); ++i) {
      absl::StrAppend(&line, std::string(kGap, ' '),
                      PadLeft(cell_of(shown[i]), widths[i]));
    }
    line.erase(line.find_last_not_of(' ') + 1);
    absl::StrAppend(&text, line, "\n");
  };
  const std::string rule(static_cast<size_t>(TotalWidth(widths)), '-');
  if (options.color) text += kBold;
  add_line([&](size_t i) { return columns_[i].title; });
  if (options.color) text += kPlain;
  absl::StrAppend(&text, rule, "\n");
  for (size_t row = 0; row < rows_.size(); ++row) {
    if (static_cast<int>(row) == totals_) absl::StrAppend(&text, rule, "\n");
    add_line([&](size_t i) { return rows_[row][i]; });
  }
  return text;
}

}  // namespace traza
