// SPDX-License-Identifier: Apache-2.0
#include "server/jobs/job_state.h"

namespace traza {
namespace {

struct Move {
  JobState from;
  JobState to;
};

// Every move that there is. RUNNING goes to CANCELLED without CANCELLING only
// when the worker itself says that it was stopped.
constexpr Move kMoves[] = {
    {JobState::kPending, JobState::kRunning},
    {JobState::kPending, JobState::kCancelled},
    {JobState::kPending, JobState::kFailed},
    {JobState::kRunning, JobState::kCancelling},
    {JobState::kRunning, JobState::kSucceeded},
    {JobState::kRunning, JobState::kFailed},
    {JobState::kRunning, JobState::kCancelled},
    {JobState::kCancelling, JobState::kCancelled},
    {JobState::kCancelling, JobState::kSucceeded},
    {JobState::kCancelling, JobState::kFailed},
};

}  // namespace

bool CanMove(JobState from, JobState to) {
  for (const Move& move : kMoves) {
    if (move.from == from && move.to == to) return true;
  }
  return false;
}

std::vector<JobState> StatesBefore(JobState to) {
  std::vector<JobState> states;
  for (const Move& move : kMoves) {
    if (move.to == to) states.push_back(move.from);
  }
  return states;
}

}  // namespace traza
