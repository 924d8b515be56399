// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_RPC_CONVERT_TRACE_ROW_H_
#define SERVER_RPC_CONVERT_TRACE_ROW_H_

#include "server/store/trace_row.h"
#include "traza/v1/trace.pb.h"

namespace traza {

// Not in api/, which clients link too and which must not see the store.
v1::Trace ToProto(const TraceRow& row);

}  // namespace traza

#endif  // SERVER_RPC_CONVERT_TRACE_ROW_H_
