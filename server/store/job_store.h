// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_STORE_JOB_STORE_H_
#define SERVER_STORE_JOB_STORE_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/store/sqlite.h"
#include "spec/job.h"

namespace traza {

// One stored trace. The file is at TraceStore::PathOf(id, create_time).
struct TraceRow {
  TraceId id;
  std::optional<JobId> job;  // absent for imports
  std::string workload, variant, device, host;
  absl::Time create_time;
  int64_t size_bytes = 0;
  std::string sha256;  // 64 hex digits
  int64_t rows = 0;
  std::string validity;  // "VALID", ...
  std::optional<std::string> verdict;
  bool partial = false;
  std::map<std::string, std::string> labels;

  friend bool operator==(const TraceRow&, const TraceRow&) = default;
};

// AND of what is set.
struct ListFilter {
  std::optional<JobState> state;  // jobs only
  std::optional<std::string> workload;
  std::map<std::string, std::string> labels;

  friend bool operator==(const ListFilter&, const ListFilter&) = default;
};

// Where a page of a list ends: the next one holds what is older. Lists are
// newest first; equal times are ordered by id.
struct PageEnd {
  absl::Time create_time;
  std::string id;
};

template <typename T>
struct Page {
  std::vector<T> items;
  std::optional<PageEnd> next;  // absent on the last page
};

struct TransitionResult {
  bool moved = false;  // false: the job was in another state by then
  Job job;             // as it is now
};

// Jobs and traces in SQLite: the truth. Memory elsewhere is an index of it.
//
// Every change of state is a compare-and-set in SQL; whoever loses sees
// `moved` false and the job as it is. Thread-safe; every call does I/O.
class JobStore {
 public:
  // Opens or creates the database, migrates it to the newest schema. Fails
  // with STORE_TOO_NEW, STORE_DAMAGED, STORE_UNWRITABLE, STORE_FULL.
  static absl::StatusOr<std::unique_ptr<JobStore>> Open(
      const std::filesystem::path& path);
  ~JobStore();

  struct Inserted {
    bool created = false;  // false: the request id was used before with this body
    Job job;
  };
  // Stores a new PENDING job. `request_hash` identifies the body: the same
  // request id with another hash within 24 h is ALREADY_EXISTS /
  // REQUEST_ID_REUSED; a job id in use is ALREADY_EXISTS / JOB_ID_TAKEN.
  absl::StatusOr<Inserted> Insert(const Job& job,
                                  const std::string& request_hash);

  absl::StatusOr<Job> Get(const JobId& id);  // NOT_FOUND / JOB_NOT_FOUND
  absl::StatusOr<Page<Job>> List(const ListFilter& filter, int page_size,
                                 const std::optional<PageEnd>& after);
  // PENDING jobs, oldest first: the queue after a restart.
  absl::StatusOr<std::vector<Job>> Pending();
  absl::StatusOr<int64_t> CountPending(const std::string& device);

  // Moves a job to `job.state` and stores its other fields, if its stored
  // state is still one of `from`.
  absl::StatusOr<TransitionResult> Transition(const Job& job,
                                              const std::vector<JobState>& from);

  // The same, and the trace with its answer, in one transaction.
  absl::StatusOr<TransitionResult> Finish(const Job& job,
                                          const std::vector<JobState>& from,
                                          const TraceRow& trace,
                                          const std::string& answer);

  // Deletes a job in a final state; FAILED_PRECONDITION / JOB_NOT_DONE
  // otherwise. Its trace stays.
  absl::Status DeleteJob(const JobId& id);

  // RUNNING and CANCELLING become FAILED / DAEMON_RESTARTED (CANCELLING becomes
  // CANCELLED); returns them.
  absl::StatusOr<std::vector<Job>> FailInterrupted(absl::Time now);

  absl::StatusOr<TraceRow> GetTrace(const TraceId& id);  // TRACE_NOT_FOUND
  absl::StatusOr<std::string> GetAnswer(const TraceId& id);
  absl::StatusOr<Page<TraceRow>> ListTraces(const ListFilter& filter,
                                            int page_size,
                                            const std::optional<PageEnd>& after);
  absl::Status DeleteTrace(const TraceId& id);
  struct TraceTotals {
    int64_t count = 0;
    int64_t bytes = 0;
  };
  absl::StatusOr<TraceTotals> SumTraces();

  // OK when the database can be written now; for the health check.
  absl::Status CheckWritable();

 private:
  JobStore(std::unique_ptr<Sqlite> writer, std::unique_ptr<Sqlite> reader);

  std::unique_ptr<Sqlite> writer_;
  std::unique_ptr<Sqlite> reader_;
};

}  // namespace traza

#endif  // SERVER_STORE_JOB_STORE_H_
