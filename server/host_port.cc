// SPDX-License-Identifier: Apache-2.0
#include "server/host_port.h"

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

#include "base/error.h"

namespace traza {

std::string HostPort::ToString() const {
  const bool ipv6 = absl::StrContains(host, ":");
  return ipv6 ? absl::StrCat("[", host, "]:", port)
              : absl::StrCat(host, ":", port);
}

bool HostPort::loopback() const {
  if (host == "localhost" || host == "::1") return true;
  const std::vector<absl::string_view> parts = absl::StrSplit(host, '.');
  if (parts.size() != 4 || parts[0] != "127") return false;
  for (const absl::string_view part : parts) {
    int value = 0;
    if (!absl::SimpleAtoi(part, &value) || value < 0 || value > 255) {
      return false;
    }
  }
  return true;
}

absl::StatusOr<HostPort> ParseHostPort(absl::string_view text) {
  const size_t colon = text.rfind(':');
  HostPort result;
  if (colon != absl::string_view::npos && colon > 0 &&
      absl::SimpleAtoi(text.substr(colon + 1), &result.port) &&
      result.port >= 0 && result.port <= 65535) {
    absl::string_view host = text.substr(0, colon);
    const bool bracketed =
        absl::ConsumePrefix(&host, "[") && absl::ConsumeSuffix(&host, "]");
    if (!host.empty() && (bracketed || !absl::StrContains(host, ":"))) {
      result.host = std::string(host);
      return result;
    }
  }
  return ErrorBuilder(absl::StatusCode::kInvalidArgument,
                      Reason::kInvalidArgument)
      .Build(absl::StrCat("\"", text,
                          "\" is not HOST:PORT, such as 127.0.0.1:7719 or "
                          "[::1]:0."));
}

}  // namespace traza
