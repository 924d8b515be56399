// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/run_unary.h"

#include <memory>
#include <utility>

#include "server/rpc/call_record.h"

namespace traza {
namespace {

// One call until it is finished.
class UnaryCall {
 public:
  UnaryCall(grpc::CallbackServerContext* context, Metrics& metrics,
            const RpcMethod& method)
      : context_(context),
        reactor_(context->DefaultReactor()),
        record_(metrics, method) {}
  UnaryCall(const UnaryCall&) = delete;
  UnaryCall& operator=(const UnaryCall&) = delete;

  // A call that is never finished hangs the shutdown of the server, so one
  // whose work threw is finished here.
  ~UnaryCall() {
    if (!finished_) Finish(absl::InternalError("the work of a call threw"));
  }

  void Run(const std::function<absl::Status()>& work) {
    Finish(context_->IsCancelled() ? ClientGone() : work());
  }

  void Finish(const absl::Status& status) {
    finished_ = true;
    // After Finish the context may be gone.
    reactor_->Finish(record_.Close(status));
  }

  grpc::ServerUnaryReactor* reactor() const { return reactor_; }

 private:
  grpc::CallbackServerContext* const context_;
  grpc::ServerUnaryReactor* const reactor_;
  CallRecord record_;
  bool finished_ = false;
};

}  // namespace

UnaryRunner::UnaryRunner(absl::string_view service, Executor& executor,
                         Metrics& metrics)
    : service_(service), executor_(executor), metrics_(metrics) {}

grpc::ServerUnaryReactor* UnaryRunner::Run(grpc::CallbackServerContext* context,
                                           absl::string_view method,
                                           std::function<absl::Status()> work) {
  auto call = std::make_shared<UnaryCall>(context, metrics_,
                                          RpcMethod{service_, method, "unary"});
  grpc::ServerUnaryReactor* const reactor = call->reactor();
  const bool posted =
      executor_.Post([call, work = std::move(work)] { call->Run(work); });
  if (!posted) call->Finish(TooManyRequests("requests in progress"));
  return reactor;
}

grpc::ServerUnaryReactor* UnaryRunner::RunHere(
    grpc::CallbackServerContext* context, absl::string_view method,
    const std::function<absl::Status()>& work) {
  UnaryCall call(context, metrics_, RpcMethod{service_, method, "unary"});
  grpc::ServerUnaryReactor* const reactor = call.reactor();
  call.Run(work);
  return reactor;
}

}  // namespace traza
