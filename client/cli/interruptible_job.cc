// SPDX-License-Identifier: Apache-2.0
#include "client/cli/interruptible_job.h"

#include <cstdlib>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "client/cli/exit_code.h"

namespace traza {

void InterruptibleJob::SetJob(Client& client, const std::string& name) {
  {
    MutexLock lock(mu_);
    client_or_null_ = &client;
    name_ = name;
  }
  SendCancel();
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
  {
    MutexLock lock(mu_);
    cancel_ = true;
  }
  progress_.Resume();
  progress_.Say("cancelling; Ctrl-C again to end without waiting");
  SendCancel();
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

void InterruptibleJob::SendCancel() {
  Client* client = nullptr;
  v1::CancelJobRequest request;
  {
    MutexLock lock(mu_);
    if (!cancel_ || client_or_null_ == nullptr) return;
    client = client_or_null_;
    request.set_name(name_);
  }
  const absl::StatusOr<v1::Job> job = client->CancelJob(request);
  // A job that ended meanwhile needs no cancelling.
  if (!job.ok() && !absl::IsFailedPrecondition(job.status())) {
    progress_.Say(absl::StrCat("cannot cancel: ",
                               absl::string_view(job.status().message())));
  }
}

}  // namespace traza
