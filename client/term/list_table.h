// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_TERM_LIST_TABLE_H_
#define CLIENT_TERM_LIST_TABLE_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace traza {

enum class Align { kLeft, kRight };

struct ListColumn {
  std::string title;
  Align align = Align::kLeft;
  // May be cut with an ellipsis where the table is wider than the terminal.
  bool flexible = false;
};

// Lines up cells by the columns that they take in a terminal. Cells are text
// from elsewhere: control characters and malformed bytes come out escaped.
class ListTable {
 public:
  explicit ListTable(std::vector<ListColumn> columns);

  // Missing cells are empty; there must be no more than columns.
  void AddRow(std::vector<std::string> cells);

  // One line for the titles and one for each row. `width` 0 means that nothing
  // is cut. A table that cannot get narrow enough keeps 8 columns of each
  // flexible cell and runs over.
  std::string Render(int width) const;

 private:
  std::vector<int> Widths(int width) const;

  std::vector<ListColumn> columns_;
  std::vector<std::vector<std::string>> rows_;  // the first holds the titles
};

// "name   value" lines with the values lined up; pairs with an empty value are
// left out. Long values run over: they are there to be copied.
std::string RenderPairs(
    const std::vector<std::pair<std::string, std::string>>& pairs);

// The longest beginning of `text` that takes at most `width` columns, with an
// ellipsis where something is missing.
std::string CutToWidth(absl::string_view text, int width);

}  // namespace traza

#endif  // CLIENT_TERM_LIST_TABLE_H_
