// SPDX-License-Identifier: Apache-2.0
#include "client/term/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"

namespace traza {
namespace {

constexpr int kMinWidth = 20;
constexpr int kMaxWidth = 1000;
constexpr size_t kMaxAnswerBytes = 256;

// Not std::cin: that would drag in locale set-up, and eats more than a line.
std::optional<std::string> ReadLineOfStdin() {
  std::string line;
  while (line.size() < kMaxAnswerBytes) {
    char c = 0;
    const ssize_t n = ::read(STDIN_FILENO, &c, 1);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      if (line.empty()) return std::nullopt;
      return line;
    }
    if (c == '\n') return line;
    line.push_back(c);
  }
  return line;
}

int TerminalWidth(int fd, const Environment& environment) {
  winsize size = {};
  int width = 0;
  if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    width = size.ws_col;
  } else if (!absl::SimpleAtoi(environment("COLUMNS").value_or(""), &width)) {
    width = 80;
  }
  return width < kMinWidth ? kMinWidth
                           : (width > kMaxWidth ? kMaxWidth : width);
}

}  // namespace

void Console::Note(absl::string_view line) const {
  if (verbosity < 0) return;
  err << line << '\n' << std::flush;
}

void Console::Detail(absl::string_view line) const {
  if (verbosity < 1) return;
  err << line << '\n' << std::flush;
}

bool Console::Confirm(absl::string_view question) const {
  if (yes || !in_is_terminal || !err_is_terminal || !read_line) return true;
  err << question << " [y/N] " << std::flush;
  const std::optional<std::string> answer = read_line();
  if (!answer.has_value()) {
    err << '\n';
    return false;
  }
  const std::string word =
      absl::AsciiStrToLower(absl::StripAsciiWhitespace(*answer));
  return word == "y" || word == "yes";
}

Console ProcessConsole(std::ostream& out, std::ostream& err,
                       const Environment& environment) {
  Console console = {.out = out, .err = err, .read_line = ReadLineOfStdin};
  console.out_is_terminal = ::isatty(STDOUT_FILENO) == 1;
  console.err_is_terminal = ::isatty(STDERR_FILENO) == 1;
  console.in_is_terminal = ::isatty(STDIN_FILENO) == 1;
  const std::string terminal = environment("TERM").value_or("");
  console.dumb_terminal = terminal.empty() || terminal == "dumb";
  if (console.out_is_terminal) {
    console.width = TerminalWidth(STDOUT_FILENO, environment);
    console.color =
        !console.dumb_terminal && environment("NO_COLOR").value_or("").empty();
  }
  if (console.err_is_terminal) {
    console.err_width = TerminalWidth(STDERR_FILENO, environment);
  }
  return console;
}

}  // namespace traza
