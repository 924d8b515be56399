// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_SYSTEMD_NOTIFY_H_
#define SERVER_SYSTEMD_NOTIFY_H_

#include <string>

#include "absl/strings/string_view.h"

namespace traza {

// Sends `state` ("READY=1", "STOPPING=1", "WATCHDOG=1", "STATUS=...") to the
// service manager at `socket`, the value of NOTIFY_SOCKET; does nothing when it
// is empty. Failures are ignored: the manager is not there to help us serve.
void NotifySystemd(const std::string& socket, absl::string_view state);

}  // namespace traza

#endif  // SERVER_SYSTEMD_NOTIFY_H_
