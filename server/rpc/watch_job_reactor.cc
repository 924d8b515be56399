// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/watch_job_reactor.h"

#include "api/convert_job.h"
#include "server/rpc/on_throw.h"

namespace traza {

grpc::ServerWriteReactor<v1::Job>* WatchJobReactor::Start(
    JobManager& manager, Executor& executor, CallRecord record,
    StreamLimit::Permit permit, JobId id) {
  const std::shared_ptr<WatchJobReactor> self(new WatchJobReactor(
      manager, std::move(record), std::move(permit), std::move(id)));
  {
    MutexLock lock(self->mu_);
    self->self_ = self;
  }
  if (!executor.Post([self] { self->Subscribe(); })) {
    self->Open(nullptr, TooManyRequests("requests in progress"));
  }
  return self.get();
}

WatchJobReactor::WatchJobReactor(JobManager& manager, CallRecord record,
                                 StreamLimit::Permit permit, JobId id)
    : manager_(manager),
      id_(std::move(id)),
      record_(std::move(record)),
      permit_(std::move(permit)) {}

void WatchJobReactor::Subscribe() {
  OnThrow open_anyway([this] {
    Open(nullptr, absl::InternalError("subscribing to a job threw"));
  });
  auto subscription = manager_.Subscribe(
      id_, [this](const JobSnapshot& job) { OnChange(job); });
  open_anyway.Dismiss();
  if (subscription.ok()) {
    Open(*std::move(subscription), absl::OkStatus());
  } else {
    Open(nullptr, subscription.status());
  }
}

void WatchJobReactor::Open(
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

void WatchJobReactor::OnChange(const JobSnapshot& job) {
  {
    MutexLock lock(mu_);
    latest_ = job;
  }
  Advance();
}

void WatchJobReactor::Advance() {
  JobSnapshot next;
  absl::Status result;
  {
    MutexLock lock(mu_);
    if (!open_ || writing_ || finished_) return;
    if (status_.ok() && latest_ != sent_) {
      writing_ = true;
      sent_ = latest_;
      next = sent_;
    } else if (!status_.ok() || (sent_ != nullptr && IsFinal(sent_->state))) {
      finished_ = true;
      result = status_;
    } else {
      return;
    }
  }
  // Whoever gets here is the only one: `writing_` or `finished_` keeps others
  // out. After the last call on gRPC this object may be gone.
  if (next != nullptr) {
    message_ = ToProto(*next);
    StartWrite(&message_);
  } else {
    Finish(record_.Close(result));
  }
}

void WatchJobReactor::OnWriteDone(bool ok) {
  {
    MutexLock lock(mu_);
    writing_ = false;
    if (!ok && status_.ok()) status_ = ClientGone();
  }
  Advance();
}

void WatchJobReactor::OnCancel() {
  {
    MutexLock lock(mu_);
    if (status_.ok()) status_ = ClientGone();
  }
  Advance();
}

void WatchJobReactor::OnDone() {
  std::unique_ptr<JobManager::Subscription> subscription;
  std::shared_ptr<WatchJobReactor> self;
  {
    MutexLock lock(mu_);
    subscription = std::move(subscription_);
    self = std::move(self_);
  }
  // Waits for a change that is being reported, so it comes before `self` goes.
  subscription.reset();
}

}  // namespace traza
