// SPDX-License-Identifier: Apache-2.0
#include "server/store/job_rows.h"

#include <utility>

#include "absl/strings/str_cat.h"

#include "base/error.h"
#include "base/status_macros.h"
#include "server/store/job_json.h"

namespace traza {
namespace {

constexpr absl::string_view kColumns =
    "t.id, t.state, t.create_time_ns, t.body";

StoredJob FromRow(const SqlRow& row) {
  return {row.Text(0), row.Text(1), row.Int(2), row.Text(3)};
}

absl::Status NotFound(const JobId& id) {
  return ErrorBuilder(absl::StatusCode::kNotFound, Reason::kJobNotFound)
      .With("job", id.value)
      .Build(absl::StrCat("There is no job ", id.value, "."));
}

}  // namespace

absl::StatusOr<Job> ParseJob(const StoredJob& row) {
  const std::optional<JobState> state = JobStateFromName(row.state);
  if (!state.has_value()) {
    return ErrorBuilder(absl::StatusCode::kDataLoss, Reason::kStoreDamaged)
        .With("job", row.id)
        .Build(absl::StrCat("Job ", row.id, " has the unknown state ",
                            row.state, "."));
  }
  absl::StatusOr<Job> job = JobFromBody(row.body);
  if (!job.ok()) return Annotate(job.status(), absl::StrCat("Job ", row.id));
  job->id = JobId{row.id};
  job->state = *state;
  job->create_time = absl::FromUnixNanos(row.create_time_ns);
  return job;
}

absl::StatusOr<std::vector<Job>> ParseJobs(const std::vector<StoredJob>& rows) {
  std::vector<Job> jobs;
  jobs.reserve(rows.size());
  for (const StoredJob& row : rows) {
    ASSIGN_OR_RETURN(Job job, ParseJob(row));
    jobs.push_back(std::move(job));
  }
  return jobs;
}

ListTable JobsTable() { return {"jobs", "job_labels", "job", kColumns}; }

absl::StatusOr<std::vector<StoredJob>> ReadJobs(SqlTransaction& sql,
                                                const ListQuery& query) {
  std::vector<StoredJob> rows;
  RETURN_IF_ERROR(sql.Query(query.sql, query.values, [&](const SqlRow& row) {
    rows.push_back(FromRow(row));
    return true;
  }));
  return rows;
}

absl::StatusOr<StoredJob> ReadJob(SqlTransaction& sql, const JobId& id) {
  ASSIGN_OR_RETURN(std::vector<StoredJob> rows,
                   ReadJobs(sql, {absl::StrCat("SELECT ", kColumns,
                                               " FROM jobs t WHERE t.id=?"),
                                  {id.value}}));
  if (rows.empty()) return NotFound(id);
  return std::move(rows.front());
}

absl::StatusOr<std::vector<StoredJob>> ReadJobsInState(SqlTransaction& sql,
                                                       JobState state) {
  return ReadJobs(
      sql, {absl::StrCat("SELECT ", kColumns,
                         " FROM jobs t INDEXED BY jobs_by_state"
                         " WHERE t.state=? ORDER BY t.create_time_ns, t.id"),
            {JobStateName(state)}});
}

absl::Status InsertJob(SqlTransaction& sql, const Job& job) {
  if (ReadJob(sql, job.id).ok()) {
    return ErrorBuilder(absl::StatusCode::kAlreadyExists, Reason::kJobIdTaken)
        .With("job", job.id.value)
        .Build(absl::StrCat("A job ", job.id.value, " exists."));
  }
  const int64_t created = absl::ToUnixNanos(job.create_time);
  const absl::string_view state = JobStateName(job.state);
  RETURN_IF_ERROR(
      sql.Run("INSERT INTO jobs (id, state, workload, device, create_time_ns,"
              " body) VALUES (?,?,?,?,?,?)",
              {job.id.value, state, job.spec.workload, job.spec.device, created,
               JobBody(job)})
          .status());
  for (const auto& [key, value] : job.spec.labels) {
    RETURN_IF_ERROR(
        sql.Run("INSERT INTO job_labels (key, value, create_time_ns, job,"
                " state, workload) VALUES (?,?,?,?,?,?)",
                {key, value, created, job.id.value, state, job.spec.workload})
            .status());
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> MoveJob(SqlTransaction& sql, const Job& job,
                             const std::vector<JobState>& from) {
  const absl::string_view state = JobStateName(job.state);
  std::vector<SqlValue> values = {state, JobBody(job), job.id.value};
  std::string marks;
  for (const JobState before : from) {
    values.emplace_back(JobStateName(before));
    absl::StrAppend(&marks, marks.empty() ? "?" : ",?");
  }
  ASSIGN_OR_RETURN(
      const int64_t changed,
      sql.Run(absl::StrCat("UPDATE jobs SET state=?, body=? WHERE id=? AND"
                           " state IN (",
                           marks, ")"),
              values));
  if (changed == 0) return false;
  if (!job.spec.labels.empty()) {
    RETURN_IF_ERROR(sql.Run("UPDATE job_labels SET state=? WHERE job=?",
                            {state, job.id.value})
                        .status());
  }
  return true;
}

absl::Status DeleteJobRow(SqlTransaction& sql, const JobId& id) {
  ASSIGN_OR_RETURN(const StoredJob row, ReadJob(sql, id));
  const std::optional<JobState> state = JobStateFromName(row.state);
  // A row that nobody can read may be deleted.
  if (state.has_value() && !IsFinal(*state)) {
    return ErrorBuilder(absl::StatusCode::kFailedPrecondition,
                        Reason::kJobNotDone)
        .With("job", id.value)
        .With("state", row.state)
        .Build(absl::StrCat("Job ", id.value, " is ", row.state, "."));
  }
  return sql.Run("DELETE FROM jobs WHERE id=?", {id.value}).status();
}

absl::StatusOr<std::optional<StoredRequest>> ReadRequest(
    SqlTransaction& sql, absl::string_view request_id, int64_t oldest_ns) {
  std::optional<StoredRequest> found;
  RETURN_IF_ERROR(sql.Query(
      "SELECT hash, job FROM requests WHERE request_id=? AND time_ns>=?",
      {request_id, oldest_ns}, [&](const SqlRow& row) {
        found = StoredRequest{row.Text(0), JobId{row.Text(1)}};
        return true;
      }));
  return found;
}

absl::Status InsertRequest(SqlTransaction& sql, const Job& job,
                           absl::string_view hash) {
  return sql
      .Run(
          "INSERT INTO requests (request_id, hash, time_ns, job)"
          " VALUES (?,?,?,?)",
          {job.request_id, hash, absl::ToUnixNanos(job.create_time),
           job.id.value})
      .status();
}

absl::Status DeleteRequestsBefore(SqlTransaction& sql, int64_t oldest_ns) {
  return sql.Run("DELETE FROM requests WHERE time_ns<?", {oldest_ns}).status();
}

}  // namespace traza
