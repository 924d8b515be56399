// SPDX-License-Identifier: Apache-2.0
#include "spec/job.h"

namespace traza {

absl::string_view JobStateName(JobState state) {
  switch (state) {
    case JobState::kPending:
      return "PENDING";
    case JobState::kRunning:
      return "RUNNING";
    case JobState::kCancelling:
      return "CANCELLING";
    case JobState::kSucceeded:
      return "SUCCEEDED";
    case JobState::kFailed:
      return "FAILED";
    case JobState::kCancelled:
      return "CANCELLED";
  }
  return "";
}

std::optional<JobState> JobStateFromName(absl::string_view name) {
  for (const JobState state : kAllJobStates) {
    if (JobStateName(state) == name) return state;
  }
  return std::nullopt;
}

bool IsFinal(JobState state) {
  return state == JobState::kSucceeded || state == JobState::kFailed ||
         state == JobState::kCancelled;
}

}  // namespace traza
