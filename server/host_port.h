// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_HOST_PORT_H_
#define SERVER_HOST_PORT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace traza {

// "127.0.0.1:7719", "[::1]:7719". Port 0 is any free one.
struct HostPort {
  std::string host;  // without brackets
  int port = 0;

  std::string ToString() const;
  // 127.0.0.0/8, ::1 or localhost: cannot be reached from other machines.
  bool loopback() const;

  friend bool operator==(const HostPort&, const HostPort&) = default;
};

// INVALID_ARGUMENT with what is expected.
absl::StatusOr<HostPort> ParseHostPort(absl::string_view text);

}  // namespace traza

#endif  // SERVER_HOST_PORT_H_
