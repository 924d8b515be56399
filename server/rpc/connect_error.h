// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_RPC_CONNECT_ERROR_H_
#define SERVER_RPC_CONNECT_ERROR_H_

#include "absl/strings/string_view.h"

#include "api/convert_status.h"
#include "server/rpc/connect_call.h"

namespace traza {

// The error reply of the Connect protocol: the HTTP status that belongs to the
// code and {"code","message","details":[{"type","value","debug"}]}.
ConnectReply ToConnectReply(const WireError& error);

}  // namespace traza

#endif  // SERVER_RPC_CONNECT_ERROR_H_
