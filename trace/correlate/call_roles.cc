// SPDX-License-Identifier: Apache-2.0
#include "trace/correlate/call_roles.h"

#include "absl/strings/match.h"

namespace traza {

CallRole CallRoleOf(absl::string_view name) {
  const auto has = [name](absl::string_view part) {
    return absl::StrContains(name, part);
  };
  if (has("StreamBeginCapture")) return CallRole::kBeginCapture;
  if (has("StreamEndCapture")) return CallRole::kEndCapture;
  // cudaLaunchHostFunc runs on the CPU; cudaGraphAddMemcpyNode and its like
  // describe work that the launch of the graph does.
  if (has("LaunchHostFunc") || has("Node")) return CallRole::kOther;
  if (has("Launch")) return CallRole::kLaunch;
  if (has("Memcpy") || has("Memset")) return CallRole::kCopy;
  return CallRole::kOther;
}

std::vector<CallRole> CallRolesOf(const NameTable& names) {
  std::vector<CallRole> roles;
  roles.reserve(names.size());
  for (int32_t id = 0; id < names.size(); ++id) {
    roles.push_back(CallRoleOf(names.at(id)));
  }
  return roles;
}

}  // namespace traza
