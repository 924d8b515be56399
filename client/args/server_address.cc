// SPDX-License-Identifier: Apache-2.0
#include "client/args/server_address.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

#include "base/error.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "base/utf8.h"

namespace traza {
namespace {

constexpr size_t kMaxAddressBytes = 255;
constexpr size_t kMaxSocketPathBytes = 107;  // sockaddr_un, with its NUL
constexpr int64_t kMaxConfigBytes = 64 * 1024;

absl::Status BadAddress(absl::string_view text, absl::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat(Quoted(text), " is no server address: ", why,
                   " Write HOST, HOST:PORT, [IPV6]:PORT or unix:/PATH."));
}

bool AllOf(absl::string_view text, bool (*test)(unsigned char)) {
  return std::ranges::all_of(text, test);
}

bool IsHostCharacter(unsigned char c) {
  return absl::ascii_isalnum(c) || c == '.' || c == '-' || c == '_';
}

// With the zone after a "%".
bool IsIpv6Character(unsigned char c) {
  return absl::ascii_isalnum(c) || c == ':' || c == '.' || c == '%';
}

bool IsPort(absl::string_view text) {
  int port = 0;
  return !text.empty() && text.size() <= 5 &&
         AllOf(text, absl::ascii_isdigit) && absl::SimpleAtoi(text, &port) &&
         port >= 1 && port <= 65535;
}

// Takes the value out of the quotes of a TOML basic or literal string, with
// what follows it being a comment at most.
std::optional<std::string> Unquote(absl::string_view text) {
  if (text.size() < 2 || (text[0] != '"' && text[0] != '\'')) {
    return std::nullopt;
  }
  const size_t end = text.find(text[0], 1);
  if (end == absl::string_view::npos) return std::nullopt;
  const absl::string_view rest =
      absl::StripLeadingAsciiWhitespace(text.substr(end + 1));
  const absl::string_view value = text.substr(1, end - 1);
  if ((!rest.empty() && rest[0] != '#') || absl::StrContains(value, '\\')) {
    return std::nullopt;
  }
  return std::string(value);
}

std::optional<std::filesystem::path> ConfigPath(
    const Environment& environment) {
  const std::optional<std::string> xdg = environment("XDG_CONFIG_HOME");
  // The XDG rules say to ignore a relative path.
  if (xdg.has_value() && absl::StartsWith(*xdg, "/")) {
    return std::filesystem::path(*xdg) / "traza" / "config.toml";
  }
  const std::optional<std::string> home = environment("HOME");
  if (!home.has_value() || home->empty()) return std::nullopt;
  return std::filesystem::path(*home) / ".config" / "traza" / "config.toml";
}

absl::StatusOr<std::optional<std::string>> ServerOfConfigFile(
    const std::filesystem::path& path) {
  // A home that this user may not look into has no configuration; a file that
  // is there and cannot be read is an error, not the default.
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return std::nullopt;
  absl::StatusOr<std::string> text = ReadFile(path, kMaxConfigBytes);
  if (!text.ok()) return absl::InvalidArgumentError(text.status().message());
  return ServerOfConfig(*text, path.string());
}

}  // namespace

absl::StatusOr<std::string> NormalizeServer(absl::string_view text) {
  if (text.empty()) return BadAddress(text, "It is empty.");
  if (text.size() > kMaxAddressBytes) {
    return BadAddress(text, "It is longer than 255 bytes.");
  }
  if (absl::StartsWith(text, "unix:")) {
    const absl::string_view path = text.substr(5);
    if (path.empty() || path.size() > kMaxSocketPathBytes ||
        !AllOf(path, absl::ascii_isgraph)) {
      return BadAddress(text,
                        "A socket path has 1 to 107 printable characters.");
    }
    return std::string(text);
  }
  if (absl::StrContains(text, "://"))
    return BadAddress(text, "It has a scheme.");
  const size_t host_end = text.front() == '[' ? text.find(']') : text.find(':');
  absl::string_view host = text.substr(0, host_end);
  absl::string_view rest;
  if (host_end != absl::string_view::npos) rest = text.substr(host_end);
  if (absl::ConsumePrefix(&host, "[")) {
    if (!absl::ConsumePrefix(&rest, "]") || !absl::StrContains(host, ':') ||
        !AllOf(host, IsIpv6Character)) {
      return BadAddress(text, "The brackets hold no IPv6 address.");
    }
  } else if (host.empty() || !AllOf(host, IsHostCharacter)) {
    return BadAddress(text, "The host has characters that no host has.");
  }
  if (rest.empty()) return absl::StrCat(text, ":", kDefaultPort);
  if (!absl::ConsumePrefix(&rest, ":") || absl::StrContains(rest, ':')) {
    return BadAddress(text, "An IPv6 address needs brackets.");
  }
  if (!IsPort(rest)) return BadAddress(text, "The port is not 1 to 65535.");
  return std::string(text);
}

absl::StatusOr<std::optional<std::string>> ServerOfConfig(
    absl::string_view text, absl::string_view path) {
  std::optional<std::string> server;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line);
    if (line.empty() || line[0] == '#') continue;
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(line, absl::MaxSplits('=', 1));
    const absl::string_view key = absl::StripAsciiWhitespace(parts.first);
    if (key != "server" || server.has_value()) {
      return absl::InvalidArgumentError(absl::StrCat(
          path, ":", number, ": ",
          server.has_value() && key == "server" ? "a second " : "unknown key ",
          Quoted(key), "; the only key is server."));
    }
    server = Unquote(absl::StripAsciiWhitespace(parts.second));
    if (!server.has_value()) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ":", number, ": write server = \"HOST:PORT\"."));
    }
  }
  return server;
}

absl::StatusOr<ServerAddress> FindServer(const std::optional<std::string>& flag,
                                         const Environment& environment) {
  std::string given;
  std::string source;
  const std::optional<std::string> variable = environment("TRAZA_SERVER");
  if (flag.has_value()) {
    given = *flag;
    source = "--server";
  } else if (variable.has_value() && !variable->empty()) {
    given = *variable;
    source = "TRAZA_SERVER";
  } else if (const auto path = ConfigPath(environment)) {
    ASSIGN_OR_RETURN(const std::optional<std::string> server,
                     ServerOfConfigFile(*path));
    given = server.value_or("");
    source = path->string();
  }
  if (given.empty() && !flag.has_value()) {
    return ServerAddress{kDefaultServer, "the default"};
  }
  absl::StatusOr<std::string> address = NormalizeServer(given);
  if (!address.ok()) return Annotate(address.status(), source);
  return ServerAddress{*std::move(address), source};
}

}  // namespace traza
