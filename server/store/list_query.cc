// SPDX-License-Identifier: Apache-2.0
#include "server/store/list_query.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"

namespace traza {
namespace {

// Where counting the rows of a condition stops: beyond it, which one is rarer
// does not matter, a page fills soon.
constexpr int64_t kCountLimit = 5000;

// A piece of SQL with its values.
struct Clause {
  std::string sql;
  std::vector<SqlValue> values;

  void Add(absl::string_view text, std::vector<SqlValue> more = {}) {
    absl::StrAppend(&sql, text);
    for (SqlValue& value : more) values.push_back(std::move(value));
  }
};

// The conditions that are columns of the table itself and of its labels.
Clause ColumnConditions(const ListFilter& filter, absl::string_view alias) {
  Clause clause;
  if (filter.state) {
    clause.Add(absl::StrCat(" AND ", alias, ".state=?"),
               {JobStateName(*filter.state)});
  }
  if (filter.workload) {
    clause.Add(absl::StrCat(" AND ", alias, ".workload=?"), {*filter.workload});
  }
  return clause;
}

std::string IndexOf(const ListTable& table, const ListFilter& filter) {
  if (filter.state && filter.workload) {
    return absl::StrCat(table.name, "_by_state_and_workload");
  }
  if (filter.state) return absl::StrCat(table.name, "_by_state");
  if (filter.workload) return absl::StrCat(table.name, "_by_workload");
  return absl::StrCat(table.name, "_by_time");
}

absl::StatusOr<int64_t> Count(SqlTransaction& sql, const Clause& rows) {
  int64_t count = 0;
  std::vector<SqlValue> values = rows.values;
  values.emplace_back(kCountLimit);
  RETURN_IF_ERROR(
      sql.Query(absl::StrCat("SELECT count(*) FROM (", rows.sql, " LIMIT ?)"),
                values, [&](const SqlRow& row) {
                  count = row.Int(0);
                  return true;
                }));
  return count;
}

// The key of the label to start from; none to start from the table itself.
absl::StatusOr<std::optional<std::string>> Rarest(SqlTransaction& sql,
                                                  const ListTable& table,
                                                  const ListFilter& filter) {
  std::optional<std::string> best;
  int64_t least = std::numeric_limits<int64_t>::max();
  const bool columns = filter.state.has_value() || filter.workload.has_value();
  if (filter.labels.size() == 1 && !columns)
    return filter.labels.begin()->first;
  for (const auto& [key, value] : filter.labels) {
    Clause rows;
    rows.Add(absl::StrCat("SELECT 1 FROM ", table.labels,
                          " WHERE key=? AND value=?"),
             {key, value});
    ASSIGN_OR_RETURN(const int64_t count, Count(sql, rows));
    if (count < least) best = key;
    least = std::min(least, count);
  }
  if (best.has_value() && columns) {
    const Clause conditions = ColumnConditions(filter, "t");
    Clause rows;
    rows.Add(absl::StrCat("SELECT 1 FROM ", table.name, " t INDEXED BY ",
                          IndexOf(table, filter), " WHERE 1"));
    rows.Add(conditions.sql, conditions.values);
    ASSIGN_OR_RETURN(const int64_t count, Count(sql, rows));
    if (count < least) best.reset();
  }
  return best;
}

// The other labels, as conditions on the row `alias` whose id is `id`.
Clause LabelConditions(const ListTable& table, const ListFilter& filter,
                       const std::optional<std::string>& but,
                       absl::string_view alias, absl::string_view id) {
  Clause clause;
  for (const auto& [key, value] : filter.labels) {
    if (key == but) continue;
    clause.Add(
        absl::StrCat(" AND EXISTS (SELECT 1 FROM ", table.labels,
                     " l WHERE l.key=? AND l.value=? AND l.create_time_ns=",
                     alias, ".create_time_ns AND l.", table.label_key, "=",
                     alias, ".", id, ")"),
        {key, value});
  }
  return clause;
}

}  // namespace

absl::StatusOr<ListQuery> PlanList(SqlTransaction& sql, const ListTable& table,
                                   const ListFilter& filter, int page_size,
                                   const std::optional<PageEnd>& after) {
  ASSIGN_OR_RETURN(const std::optional<std::string> driver,
                   Rarest(sql, table, filter));
  // The row that is read first: a label (d) or the table itself (t).
  const absl::string_view alias = driver ? "d" : "t";
  const absl::string_view id = driver ? table.label_key : "id";
  Clause query;
  query.Add(absl::StrCat("SELECT ", table.columns, " FROM "));
  if (driver) {
    // CROSS JOIN keeps SQLite from turning the order of the tables around.
    query.Add(absl::StrCat(table.labels, " d CROSS JOIN ", table.name,
                           " t ON t.id=d.", table.label_key,
                           " WHERE d.key=? AND d.value=?"),
              {*driver, filter.labels.at(*driver)});
  } else {
    query.Add(absl::StrCat(table.name, " t INDEXED BY ", IndexOf(table, filter),
                           " WHERE 1"));
  }
  const Clause columns = ColumnConditions(filter, alias);
  query.Add(columns.sql, columns.values);
  if (after) {
    query.Add(absl::StrCat(" AND (", alias, ".create_time_ns,", alias, ".", id,
                           ")<(?,?)"),
              {absl::ToUnixNanos(after->create_time), after->id});
  }
  const Clause labels = LabelConditions(table, filter, driver, alias, id);
  query.Add(labels.sql, labels.values);
  query.Add(absl::StrCat(" ORDER BY ", alias, ".create_time_ns DESC, ", alias,
                         ".", id, " DESC LIMIT ?"),
            {int64_t{page_size} + 1});
  return ListQuery{std::move(query.sql), std::move(query.values)};
}

}  // namespace traza
