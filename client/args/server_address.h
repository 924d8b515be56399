// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_ARGS_SERVER_ADDRESS_H_
#define CLIENT_ARGS_SERVER_ADDRESS_H_

#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace traza {

inline constexpr char kDefaultServer[] = "127.0.0.1:7719";
inline constexpr int kDefaultPort = 7719;

// Looks up an environment variable. A function, so that tests need not change
// the environment of their process.
using Environment = std::function<std::optional<std::string>(const char* name)>;

// Which daemon to talk to, and who said so.
struct ServerAddress {
  std::string address;  // "HOST:PORT" or "unix:PATH"
  std::string source;   // "--server", "TRAZA_SERVER", a file, "the default"
};

// Checks and completes an address: "HOST", "HOST:PORT", "[::1]:PORT",
// "unix:/PATH". A missing port becomes kDefaultPort. INVALID_ARGUMENT else: a
// byte that is invalid in a header would abort the process inside gRPC.
absl::StatusOr<std::string> NormalizeServer(absl::string_view text);

// The server of a configuration file: `server = "HOST:PORT"`, with comments
// and empty lines. An unknown key is an error that names `path` and the line.
absl::StatusOr<std::optional<std::string>> ServerOfConfig(
    absl::string_view text, absl::string_view path);

// --server, else TRAZA_SERVER, else traza/config.toml in $XDG_CONFIG_HOME or
// ~/.config, else the default. Works without HOME.
absl::StatusOr<ServerAddress> FindServer(const std::optional<std::string>& flag,
                                         const Environment& environment);

}  // namespace traza

#endif  // CLIENT_ARGS_SERVER_ADDRESS_H_
