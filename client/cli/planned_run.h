// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_CLI_PLANNED_RUN_H_
#define CLIENT_CLI_PLANNED_RUN_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "client/cli/command_context.h"
#include "client/cli/expected_checks.h"
#include "client/cli/interruptible_job.h"
#include "client/client.h"
#include "client/term/progress_line.h"

namespace traza {

// A variant that runs so that another can be compared with it.
struct BaselineRun {
  std::string variant;  // as the expectations name it
  v1::CreateJobRequest request;
  v1::Job job;  // as it was created
};

// A job, and what is needed to judge it.
struct PlannedRun {
  v1::CreateJobRequest request;
  std::optional<ExpectedChecks> checks;
  std::vector<BaselineRun> baselines;  // they run first
  v1::Job job;                         // as it was created
};

// Plans the job with what is expected of it, without asking the daemon.
absl::StatusOr<PlannedRun> PlanRun(const v1::CreateJobRequest& request,
                                   const std::vector<std::string>& expectations,
                                   CommandContext& context);

// Creates a job for each variant that an expectation compares with, then the
// job itself; all of them, or none where the daemon refuses one of them: the
// error names a variant that cannot run.
absl::Status CreateJobs(PlannedRun* run, Client& client);

// Follows the baselines, then the job, and returns it as it ended. An error
// where a baseline does not succeed: there is nothing to compare with.
absl::StatusOr<v1::Job> FollowJobs(PlannedRun* run, Client& client,
                                   InterruptibleJob& interruptible,
                                   ProgressLine& progress);

// Cancels what has not ended, because nobody waits for it any more.
void CancelJobs(const PlannedRun& run, Client& client);

}  // namespace traza

#endif  // CLIENT_CLI_PLANNED_RUN_H_
