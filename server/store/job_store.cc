// SPDX-License-Identifier: Apache-2.0
#include "server/store/job_store.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

#include "base/error.h"
#include "base/status_macros.h"
#include "server/store/job_rows.h"
#include "server/store/list_query.h"
#include "server/store/schema.h"
#include "server/store/trace_rows.h"

namespace traza {
namespace {

int64_t OldestRequestNs(absl::Time now) {
  return absl::ToUnixNanos(now - kRequestIdLife);
}

absl::Status RequestIdReused(absl::string_view request_id, const JobId& job) {
  return ErrorBuilder(absl::StatusCode::kAlreadyExists,
                      Reason::kRequestIdReused)
      .With("request_id", request_id)
      .With("job", job.value)
      .Build(absl::StrCat("The request id ", std::string(request_id),
                          " made the job ", job.value,
                          " from another request."));
}

// Cuts the extra row of PlanList() off and says where the next page begins.
template <typename T>
Page<T> CutPage(std::vector<T> items, int page_size) {
  Page<T> page;
  if (items.size() > static_cast<size_t>(page_size)) {
    items.resize(static_cast<size_t>(page_size));
    page.next = PageEnd{items.back().create_time, items.back().id.value};
  }
  page.items = std::move(items);
  return page;
}

void FailOrCancel(Job& job, absl::Time now) {
  const bool cancelling = job.state == JobState::kCancelling;
  job.state = cancelling ? JobState::kCancelled : JobState::kFailed;
  job.end_time = now;
  JobError error;
  error.reason = cancelling ? Reason::kCancelled : Reason::kDaemonRestarted;
  error.message = cancelling
                      ? "The job was cancelled; the daemon ended meanwhile."
                      : "The daemon ended while the job ran.";
  job.error = std::move(error);
}

}  // namespace

JobStore::JobStore(std::unique_ptr<Sqlite> writer,
                   std::unique_ptr<Sqlite> reader)
    : writer_(std::move(writer)), reader_(std::move(reader)) {}

JobStore::~JobStore() = default;

absl::StatusOr<std::unique_ptr<JobStore>> JobStore::Open(
    const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(std::unique_ptr<Sqlite> writer,
                   Sqlite::Open(path, Sqlite::Access::kReadWrite));
  RETURN_IF_ERROR(Migrate(*writer));
  ASSIGN_OR_RETURN(std::unique_ptr<Sqlite> reader,
                   Sqlite::Open(path, Sqlite::Access::kReadOnly));
  std::unique_ptr<JobStore> store(
      new JobStore(std::move(writer), std::move(reader)));
  RETURN_IF_ERROR(store->CheckWritable());
  RETURN_IF_ERROR(store->LoadTotals());
  return store;
}

absl::StatusOr<JobStore::Inserted> JobStore::Insert(
    const Job& job, const std::string& request_hash) {
  const int64_t oldest = OldestRequestNs(job.create_time);
  std::optional<StoredJob> earlier;
  const auto body = [&](SqlTransaction& sql) -> absl::Status {
    if (job.request_id.empty()) return InsertJob(sql, job);
    ASSIGN_OR_RETURN(const std::optional<StoredRequest> used,
                     ReadRequest(sql, job.request_id, oldest));
    if (used.has_value()) {
      if (used->hash != request_hash) {
        return RequestIdReused(job.request_id, used->job);
      }
      ASSIGN_OR_RETURN(earlier, ReadJob(sql, used->job));
      return absl::OkStatus();
    }
    RETURN_IF_ERROR(DeleteRequestsBefore(sql, oldest));
    RETURN_IF_ERROR(InsertJob(sql, job));
    return InsertRequest(sql, job, request_hash);
  };
  RETURN_IF_ERROR(writer_->Write(body));
  if (!earlier.has_value()) return Inserted{true, job};
  ASSIGN_OR_RETURN(Job found, ParseJob(*earlier));
  return Inserted{false, std::move(found)};
}

absl::StatusOr<std::optional<Job>> JobStore::FindRequest(
    const std::string& request_id, const std::string& request_hash,
    absl::Time now) {
  std::optional<StoredJob> earlier;
  const auto body = [&](SqlTransaction& sql) -> absl::Status {
    ASSIGN_OR_RETURN(const std::optional<StoredRequest> used,
                     ReadRequest(sql, request_id, OldestRequestNs(now)));
    if (!used.has_value()) return absl::OkStatus();
    if (used->hash != request_hash) {
      return RequestIdReused(request_id, used->job);
    }
    ASSIGN_OR_RETURN(earlier, ReadJob(sql, used->job));
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(reader_->Read(body));
  if (!earlier.has_value()) return std::optional<Job>();
  ASSIGN_OR_RETURN(Job found, ParseJob(*earlier));
  return std::optional<Job>(std::move(found));
}

absl::StatusOr<Job> JobStore::Get(const JobId& id) {
  StoredJob row;
  const auto body = [&](SqlTransaction& sql) -> absl::Status {
    ASSIGN_OR_RETURN(row, ReadJob(sql, id));
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(reader_->Read(body));
  return ParseJob(row);
}

absl::StatusOr<Page<Job>> JobStore::List(const ListFilter& filter,
                                         int page_size,
                                         const std::optional<PageEnd>& after) {
  page_size = std::max(page_size, 1);
  std::vector<StoredJob> rows;
  const auto body = [&](SqlTransaction& sql) -> absl::Status {
    ASSIGN_OR_RETURN(const ListQuery query,
                     PlanList(sql, JobsTable(), filter, page_size, after));
    ASSIGN_OR_RETURN(rows, ReadJobs(sql, query));
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(reader_->Read(body));
  ASSIGN_OR_RETURN(std::vector<Job> jobs, ParseJobs(rows));
  return CutPage(std::move(jobs), page_size);
}

absl::StatusOr<std::vector<Job>> JobStore::Pending() {
  std::vector<StoredJob> rows;
  const auto body = [&](SqlTransaction& sql) -> absl::Status {
    ASSIGN_OR_RETURN(rows, ReadJobsInState(sql, JobState::kPending));
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(reader_->Read(body));
  return ParseJobs(rows);
}

absl::StatusOr<int64_t> JobStore::CountPending(const std::string& device) {
  int64_t count = 0;
  const auto body = [&](SqlTransaction& sql) {
    return sql.Query(
        "SELECT count(*) FROM jobs INDEXED BY jobs_by_state"
        " WHERE state='PENDING' AND device=?",
        {device}, [&](const SqlRow& row) {
          count = row.Int(0);
          return true;
        });
  };
  RETURN_IF_ERROR(reader_->Read(body));
  return count;
}

absl::StatusOr<TransitionResult> JobStore::Transition(
    const Job& job, const std::vector<JobState>& from) {
  return Move(job, from, nullptr, "");
}

absl::StatusOr<TransitionResult> JobStore::Finish(
    const Job& job, const std::vector<JobState>& from, const TraceRow& trace,
    const std::string& answer) {
  return Move(job, from, &trace, answer);
}

absl::StatusOr<TransitionResult> JobStore::Move(
    const Job& job, const std::vector<JobState>& from,
    const TraceRow* trace_or_null, absl::string_view answer) {
  bool moved = false;
  StoredJob now;
  const auto body = [&](SqlTransaction& sql) -> absl::Status {
    ASSIGN_OR_RETURN(moved, MoveJob(sql, job, from));
    if (!moved) {
      ASSIGN_OR_RETURN(now, ReadJob(sql, job.id));
      return absl::OkStatus();
    }
    if (trace_or_null == nullptr) return absl::OkStatus();
    return InsertTrace(sql, *trace_or_null, answer);
  };
  RETURN_IF_ERROR(writer_->Write(body));
  if (moved) {
    if (trace_or_null != nullptr) AddToTotals(1, trace_or_null->size_bytes);
    TransitionResult result{true, job};
    result.job.progress.reset();
    return result;
  }
  ASSIGN_OR_RETURN(Job current, ParseJob(now));
  return TransitionResult{false, std::move(current)};
}

absl::Status JobStore::DeleteJob(const JobId& id) {
  return writer_->Write(
      [&](SqlTransaction& sql) { return DeleteJobRow(sql, id); });
}

absl::StatusOr<std::vector<Job>> JobStore::FailInterrupted(absl::Time now) {
  std::vector<Job> jobs;
  const auto body = [&](SqlTransaction& sql) -> absl::Status {
    for (const JobState state : {JobState::kRunning, JobState::kCancelling}) {
      ASSIGN_OR_RETURN(const std::vector<StoredJob> rows,
                       ReadJobsInState(sql, state));
      ASSIGN_OR_RETURN(std::vector<Job> interrupted, ParseJobs(rows));
      for (Job& job : interrupted) {
        FailOrCancel(job, now);
        RETURN_IF_ERROR(MoveJob(sql, job, {state}).status());
        jobs.push_back(std::move(job));
      }
    }
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(writer_->Write(body));
  return jobs;
}

absl::StatusOr<TraceRow> JobStore::GetTrace(const TraceId& id) {
  TraceRow trace;
  const auto body = [&](SqlTransaction& sql) -> absl::Status {
    ASSIGN_OR_RETURN(trace, ReadTrace(sql, id));
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(reader_->Read(body));
  return trace;
}

absl::StatusOr<std::string> JobStore::GetAnswer(const TraceId& id) {
  std::string answer;
  const auto body = [&](SqlTransaction& sql) -> absl::Status {
    ASSIGN_OR_RETURN(answer, ReadAnswer(sql, id));
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(reader_->Read(body));
  return answer;
}

absl::StatusOr<Page<TraceRow>> JobStore::ListTraces(
    const ListFilter& filter, int page_size,
    const std::optional<PageEnd>& after) {
  page_size = std::max(page_size, 1);
  ListFilter of_traces = filter;
  of_traces.state.reset();
  std::vector<TraceRow> traces;
  const auto body = [&](SqlTransaction& sql) -> absl::Status {
    ASSIGN_OR_RETURN(const ListQuery query,
                     PlanList(sql, TracesTable(), of_traces, page_size, after));
    ASSIGN_OR_RETURN(traces, ReadTraces(sql, query));
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(reader_->Read(body));
  return CutPage(std::move(traces), page_size);
}

absl::Status JobStore::DeleteTrace(const TraceId& id) {
  int64_t bytes = 0;
  const auto body = [&](SqlTransaction& sql) -> absl::Status {
    ASSIGN_OR_RETURN(const TraceRow trace, ReadTrace(sql, id));
    bytes = trace.size_bytes;
    return DeleteTraceRow(sql, id);
  };
  RETURN_IF_ERROR(writer_->Write(body));
  AddToTotals(-1, -bytes);
  return absl::OkStatus();
}

absl::StatusOr<JobStore::TraceTotals> JobStore::SumTraces() const {
  const MutexLock lock(mu_);
  return totals_;
}

void JobStore::AddToTotals(int64_t traces, int64_t bytes) {
  const MutexLock lock(mu_);
  totals_.count += traces;
  totals_.bytes += bytes;
}

absl::Status JobStore::LoadTotals() {
  TraceTotals totals;
  const auto body = [&](SqlTransaction& sql) {
    return sql.Query(
        "SELECT count(*), coalesce(sum(size_bytes), 0) FROM traces", {},
        [&](const SqlRow& row) {
          totals = {row.Int(0), row.Int(1)};
          return true;
        });
  };
  RETURN_IF_ERROR(reader_->Read(body));
  const MutexLock lock(mu_);
  totals_ = totals;
  return absl::OkStatus();
}

absl::Status JobStore::CheckWritable() {
  return writer_->Write([](SqlTransaction& sql) {
    return sql.Run("UPDATE probe SET count=count+1").status();
  });
}

}  // namespace traza
