// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_CLI_FOLLOW_JOB_H_
#define CLIENT_CLI_FOLLOW_JOB_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "client/client.h"
#include "client/term/progress_line.h"

namespace traza {

struct FollowOptions {
  // Tries in a row that brought nothing before giving up: with the waits
  // between them about half a minute, enough for a daemon to restart.
  int max_attempts = 10;
  absl::Duration first_wait = absl::Milliseconds(200);
  absl::Duration longest_wait = absl::Seconds(5);
};

// Shows the progress of a job until it ends, and returns it. A lost connection
// does not disturb the job, so it is made again; where the daemon has no more
// streams to give, the job is polled. JOB_NOT_FOUND, or the error that kept the
// daemon away.
absl::StatusOr<v1::Job> FollowJob(Client& client, const std::string& name,
                                  ProgressLine& progress,
                                  const FollowOptions& options = {});

}  // namespace traza

#endif  // CLIENT_CLI_FOLLOW_JOB_H_
