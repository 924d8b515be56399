// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_STORE_IMPORT_ROWS_H_
#define SERVER_STORE_IMPORT_ROWS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "server/store/sqlite.h"
#include "spec/job.h"

namespace traza {

// The table imports, inside a transaction: which request made which trace.

struct StoredImport {
  std::string hash;
  TraceId trace;
};

// What the request id made at `oldest_ns` or later.
absl::StatusOr<std::optional<StoredImport>> ReadImport(
    SqlTransaction& sql, absl::string_view request_id, int64_t oldest_ns);
absl::Status InsertImport(SqlTransaction& sql, absl::string_view request_id,
                          const StoredImport& import, int64_t time_ns);
absl::Status DeleteImportsBefore(SqlTransaction& sql, int64_t oldest_ns);

}  // namespace traza

#endif  // SERVER_STORE_IMPORT_ROWS_H_
