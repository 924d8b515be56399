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

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "base/mutex.h"
#include "server/store/list_filter.h"
#include "server/store/sqlite.h"
#include "server/store/trace_row.h"
#include "spec/job.h"
#include "spec/worker_description.h"

namespace traza {

struct TransitionResult {
  bool moved = false;  // false: the job was in another state by then
  Job job;             // as it is now
};

// How long a request id is remembered; said in the API.
inline constexpr absl::Duration kRequestIdLife = absl::Hours(24);

// Jobs, traces and the roofs of devices in SQLite: the truth. Memory elsewhere
// is an index of it.
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
    bool created =
        false;  // false: the request id was used before with this body
    Job job;
  };
  // Stores a new PENDING job. `request_hash` identifies the body: the same
  // request id with another hash within 24 h is ALREADY_EXISTS /
  // REQUEST_ID_REUSED; a job id in use is ALREADY_EXISTS / JOB_ID_TAKEN.
  absl::StatusOr<Inserted> Insert(const Job& job,
                                  const std::string& request_hash);

  // The job that Insert() would give back for this request id at `now`, if
  // there is one; REQUEST_ID_REUSED as there.
  absl::StatusOr<std::optional<Job>> FindRequest(
      const std::string& request_id, const std::string& request_hash,
      absl::Time now);

  absl::StatusOr<Job> Get(const JobId& id);  // NOT_FOUND / JOB_NOT_FOUND
  absl::StatusOr<Page<Job>> List(const ListFilter& filter, int page_size,
                                 const std::optional<PageEnd>& after);
  // PENDING jobs, oldest first: the queue after a restart.
  absl::StatusOr<std::vector<Job>> Pending();
  absl::StatusOr<int64_t> CountPending(const std::string& device);

  // Moves a job to `job.state` and stores its other fields, if its stored
  // state is still one of `from`.
  absl::StatusOr<TransitionResult> Transition(
      const Job& job, const std::vector<JobState>& from);

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

  // An import that a client may repeat; `hash` identifies what is imported.
  struct ImportRequest {
    std::string request_id;  // empty: cannot be repeated
    std::string hash;
  };
  struct Imported {
    bool created = false;  // false: the request id was used before
    TraceRow trace;
  };
  // Stores a trace of no job. The same request id within 24 h gives back the
  // trace it made; with another hash it is ALREADY_EXISTS / REQUEST_ID_REUSED.
  absl::StatusOr<Imported> AddImport(const TraceRow& trace,
                                     const std::string& answer,
                                     const ImportRequest& request);

  absl::StatusOr<TraceRow> GetTrace(const TraceId& id);  // TRACE_NOT_FOUND
  absl::StatusOr<std::string> GetAnswer(const TraceId& id);
  absl::StatusOr<Page<TraceRow>> ListTraces(
      const ListFilter& filter, int page_size,
      const std::optional<PageEnd>& after);
  absl::Status DeleteTrace(const TraceId& id);
  struct TraceTotals {
    int64_t count = 0;
    int64_t bytes = 0;
  };
  // Kept up to date in memory: no I/O.
  absl::StatusOr<TraceTotals> SumTraces() const ABSL_LOCKS_EXCLUDED(mu_);

  // What a device was measured to do at most. `device` is any key that changes
  // when it has to be measured again.
  absl::StatusOr<std::optional<DeviceRoofs>> FindRoofs(
      const std::string& device);
  absl::Status PutRoofs(const std::string& device, const DeviceRoofs& roofs,
                        absl::Time now);

  // OK when the database can be written now; for the health check.
  absl::Status CheckWritable();

 private:
  JobStore(std::unique_ptr<Sqlite> writer, std::unique_ptr<Sqlite> reader);

  absl::StatusOr<TransitionResult> Move(const Job& job,
                                        const std::vector<JobState>& from,
                                        const TraceRow* trace_or_null,
                                        absl::string_view answer);

  absl::Status LoadTotals() ABSL_LOCKS_EXCLUDED(mu_);
  void AddToTotals(int64_t traces, int64_t bytes) ABSL_LOCKS_EXCLUDED(mu_);

  std::unique_ptr<Sqlite> writer_;
  std::unique_ptr<Sqlite> reader_;
  mutable Mutex mu_;
  TraceTotals totals_ ABSL_GUARDED_BY(mu_);
};

}  // namespace traza

#endif  // SERVER_STORE_JOB_STORE_H_
