// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_RPC_WATCH_HEALTH_REACTOR_H_
#define SERVER_RPC_WATCH_HEALTH_REACTOR_H_

#include <functional>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "grpc/health/v1/health.pb.h"
#include "grpcpp/alarm.h"
#include "grpcpp/grpcpp.h"

#include "base/mutex.h"
#include "server/rpc/call_record.h"
#include "server/rpc/stream_limit.h"

namespace traza {

// Streams a health status: at once, then when it is another one. It looks every
// kHealthPeriod, because what it looks at cannot call back.
//
// Kept alive (shared) by itself until gRPC is done with it and by the pending
// alarm.
class WatchHealthReactor final
    : public grpc::ServerWriteReactor<grpc::health::v1::HealthCheckResponse> {
 public:
  // Quick, without I/O; must stay callable until the stream is done.
  using Source =
      std::function<grpc::health::v1::HealthCheckResponse::ServingStatus()>;

  static WatchHealthReactor* Start(Source source, CallRecord record,
                                   StreamLimit::Permit permit);

 private:
  WatchHealthReactor(Source source, CallRecord record,
                     StreamLimit::Permit permit);

  // Writes, waits or finishes, whichever it is time for.
  void Advance() ABSL_LOCKS_EXCLUDED(mu_);
  void SetAlarm() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void OnAlarm() ABSL_LOCKS_EXCLUDED(mu_);

  void OnWriteDone(bool ok) override ABSL_LOCKS_EXCLUDED(mu_);
  void OnCancel() override ABSL_LOCKS_EXCLUDED(mu_);
  void OnDone() override ABSL_LOCKS_EXCLUDED(mu_);

  const Source source_;
  CallRecord record_;
  StreamLimit::Permit permit_;

  Mutex mu_;
  std::shared_ptr<WatchHealthReactor> self_ ABSL_GUARDED_BY(mu_);
  // A new one for each wait: setting one again would end the callback that
  // does it.
  std::unique_ptr<grpc::Alarm> alarm_ ABSL_GUARDED_BY(mu_);
  bool waiting_ ABSL_GUARDED_BY(mu_) = false;
  bool writing_ ABSL_GUARDED_BY(mu_) = false;
  bool cancelled_ ABSL_GUARDED_BY(mu_) = false;
  bool finished_ ABSL_GUARDED_BY(mu_) = false;
  bool sent_ ABSL_GUARDED_BY(mu_) = false;
  // The last message; of the outstanding write while `writing_`.
  grpc::health::v1::HealthCheckResponse message_;
};

}  // namespace traza

#endif  // SERVER_RPC_WATCH_HEALTH_REACTOR_H_
