// SPDX-License-Identifier: Apache-2.0
#include "client/args/server_address.h"

#include <map>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/file.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace traza {
namespace {

Environment Variables(std::map<std::string, std::string> variables) {
  return [variables](const char* name) -> std::optional<std::string> {
    const auto it = variables.find(name);
    if (it == variables.end()) return std::nullopt;
    return it->second;
  };
}

// A home with that configuration.
class ConfiguredHome {
 public:
  explicit ConfiguredHome(absl::string_view text) {
    const std::filesystem::path folder = dir_ / ".config/traza";
    EXPECT_THAT(MakeDirectories(folder), IsOk());
    EXPECT_THAT(WriteFileAtomically(folder / "config.toml", text), IsOk());
  }
  std::string path() const { return dir_.path().native(); }

 private:
  TempDir dir_;
};

TEST(NormalizeServer, KeepsWhatIsComplete) {
  EXPECT_THAT(NormalizeServer("gpu-3.example.org:7719"),
              IsOkAndHolds(std::string("gpu-3.example.org:7719")));
  EXPECT_THAT(NormalizeServer("[::1]:80"),
              IsOkAndHolds(std::string("[::1]:80")));
  EXPECT_THAT(NormalizeServer("unix:/run/traza/grpc.sock"),
              IsOkAndHolds(std::string("unix:/run/traza/grpc.sock")));
}

TEST(NormalizeServer, AddsThePort) {
  EXPECT_THAT(NormalizeServer("gpu3"), IsOkAndHolds(std::string("gpu3:7719")));
  EXPECT_THAT(NormalizeServer("[fe80::1%eth0]"),
              IsOkAndHolds(std::string("[fe80::1%eth0]:7719")));
}

class BadServer : public testing::TestWithParam<std::string> {};

TEST_P(BadServer, IsRefused) {
  EXPECT_THAT(NormalizeServer(GetParam()),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadServer,
    testing::Values("", ":7719", "host:", "host:0", "host:65536", "host:port",
                    "host: 80", "::1", "::1:7719", "[::1", "[]:7719",
                    "[host]:7719", "[::1]7719", "http://host:7719",
                    "ho st:7719", "host\n:7719", "h\xc3\xb6st:7719",
                    "unix:", "unix:/a b", "unix:/" + std::string(200, 'a'),
                    std::string("host\0:1", 7), std::string(10'000, 'a')));

TEST(FindServer, PrefersTheFlag) {
  const auto server = FindServer("a:1", Variables({{"TRAZA_SERVER", "b:2"}}));

  ASSERT_THAT(server, IsOk());
  EXPECT_EQ(server->address, "a:1");
  EXPECT_EQ(server->source, "--server");
}

TEST(FindServer, PrefersTheVariableToTheFile) {
  const ConfiguredHome home("server = \"c:3\"\n");

  const auto server =
      FindServer(std::nullopt,
                 Variables({{"TRAZA_SERVER", "b:2"}, {"HOME", home.path()}}));

  ASSERT_THAT(server, IsOk());
  EXPECT_EQ(server->address, "b:2");
  EXPECT_EQ(server->source, "TRAZA_SERVER");
}

TEST(FindServer, ReadsTheFile) {
  const ConfiguredHome home("# mine\n\nserver = 'c'  # the big one\n");

  const auto server =
      FindServer(std::nullopt, Variables({{"HOME", home.path()}}));

  ASSERT_THAT(server, IsOk());
  EXPECT_EQ(server->address, "c:7719");
  EXPECT_EQ(server->source, home.path() + "/.config/traza/config.toml");
}

TEST(FindServer, PrefersTheXdgFolder) {
  TempDir xdg;
  ASSERT_THAT(MakeDirectories(xdg / "traza"), IsOk());
  ASSERT_THAT(
      WriteFileAtomically(xdg / "traza/config.toml", "server = \"d:4\""),
      IsOk());

  const auto server =
      FindServer(std::nullopt, Variables({{"XDG_CONFIG_HOME", xdg.path()}}));

  ASSERT_THAT(server, IsOk());
  EXPECT_EQ(server->address, "d:4");
}

TEST(FindServer, WorksWithoutAHome) {
  const auto none = FindServer(std::nullopt, Variables({}));
  const auto missing =
      FindServer(std::nullopt, Variables({{"HOME", "/dev/null/x"}}));

  ASSERT_THAT(none, IsOk());
  EXPECT_EQ(none->address, kDefaultServer);
  ASSERT_THAT(missing, IsOk());
  EXPECT_EQ(missing->address, kDefaultServer);
}

TEST(FindServer, SaysWhoGaveABadAddress) {
  EXPECT_THAT(FindServer(std::nullopt, Variables({{"TRAZA_SERVER", "a b"}}))
                  .status()
                  .ToString(),
              testing::HasSubstr("TRAZA_SERVER"));
  EXPECT_THAT(FindServer("", Variables({})),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

class BadConfig : public testing::TestWithParam<const char*> {};

TEST_P(BadConfig, NamesFileAndLine) {
  const auto server = ServerOfConfig(GetParam(), "config.toml");

  EXPECT_THAT(server, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(server.status().ToString(), testing::HasSubstr("config.toml:2"));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadConfig,
    testing::Values("\nserver = host", "\nserver", "\nserver = \"a",
                    "\n=", "\nsrever = \"a:1\"", "\n[contexts.a]",
                    "server = \"a\"\nserver = \"b\"", "\nserver = \"a\" \"b\"",
                    "\nserver = \"a\\n\"", "\n\xff\xfe"));

}  // namespace
}  // namespace traza
