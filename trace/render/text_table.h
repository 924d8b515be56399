// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_RENDER_TEXT_TABLE_H_
#define TRACE_RENDER_TEXT_TABLE_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "trace/render/render.h"

namespace traza {

// Lays cells out in columns: the first to the left, the others, numbers, to
// the right. A table that is too wide first cuts the texts of the first column
// in their middle, then leaves out the columns of the least importance.
//
// Cells are printed as they are: foreign text has to be escaped before.
class TextTable {
 public:
  struct Column {
    std::string title;
    int importance = 0;  // the first column is never left out
  };

  explicit TextTable(std::vector<Column> columns)
      : columns_(std::move(columns)) {}

  // One cell a column.
  void AddRow(std::vector<std::string> cells) {
    rows_.push_back(std::move(cells));
  }
  // Separated from the rows above by a rule.
  void AddTotals(std::vector<std::string> cells) {
    totals_ = static_cast<int>(rows_.size());
    rows_.push_back(std::move(cells));
  }

  std::string Render(const RenderOptions& options) const;

 private:
  static std::string Line(const std::vector<size_t>& shown,
                          const std::vector<int>& widths,
                          const std::vector<std::string>& cells);

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
  int totals_ = -1;
};

}  // namespace traza

#endif  // TRACE_RENDER_TEXT_TABLE_H_
