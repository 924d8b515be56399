// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_JOBS_TRACE_INTAKE_H_
#define SERVER_JOBS_TRACE_INTAKE_H_

#include <cstdint>
#include <filesystem>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "server/jobs/taken_trace.h"
#include "server/jobs/trace_summary.h"
#include "server/store/trace_store.h"
#include "spec/job.h"
#include "spec/worker_message.h"

namespace traza {

struct TraceIntakeOptions {
  int64_t max_trace_bytes = int64_t{1} << 30;
  AnswerEncoder encode_answer;
};

// Turns the file that a worker left into a stored trace: reads and checks it,
// answers the questions once, then commits it. The file is hostile input.
//
// Thread-safe. `traces` must outlive it.
class TraceIntake {
 public:
  TraceIntake(const TraceIntakeOptions& options, TraceStore& traces);

  // A trace that was found good and is still in tmp/.
  struct ReadTrace {
    TakenTrace trace;
    uint64_t inode = 0;
    absl::Time modified;
  };

  // Reads what the worker of `job` left: TRACE_INCOMPLETE when the file is
  // missing, damaged or not what the worker said, TRACE_EMPTY,
  // TRACE_TOO_LARGE, TRACE_UNREADABLE. The worker may be dying meanwhile.
  absl::StatusOr<ReadTrace> Read(const Job& job, const WorkerResult& result);
  // Moves the file into the store, once its worker is gone. TRACE_INCOMPLETE
  // when it has changed since it was read; STORE_FULL, STORE_UNWRITABLE.
  absl::StatusOr<TakenTrace> Commit(const Job& job, ReadTrace read,
                                    absl::Time now);

  // Takes a file back out of the store: its row could not be written.
  void Undo(const TakenTrace& trace);
  // Where the worker of `job` writes. Whoever runs the job removes it in the
  // end: nothing is there after Commit().
  std::filesystem::path PathFor(const JobId& job) const;
  void RemoveTemporary(const JobId& job);

 private:
  const TraceIntakeOptions options_;
  TraceStore& traces_;
};

}  // namespace traza

#endif  // SERVER_JOBS_TRACE_INTAKE_H_
