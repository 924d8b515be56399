// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_JOBS_JOB_STATE_H_
#define SERVER_JOBS_JOB_STATE_H_

#include <vector>

#include "spec/job.h"

namespace traza {

// Whether a job may go from one state to the other: the one table of moves, in
// job_state.cc. Staying is no move.
bool CanMove(JobState from, JobState to);

// The states from which a job may go to `to`: what a compare-and-set in the
// store expects.
std::vector<JobState> StatesBefore(JobState to);

}  // namespace traza

#endif  // SERVER_JOBS_JOB_STATE_H_
