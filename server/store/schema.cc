// SPDX-License-Identifier: Apache-2.0
#include "server/store/schema.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"

#include "base/error.h"
#include "base/status_macros.h"

namespace traza {
namespace {

// Columns are what lists filter and sort by; the rest of a job is JSON in
// `body`, so that a new field needs no migration. The label tables repeat what
// a filter may combine with a label (and the time it sorts by), so that such a
// list reads one index and not every job.
constexpr char kJobsAndTraces[] = R"sql(
CREATE TABLE jobs (
  id TEXT NOT NULL PRIMARY KEY,
  state TEXT NOT NULL,
  workload TEXT NOT NULL,
  device TEXT NOT NULL,
  create_time_ns INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT;
CREATE INDEX jobs_by_time ON jobs (create_time_ns, id);
CREATE INDEX jobs_by_state ON jobs (state, create_time_ns, id);
CREATE INDEX jobs_by_workload ON jobs (workload, create_time_ns, id);
CREATE INDEX jobs_by_state_and_workload
  ON jobs (state, workload, create_time_ns, id);

CREATE TABLE job_labels (
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  create_time_ns INTEGER NOT NULL,
  job TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  state TEXT NOT NULL,
  workload TEXT NOT NULL,
  PRIMARY KEY (key, value, create_time_ns, job)
) STRICT, WITHOUT ROWID;
CREATE INDEX job_labels_by_job ON job_labels (job);

CREATE TABLE requests (
  request_id TEXT NOT NULL PRIMARY KEY,
  hash TEXT NOT NULL,
  time_ns INTEGER NOT NULL,
  job TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX requests_by_time ON requests (time_ns);
CREATE INDEX requests_by_job ON requests (job);

CREATE TABLE traces (
  id TEXT NOT NULL PRIMARY KEY,
  job TEXT,
  workload TEXT NOT NULL,
  variant TEXT NOT NULL,
  device TEXT NOT NULL,
  host TEXT NOT NULL,
  create_time_ns INTEGER NOT NULL,
  size_bytes INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  row_count INTEGER NOT NULL,
  validity TEXT NOT NULL,
  verdict TEXT,
  partial INTEGER NOT NULL,
  labels TEXT NOT NULL
) STRICT;
CREATE INDEX traces_by_time ON traces (create_time_ns, id);
CREATE INDEX traces_by_workload ON traces (workload, create_time_ns, id);

CREATE TABLE trace_labels (
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  create_time_ns INTEGER NOT NULL,
  trace TEXT NOT NULL REFERENCES traces (id) ON DELETE CASCADE,
  workload TEXT NOT NULL,
  PRIMARY KEY (key, value, create_time_ns, trace)
) STRICT, WITHOUT ROWID;
CREATE INDEX trace_labels_by_trace ON trace_labels (trace);

-- Apart from traces: lists of traces need not skip over them.
CREATE TABLE answers (
  trace TEXT NOT NULL PRIMARY KEY REFERENCES traces (id) ON DELETE CASCADE,
  answer BLOB NOT NULL
) STRICT;

-- One row, rewritten to find out whether the database can be written.
CREATE TABLE probe (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  count INTEGER NOT NULL
) STRICT;
INSERT INTO probe (id, count) VALUES (1, 0);
)sql";

// The request ids of imports; those of jobs are in `requests`.
constexpr char kImports[] = R"sql(
CREATE TABLE imports (
  request_id TEXT NOT NULL PRIMARY KEY,
  hash TEXT NOT NULL,
  time_ns INTEGER NOT NULL,
  trace TEXT NOT NULL REFERENCES traces (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX imports_by_time ON imports (time_ns);
CREATE INDEX imports_by_trace ON imports (trace);
)sql";

// What devices were measured to do at most. `device` names the GPU and what it
// was measured with.
constexpr char kRoofs[] = R"sql(
CREATE TABLE roofs (
  device TEXT PRIMARY KEY,
  roofs TEXT NOT NULL,
  time_ns INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
)sql";

absl::StatusOr<int> VersionOf(Sqlite& database) {
  int64_t version = 0;
  const auto body = [&](SqlTransaction& sql) {
    return sql.Query("PRAGMA user_version", {}, [&](const SqlRow& row) {
      version = row.Int(0);
      return true;
    });
  };
  RETURN_IF_ERROR(database.Read(body));
  if (version < 0) {
    return ErrorBuilder(absl::StatusCode::kDataLoss, Reason::kStoreDamaged)
        .Build(absl::StrCat("The database has the schema ", version,
                            ", which no traza wrote."));
  }
  return static_cast<int>(version);
}

absl::Status QuickCheck(Sqlite& database) {
  std::string verdict;
  const auto body = [&](SqlTransaction& sql) {
    return sql.Query("PRAGMA quick_check(1)", {}, [&](const SqlRow& row) {
      verdict = row.Text(0);
      return true;
    });
  };
  RETURN_IF_ERROR(database.Read(body));
  if (verdict == "ok") return absl::OkStatus();
  return ErrorBuilder(absl::StatusCode::kDataLoss, Reason::kStoreDamaged)
      .Build(absl::StrCat("The database is damaged: ", verdict));
}

absl::Status TooNew(int version) {
  const int known = static_cast<int>(Migrations().size());
  return ErrorBuilder(absl::StatusCode::kFailedPrecondition,
                      Reason::kStoreTooNew)
      .With("schema", version)
      .With("newest_known", known)
      .Build(absl::StrCat("The database has schema ", version,
                          "; this trazad knows schemas up to ", known, "."));
}

}  // namespace

const std::vector<std::string>& Migrations() {
  static const std::vector<std::string>& steps =
      *new std::vector<std::string>{kJobsAndTraces, kImports, kRoofs};
  return steps;
}

absl::Status MigrateTo(Sqlite& database, int version) {
  ASSIGN_OR_RETURN(int have, VersionOf(database));
  while (have < version) {
    const std::string& step = Migrations()[have];
    ++have;
    const auto body = [&](SqlTransaction& sql) -> absl::Status {
      RETURN_IF_ERROR(sql.RunScript(step));
      return sql.RunScript(absl::StrCat("PRAGMA user_version=", have));
    };
    RETURN_IF_ERROR(database.Write(body));
  }
  return absl::OkStatus();
}

absl::Status Migrate(Sqlite& database) {
  ASSIGN_OR_RETURN(const int have, VersionOf(database));
  const int newest = static_cast<int>(Migrations().size());
  if (have > newest) return TooNew(have);
  RETURN_IF_ERROR(QuickCheck(database));
  return MigrateTo(database, newest);
}

}  // namespace traza
