// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_CLI_SWEEP_TABLE_H_
#define CLIENT_CLI_SWEEP_TABLE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"

#include "client/cli/sweep.h"
#include "traza/v1/job.pb.h"
#include "traza/v1/trace.pb.h"
#include "traza/v1/trace_service.pb.h"

namespace traza {

// What came of one job of a sweep.
struct SweepResult {
  absl::Status status;         // why there is no job, or no answer
  std::optional<v1::Job> job;  // as it ended
  std::optional<v1::Answer> answer;
  std::optional<v1::CheckTraceResponse> checks;

  bool succeeded() const {
    return status.ok() && answer.has_value() &&
           (!checks.has_value() || checks->passed());
  }
};

// Why a result has no numbers, in a line: the faults of the request, or what
// the job failed of.
std::string SweepFault(const SweepResult& result);

// A line for each point: its values, median time of a step, how busy the device
// is, kernels a step, attained FLOP/s and bytes/s where they are known, the
// verdict, and what came of the checks where there are any. What is not known
// is "-".
std::string RenderSweep(const std::vector<SweepPoint>& points,
                        const std::vector<SweepResult>& results, int width);

// {"sweep": [...]}; a member that does not apply is null.
std::string SweepJson(const std::vector<SweepPoint>& points,
                      const std::vector<SweepResult>& results);

}  // namespace traza

#endif  // CLIENT_CLI_SWEEP_TABLE_H_
