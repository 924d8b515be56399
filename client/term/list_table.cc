// SPDX-License-Identifier: Apache-2.0
#include "client/term/list_table.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

#include "base/check.h"
#include "base/utf8.h"
#include "trace/render/render.h"

namespace traza {
namespace {

constexpr int kGap = 2;
constexpr int kMinFlexible = 8;
constexpr char kEllipsis[] = "\u2026";

// Bytes of the UTF-8 character that `lead` starts.
size_t CharacterBytes(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  if (byte >= 0xF0) return 4;
  if (byte >= 0xE0) return 3;
  if (byte >= 0xC0) return 2;
  return 1;
}

}  // namespace

ListTable::ListTable(std::vector<ListColumn> columns)
    : columns_(std::move(columns)) {
  std::vector<std::string> titles;
  for (const ListColumn& column : columns_) titles.push_back(column.title);
  rows_.push_back(std::move(titles));
}

void ListTable::AddRow(std::vector<std::string> cells) {
  TRAZA_CHECK(cells.size() <= columns_.size());
  cells.resize(columns_.size());
  for (std::string& cell : cells) cell = EscapeControlCharacters(cell);
  rows_.push_back(std::move(cells));
}

std::vector<int> ListTable::Widths(int width) const {
  std::vector<int> widths(columns_.size(), 0);
  for (const std::vector<std::string>& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], DisplayWidth(row[i]));
    }
  }
  if (width <= 0) return widths;
  int excess = std::accumulate(widths.begin(), widths.end(), 0) +
               kGap * (static_cast<int>(widths.size()) - 1) - width;
  // The widest flexible column gives way first.
  while (excess > 0) {
    int widest = -1;
    for (size_t i = 0; i < widths.size(); ++i) {
      if (columns_[i].flexible && widths[i] > kMinFlexible &&
          (widest < 0 || widths[i] > widths[static_cast<size_t>(widest)])) {
        widest = static_cast<int>(i);
      }
    }
    if (widest < 0) break;
    --widths[static_cast<size_t>(widest)];
    --excess;
  }
  return widths;
}

std::string ListTable::Render(int width) const {
  const std::vector<int> widths = Widths(width);
  std::string text;
  for (const std::vector<std::string>& row : rows_) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string cell = CutToWidth(row[i], widths[i]);
      const std::string padding(
          static_cast<size_t>(std::max(0, widths[i] - DisplayWidth(cell))),
          ' ');
      const bool right = columns_[i].align == Align::kRight;
      absl::StrAppend(&line, i == 0 ? "" : std::string(kGap, ' '),
                      right ? padding : "", cell, right ? "" : padding);
    }
    absl::StrAppend(&text, absl::StripTrailingAsciiWhitespace(line), "\n");
  }
  return text;
}

std::string RenderPairs(
    const std::vector<std::pair<std::string, std::string>>& pairs) {
  int width = 0;
  for (const auto& [name, value] : pairs) {
    if (!value.empty()) width = std::max(width, DisplayWidth(name));
  }
  std::string text;
  for (const auto& [name, value] : pairs) {
    if (value.empty()) continue;
    const std::string padding(
        static_cast<size_t>(width + kGap - DisplayWidth(name)), ' ');
    absl::StrAppend(&text, name, padding, EscapeControlCharacters(value), "\n");
  }
  return text;
}

std::string CutToWidth(absl::string_view text, int width) {
  if (DisplayWidth(text) <= width) return std::string(text);
  int used = 0;
  size_t end = 0;
  while (end < text.size()) {
    const size_t bytes = std::min(CharacterBytes(text[end]), text.size() - end);
    const int columns = DisplayWidth(text.substr(end, bytes));
    if (used + columns > width - 1) break;
    used += columns;
    end += bytes;
  }
  return width < 1 ? "" : absl::StrCat(text.substr(0, end), kEllipsis);
}

}  // namespace traza
