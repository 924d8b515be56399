// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_DIFF_UNLIKE_H_
#define TRACE_ANALYSIS_DIFF_UNLIKE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

#include "trace/trace.h"

namespace traza {

// Something in which two runs differ, and the value of each.
struct RunDifference {
  std::string
      what;  // "device model", "version of torch", "parameter size", ...
  std::string before, after;
};

// How two runs compare, their variant aside.
struct RunComparison {
  // What makes a diff of them one of something else than the code: kind, model
  // and driver of the device, torch and CUDA, workload and its parameters (the
  // data type is one), depth, what kinds of records are there, threads of a CPU
  // job; and a trace that is cut short or INVALID.
  std::vector<RunDifference> unlike;
  // What only one of them says, such as an import: neither like nor unlike.
  std::vector<std::string> unknown;
  // Sentences: what makes the numbers doubtful all the same.
  std::vector<std::string> doubts;
};

// Both traces must be valid.
RunComparison CompareRuns(const Trace& before, const Trace& after);

// "device model: A before, B after".
std::string DifferenceText(const RunDifference& difference);

// FAILED_PRECONDITION / RUNS_UNLIKE with each difference in the message and in
// the metadata.
absl::Status RunsUnlike(const std::vector<RunDifference>& differences);

}  // namespace traza

#endif  // TRACE_ANALYSIS_DIFF_UNLIKE_H_
