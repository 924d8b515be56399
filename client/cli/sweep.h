// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_CLI_SWEEP_H_
#define CLIENT_CLI_SWEEP_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

#include "client/cli/command_context.h"
#include "client/cli/exit_code.h"
#include "traza/v1/job_service.pb.h"

namespace traza {

inline constexpr size_t kMaxSweepJobs = 64;  // chosen: a table one can read

// One job of a sweep.
struct SweepPoint {
  // What this one has: ("size", "64"), in the order of the command line.
  std::vector<std::pair<std::string, std::string>> values;
  v1::CreateJobRequest request;
};

// The jobs of `sweeps`, each "KEY=A,B,..." with a parameter or `variant`: one
// for each value, and for several keys one for each combination, the last key
// running fastest. INVALID_ARGUMENT for what is no such list, a value or key
// that comes twice, a key that the request has a value for, and too many jobs.
absl::StatusOr<std::vector<SweepPoint>> SweepPoints(
    const v1::CreateJobRequest& request,
    const std::vector<std::string>& sweeps);

// Creates all of the jobs, waits for one after the other, and prints one line
// for each; with --json {"sweep": [{"values", "job", "answer", "checks",
// "error"}...]}. A job that is refused or fails does not keep the others from
// running. Returns kOk when all succeeded and passed what is expected of each;
// else the code of the first that was refused, or kFailed.
absl::StatusOr<ExitCode> RunSweep(const std::vector<SweepPoint>& points,
                                  const std::vector<std::string>& expectations,
                                  CommandContext& context);

}  // namespace traza

#endif  // CLIENT_CLI_SWEEP_H_
