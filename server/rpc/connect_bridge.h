// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_RPC_CONNECT_BRIDGE_H_
#define SERVER_RPC_CONNECT_BRIDGE_H_

#include <functional>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/grpcpp.h"

#include "base/mutex.h"
#include "server/rpc/connect_call.h"

namespace traza {

// Serves unary calls of the Connect protocol by calling the gRPC server of this
// process: JSON or protobuf in, the same out.
//
// Any unary method of traza.v1 works, found by name in the descriptors.
// Streaming ones are unimplemented and say what to use. Integers of 64 bits are
// JSON strings here, as proto3 has it. Thread-safe.
class ConnectBridge {
 public:
  explicit ConnectBridge(std::shared_ptr<grpc::Channel> channel);

  // Blocks for at most the timeout of the call (kDefaultHttpTimeout, at most
  // kMaxHttpTimeout).
  ConnectReply Call(const ConnectCall& call) ABSL_LOCKS_EXCLUDED(mu_);

  // From now on calls are UNAVAILABLE / DRAINING. To be called before the
  // server shuts down: starting a call in-process after that ends the process
  // (gRPC 1.51 calls a null pointer).
  void Close() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // Starts the call unless closed; `done` is called with its result.
  bool Start(const ConnectCall& call, grpc::ClientContext* context,
             const grpc::ByteBuffer* request, grpc::ByteBuffer* response,
             std::function<void(grpc::Status)> done) ABSL_LOCKS_EXCLUDED(mu_);

  grpc::GenericStub stub_;
  Mutex mu_;
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace traza

#endif  // SERVER_RPC_CONNECT_BRIDGE_H_
