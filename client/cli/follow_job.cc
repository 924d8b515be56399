// SPDX-License-Identifier: Apache-2.0
#include "client/cli/follow_job.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

#include "base/error.h"
#include "base/status_macros.h"
#include "client/cli/job_text.h"

namespace traza {
namespace {

constexpr int kPollSeconds = 20;

// Whether a later call may go better.
bool IsPassing(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:  // the stream ended before the job did
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kCancelled:
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnknown:
      return true;
    default:
      return false;
  }
}

// One snapshot after at most kPollSeconds.
absl::Status Poll(Client& client, const std::string& name, v1::Job* job) {
  v1::WaitJobRequest request;
  request.set_name(name);
  request.mutable_timeout()->set_seconds(kPollSeconds);
  ASSIGN_OR_RETURN(*job, client.WaitJob(request));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<v1::Job> FollowJob(Client& client, const std::string& name,
                                  ProgressLine& progress,
                                  const FollowOptions& options) {
  v1::WatchJobRequest request;
  request.set_name(name);
  v1::Job last;
  int attempts = 0;
  absl::Duration wait = options.first_wait;
  while (true) {
    bool news = false;
    absl::Status status = client.WatchJob(request, [&](const v1::Job& job) {
      const std::string text = ProgressText(job);
      news = news || text != ProgressText(last);
      last = job;
      progress.Show(PhaseText(job), text);
      return !IsFinal(job);
    });
    if (absl::IsResourceExhausted(status)) {
      status = Poll(client, name, &last);
      news = status.ok();
      if (news) progress.Show(PhaseText(last), ProgressText(last));
    }
    if (IsFinal(last)) return last;
    if (!IsPassing(status)) return status;
    if (news) {
      attempts = 0;
      wait = options.first_wait;
    }
    if (++attempts > options.max_attempts) {
      const std::string lost = absl::StrCat(
          "Lost sight of ", name, ", which goes on; see: traza watch ", name);
      if (status.ok()) return absl::UnavailableError(lost);
      return Annotate(status, lost);
    }
    if (!news) progress.Say("connection lost; the job goes on, trying again");
    absl::SleepFor(wait);
    wait = std::min(wait * 2, options.longest_wait);
  }
}

}  // namespace traza
