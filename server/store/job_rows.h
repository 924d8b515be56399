// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_STORE_JOB_ROWS_H_
#define SERVER_STORE_JOB_ROWS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "server/store/list_query.h"
#include "server/store/sqlite.h"
#include "spec/job.h"

namespace traza {

// The tables jobs, job_labels and requests, inside a transaction.

// A row as it is stored: cheap to read under a connection's mutex, parsed
// after it.
struct StoredJob {
  std::string id;
  std::string state;
  int64_t create_time_ns = 0;
  std::string body;
};

// STORE_DAMAGED when it is not what we wrote.
absl::StatusOr<Job> ParseJob(const StoredJob& row);
absl::StatusOr<std::vector<Job>> ParseJobs(const std::vector<StoredJob>& rows);

// The table for PlanList(); its columns are those that ReadJobs() expects.
ListTable JobsTable();
absl::StatusOr<std::vector<StoredJob>> ReadJobs(SqlTransaction& sql,
                                                const ListQuery& query);
// JOB_NOT_FOUND.
absl::StatusOr<StoredJob> ReadJob(SqlTransaction& sql, const JobId& id);
absl::StatusOr<std::vector<StoredJob>> ReadJobsInState(SqlTransaction& sql,
                                                       JobState state);

// JOB_ID_TAKEN.
absl::Status InsertJob(SqlTransaction& sql, const Job& job);
// Whether the job was in one of `from` and has been replaced by `job`.
absl::StatusOr<bool> MoveJob(SqlTransaction& sql, const Job& job,
                             const std::vector<JobState>& from);
// JOB_NOT_FOUND, JOB_NOT_DONE.
absl::Status DeleteJobRow(SqlTransaction& sql, const JobId& id);

// What a request id was used for.
struct StoredRequest {
  std::string hash;
  JobId job;
};
absl::StatusOr<std::optional<StoredRequest>> ReadRequest(
    SqlTransaction& sql, absl::string_view request_id, int64_t oldest_ns);
absl::Status InsertRequest(SqlTransaction& sql, const Job& job,
                           absl::string_view hash);
absl::Status DeleteRequestsBefore(SqlTransaction& sql, int64_t oldest_ns);

}  // namespace traza

#endif  // SERVER_STORE_JOB_ROWS_H_
