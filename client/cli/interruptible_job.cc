// SPDX-License-Identifier: Apache-2.0
#include "client/cli/interruptible_job.h"

#include <cstdlib>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "client/cli/exit_code.h"

namespace traza {

void InterruptibleJob::SetName(const std::string& name) {
  bool cancel = false;
  {
    MutexLock lock(mu_);
    name_ = name;
    cancel = cancel_;
  }
  if (cancel) SendCancel(name);
}

bool InterruptibleJob::cancelled() {
  MutexLock lock(mu_);
  return cancel_;
}

InterruptHooks InterruptibleJob::Hooks() {
  return {.ask =
              [this] {
                progress_.Ask(
                    "Cancel the job? y = cancel it, d = leave it running and "
                    "end, other = go on (Ctrl-C cancels): ");
              },
          .resume = [this] { progress_.Resume(); },
          .cancel = [this] { Cancel(); },
          .leave = [this] { Leave(); }};
}

void InterruptibleJob::Cancel() {
  std::string name;
  {
    MutexLock lock(mu_);
    cancel_ = true;
    name = name_;
  }
  progress_.Resume();
  progress_.Say("cancelling; Ctrl-C again to end without waiting");
  if (!name.empty()) SendCancel(name);
}

void InterruptibleJob::Leave() {
  std::string name;
  {
    MutexLock lock(mu_);
    name = name_;
  }
  progress_.Resume();
  if (!name.empty()) {
    progress_.Say(absl::StrCat("see how it goes with: traza watch ", name));
  }
  std::_Exit(static_cast<int>(ExitCode::kInterrupted));
}

void InterruptibleJob::SendCancel(const std::string& name) {
  v1::CancelJobRequest request;
  request.set_name(name);
  const absl::StatusOr<v1::Job> job = client_.CancelJob(request);
  // A job that ended meanwhile needs no cancelling.
  if (!job.ok() && !absl::IsFailedPrecondition(job.status())) {
    progress_.Say(absl::StrCat("cannot cancel: ",
                               absl::string_view(job.status().message())));
  }
}

}  // namespace traza
