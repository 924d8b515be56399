// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/watch_health_reactor.h"

#include <utility>

#include "server/rpc/after.h"
#include "server/rpc/limits.h"

namespace traza {

WatchHealthReactor* WatchHealthReactor::Start(Source source, CallRecord record,
                                              StreamLimit::Permit permit) {
  const std::shared_ptr<WatchHealthReactor> self(new WatchHealthReactor(
      std::move(source), std::move(record), std::move(permit)));
  {
    MutexLock lock(self->mu_);
    self->self_ = self;
  }
  self->Advance();
  return self.get();
}

WatchHealthReactor::WatchHealthReactor(Source source, CallRecord record,
                                       StreamLimit::Permit permit)
    : source_(std::move(source)),
      record_(std::move(record)),
      permit_(std::move(permit)) {}

void WatchHealthReactor::Advance() {
  const auto status = source_();
  bool finish = false;
  {
    MutexLock lock(mu_);
    if (writing_ || finished_) return;
    if (cancelled_) {
      finished_ = true;
      finish = true;
    } else if (sent_ && message_.status() == status) {
      if (!waiting_) SetAlarm();
      return;
    } else {
      writing_ = true;
      sent_ = true;
      message_.set_status(status);
    }
  }
  // After the last call on gRPC this object may be gone.
  if (finish) {
    Finish(record_.Close(ClientGone()));
  } else {
    StartWrite(&message_);
  }
}

void WatchHealthReactor::SetAlarm() {
  waiting_ = true;
  alarm_ = std::make_unique<grpc::Alarm>();
  // It is called when cancelled, too. The alarm keeps its callback for as long
  // as it lives itself, so the callback has to let go of the reactor.
  alarm_->Set(After(kHealthPeriod), [held = self_](bool) mutable {
    const std::shared_ptr<WatchHealthReactor> reactor = std::move(held);
    reactor->OnAlarm();
  });
}

void WatchHealthReactor::OnAlarm() {
  {
    MutexLock lock(mu_);
    waiting_ = false;
  }
  Advance();
}

void WatchHealthReactor::OnWriteDone(bool ok) {
  {
    MutexLock lock(mu_);
    writing_ = false;
    if (!ok) cancelled_ = true;
  }
  Advance();
}

void WatchHealthReactor::OnCancel() {
  {
    MutexLock lock(mu_);
    cancelled_ = true;
  }
  Advance();
}

void WatchHealthReactor::OnDone() {
  std::unique_ptr<grpc::Alarm> alarm;
  std::shared_ptr<WatchHealthReactor> self;
  {
    MutexLock lock(mu_);
    alarm = std::move(alarm_);
    self = std::move(self_);
  }
  // Its destructor cancels the wait.
  alarm.reset();
}

}  // namespace traza
