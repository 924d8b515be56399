// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_CLIENT_CLI_CLI_FIXTURE_H_
#define TESTS_CLIENT_CLI_CLI_FIXTURE_H_

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "client/cli/app.h"
#include "tests/client/cli/fake_daemon.h"
#include "trace/file/any_trace.h"

namespace traza {

// Runs the whole command line program in this process, against a fake daemon.
class CliTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    ::setenv("TZ", "UTC", 1);  // NOLINT(concurrency-mt-unsafe): no threads yet
  }

  // Returns the exit code; what was written is in out_ and err_.
  int Run(std::vector<std::string> words) {
    words.insert(words.begin(), {"--server", daemon_.address()});
    return RunAlone(words);
  }

  // The same without a daemon.
  int RunAlone(const std::vector<std::string>& words) {
    std::ostringstream out;
    std::ostringstream err;
    Console console{.out = out, .err = err};
    console.in_is_terminal = answer_.has_value();
    console.err_is_terminal = answer_.has_value();
    console.dumb_terminal = true;
    console.read_line = [this] { return answer_; };
    const ExitCode code = RunTraza(
        words, console,
        [](const char*) -> std::optional<std::string> { return std::nullopt; },
        [](const std::filesystem::path& path) { return ReadAnyTrace(path); });
    out_ = out.str();
    err_ = err.str();
    return static_cast<int>(code);
  }

  FakeDaemon daemon_;
  std::optional<std::string> answer_;  // typed at a question; makes a terminal
  std::string out_;
  std::string err_;
};

}  // namespace traza

#endif  // TESTS_CLIENT_CLI_CLI_FIXTURE_H_
