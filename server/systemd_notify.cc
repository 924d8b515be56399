// SPDX-License-Identifier: Apache-2.0
#include "server/systemd_notify.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstring>

#include "base/unique_fd.h"

namespace traza {

void NotifySystemd(const std::string& socket, absl::string_view state) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (socket.empty() || socket.size() >= sizeof(address.sun_path)) return;
  std::memcpy(address.sun_path, socket.data(), socket.size());
  // A leading @ names an abstract socket.
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';
  const UniqueFd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return;
  const auto length =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket.size());
  (void)::sendto(fd.get(), state.data(), state.size(), MSG_NOSIGNAL,
                 reinterpret_cast<const sockaddr*>(&address), length);
}

}  // namespace traza
