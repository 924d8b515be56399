// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_STORE_SCHEMA_H_
#define SERVER_STORE_SCHEMA_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

#include "server/store/sqlite.h"

namespace traza {

// The steps from an empty database to the newest schema: step N turns version
// N - 1 (PRAGMA user_version) into version N. A step that was released is never
// changed; a new one is added at the end.
const std::vector<std::string>& Migrations();

// Brings the database to the newest version, each step in its own transaction.
// Fails with STORE_TOO_NEW, leaving the database as it is, when a newer traza
// wrote it, and with STORE_DAMAGED when its pages are broken.
absl::Status Migrate(Sqlite& database);

// Migrates only to `version`: for the tests of the steps after it.
absl::Status MigrateTo(Sqlite& database, int version);

}  // namespace traza

#endif  // SERVER_STORE_SCHEMA_H_
