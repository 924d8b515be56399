// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_JOBS_TAKEN_TRACE_H_
#define SERVER_JOBS_TAKEN_TRACE_H_

#include <string>

#include "server/metrics/metrics.h"
#include "server/store/trace_row.h"

namespace traza {

// A trace whose file is in the store and whose row is not yet: what the
// TraceIntake makes and JobManager::Finish() records. A plain value.
struct TakenTrace {
  TraceRow row;
  std::string answer;
  TraceCounts counts;
};

}  // namespace traza

#endif  // SERVER_JOBS_TAKEN_TRACE_H_
