// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_STORE_LIST_QUERY_H_
#define SERVER_STORE_LIST_QUERY_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "server/store/list_filter.h"
#include "server/store/sqlite.h"

namespace traza {

// A table that is listed newest first, and its table of labels.
struct ListTable {
  absl::string_view name;       // "jobs"
  absl::string_view labels;     // "job_labels"
  absl::string_view label_key;  // the column of `labels` that holds the id
  absl::string_view columns;    // to select, of the table "t"
};

struct ListQuery {
  std::string sql;
  std::vector<SqlValue> values;
};

// A query for one page and one row more. It reads the index of the rarest
// condition of the filter and checks the others row by row, so a page stays
// fast in a database of 100,000 jobs whatever the filter
// (tests/server/store/list_bench.cc).
absl::StatusOr<ListQuery> PlanList(SqlTransaction& sql, const ListTable& table,
                                   const ListFilter& filter, int page_size,
                                   const std::optional<PageEnd>& after);

}  // namespace traza

#endif  // SERVER_STORE_LIST_QUERY_H_
