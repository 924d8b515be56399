// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_CORRELATE_CALL_ROLES_H_
#define TRACE_CORRELATE_CALL_ROLES_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"

#include "trace/trace.h"

namespace traza {

// What a call of the runtime (cudaLaunchKernel, hipLaunchKernel) or the driver
// (cuLaunchKernelEx) means for device work, by its name.
enum class CallRole : uint8_t {
  kOther,         // does none
  kLaunch,        // of a kernel or a graph
  kCopy,          // or fill, which may have nothing to do
  kBeginCapture,  // of a stream into a graph
  kEndCapture,
};

CallRole CallRoleOf(absl::string_view name);

// By name id, for all names of a trace.
std::vector<CallRole> CallRolesOf(const NameTable& names);

// Whether a successful call of that role leaves a record of the device.
inline bool DoesDeviceWork(CallRole role) {
  return role == CallRole::kLaunch || role == CallRole::kCopy;
}

}  // namespace traza

#endif  // TRACE_CORRELATE_CALL_ROLES_H_
