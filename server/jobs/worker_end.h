// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_JOBS_WORKER_END_H_
#define SERVER_JOBS_WORKER_END_H_

#include <cstdint>
#include <string>

#include "base/error.h"
#include "base/subprocess.h"
#include "server/metrics/metrics.h"
#include "spec/worker_message.h"

namespace traza {

// Why a worker left its job undone, in the words of the API and of the metrics.
struct WorkerEnd {
  Reason reason = Reason::kWorkerFailed;
  std::string message;
  WorkerExitReason exit = WorkerExitReason::kError;
};

// A worker that ended without a last message and that we did not end.
WorkerEnd EndOf(const ExitStatus& exit, int64_t max_trace_bytes);

// A worker that reported an error. It may name any reason; only those that a
// worker can know are believed.
WorkerEnd EndOf(const WorkerError& error);

}  // namespace traza

#endif  // SERVER_JOBS_WORKER_END_H_
