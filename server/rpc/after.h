// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_RPC_AFTER_H_
#define SERVER_RPC_AFTER_H_

#include "absl/time/time.h"
#include "grpc/support/time.h"

namespace traza {

// The time `delay` from now, as grpc::Alarm takes it.
inline gpr_timespec After(absl::Duration delay) {
  return gpr_time_add(
      gpr_now(GPR_CLOCK_MONOTONIC),
      gpr_time_from_nanos(absl::ToInt64Nanoseconds(delay), GPR_TIMESPAN));
}

}  // namespace traza

#endif  // SERVER_RPC_AFTER_H_
