// SPDX-License-Identifier: Apache-2.0
#include "server/store/import_rows.h"

#include "base/status_macros.h"

namespace traza {

absl::StatusOr<std::optional<StoredImport>> ReadImport(
    SqlTransaction& sql, absl::string_view request_id, int64_t oldest_ns) {
  std::optional<StoredImport> found;
  RETURN_IF_ERROR(sql.Query(
      "SELECT hash, trace FROM imports WHERE request_id=? AND time_ns>=?",
      {request_id, oldest_ns}, [&](const SqlRow& row) {
        found = StoredImport{row.Text(0), TraceId{row.Text(1)}};
        return true;
      }));
  return found;
}

absl::Status InsertImport(SqlTransaction& sql, absl::string_view request_id,
                          const StoredImport& import, int64_t time_ns) {
  return sql
      .Run(
          "INSERT INTO imports (request_id, hash, time_ns, trace)"
          " VALUES (?,?,?,?)",
          {request_id, import.hash, time_ns, import.trace.value})
      .status();
}

absl::Status DeleteImportsBefore(SqlTransaction& sql, int64_t oldest_ns) {
  return sql.Run("DELETE FROM imports WHERE time_ns<?", {oldest_ns}).status();
}

}  // namespace traza
