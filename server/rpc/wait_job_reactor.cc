// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/wait_job_reactor.h"

#include "api/convert_job.h"
#include "server/rpc/after.h"
#include "server/rpc/on_throw.h"

namespace traza {
grpc::ServerUnaryReactor* WaitJobReactor::Start(JobManager& manager,
                                                Executor& executor,
                                                CallRecord record,
                                                Arguments arguments) {
  const std::shared_ptr<WaitJobReactor> self(
      new WaitJobReactor(manager, std::move(record), std::move(arguments)));
  {
    MutexLock lock(self->mu_);
    self->self_ = self;
  }
  if (!executor.Post([self] { self->Subscribe(self); })) {
    self->Open(nullptr, TooManyRequests("requests in progress"));
  }
  return self.get();
}

WaitJobReactor::WaitJobReactor(JobManager& manager, CallRecord record,
                               Arguments arguments)
    : manager_(manager),
      arguments_(std::move(arguments)),
      record_(std::move(record)) {}

void WaitJobReactor::Subscribe(const std::shared_ptr<WaitJobReactor>& self) {
  OnThrow open_anyway([this] {
    Open(nullptr, absl::InternalError("subscribing to a job threw"));
  });
  auto subscription = manager_.Subscribe(
      arguments_.id, [this](const JobSnapshot& job) { OnChange(job); });
  if (subscription.ok()) {
    // It is called when cancelled, too. The alarm keeps its callback for as
    // long as it lives itself, so the callback has to let go of the reactor.
    alarm_.Set(After(arguments_.timeout), [held = self](bool) mutable {
      const std::shared_ptr<WaitJobReactor> reactor = std::move(held);
      reactor->OnAlarm();
    });
  }
  open_anyway.Dismiss();
  if (subscription.ok()) {
    Open(*std::move(subscription), absl::OkStatus());
  } else {
    Open(nullptr, subscription.status());
  }
}

void WaitJobReactor::Open(
    std::unique_ptr<JobManager::Subscription> subscription,
    const absl::Status& status) {
  {
    MutexLock lock(mu_);
    subscription_ = std::move(subscription);
    if (status_.ok()) status_ = status;
    open_ = true;
  }
  Advance();
}

void WaitJobReactor::OnChange(const JobSnapshot& job) {
  {
    MutexLock lock(mu_);
    latest_ = job;
  }
  Advance();
}

void WaitJobReactor::OnAlarm() {
  {
    MutexLock lock(mu_);
    timed_out_ = true;
  }
  Advance();
}

void WaitJobReactor::Advance() {
  absl::Status result;
  JobSnapshot job;
  {
    MutexLock lock(mu_);
    if (!open_ || finished_) return;
    const bool done =
        latest_ != nullptr && (timed_out_ || IsFinal(latest_->state));
    if (status_.ok() && !done) return;
    finished_ = true;
    result = status_;
    job = latest_;
  }
  // Only one gets here. After Finish this object may be gone.
  alarm_.Cancel();
  if (result.ok()) *arguments_.response = ToProto(*job);
  Finish(record_.Close(result));
}

void WaitJobReactor::OnCancel() {
  {
    MutexLock lock(mu_);
    if (status_.ok()) status_ = ClientGone();
  }
  Advance();
}

void WaitJobReactor::OnDone() {
  std::unique_ptr<JobManager::Subscription> subscription;
  std::shared_ptr<WaitJobReactor> self;
  {
    MutexLock lock(mu_);
    subscription = std::move(subscription_);
    self = std::move(self_);
  }
  // Waits for a change that is being reported, so it comes before `self` goes.
  subscription.reset();
}

}  // namespace traza
