// SPDX-License-Identifier: Apache-2.0
#include "server/jobs/outcome.h"

namespace traza {

JobState FinalState(const std::optional<JobError>& error) {
  if (!error.has_value()) return JobState::kSucceeded;
  return error->reason == Reason::kCancelled ? JobState::kCancelled
                                             : JobState::kFailed;
}

}  // namespace traza
