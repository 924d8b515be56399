// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_JOBS_TRACE_INTAKE_H_
#define SERVER_JOBS_TRACE_INTAKE_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "server/jobs/taken_trace.h"
#include "server/store/trace_store.h"
#include "spec/job.h"
#include "spec/worker_message.h"
#include "trace/analysis/answer.h"

namespace traza {

struct TraceIntakeOptions {
  int64_t max_trace_bytes = int64_t{1} << 30;
  // Encodes the answer that is stored beside the trace.
  std::function<std::string(const Answer&)> encode_answer;
};

// Turns the file that a worker left into a stored trace: reads and checks it,
// answers the questions once, commits it. The file is hostile input.
//
// Thread-safe. `traces` must outlive it.
class TraceIntake {
 public:
  TraceIntake(const TraceIntakeOptions& options, TraceStore& traces);

  // TRACE_INCOMPLETE when the file is missing, damaged or not what the worker
  // said, TRACE_EMPTY, TRACE_TOO_LARGE, TRACE_UNREADABLE, STORE_FULL,
  // STORE_UNWRITABLE. The file is gone from tmp/ afterwards in every case.
  absl::StatusOr<TakenTrace> Take(const Job& job, const WorkerResult& result,
                                  absl::Time now);

  // Takes a file back out of the store: its row could not be written.
  void Undo(const TakenTrace& trace);
  // Where the worker of `job` writes.
  std::filesystem::path PathFor(const JobId& job) const;
  void RemoveTemporary(const JobId& job);

 private:
  absl::StatusOr<TakenTrace> Check(const Job& job, const WorkerResult& result);

  const TraceIntakeOptions options_;
  TraceStore& traces_;
};

}  // namespace traza

#endif  // SERVER_JOBS_TRACE_INTAKE_H_
