// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_RPC_CONNECT_BRIDGE_H_
#define SERVER_RPC_CONNECT_BRIDGE_H_

#include <memory>

#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/grpcpp.h"

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
  ConnectReply Call(const ConnectCall& call);

 private:
  grpc::GenericStub stub_;
};

}  // namespace traza

#endif  // SERVER_RPC_CONNECT_BRIDGE_H_
