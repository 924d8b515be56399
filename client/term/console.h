// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_TERM_CONSOLE_H_
#define CLIENT_TERM_CONSOLE_H_

#include <functional>
#include <optional>
#include <ostream>
#include <string>

#include "absl/strings/string_view.h"

#include "client/args/server_address.h"

namespace traza {

// Columns of output that goes to no terminal.
inline constexpr int kDefaultWidth = 100;

// Where a command writes, and what it may ask: data to `out`, talk to `err`.
// Tests build one on string streams.
struct Console {
  std::ostream& out;
  std::ostream& err;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  bool in_is_terminal = false;
  int width = kDefaultWidth;      // of the terminal behind `out`
  int err_width = kDefaultWidth;  // of the terminal behind `err`
  bool color = false;             // in `out`
  bool dumb_terminal = false;     // cannot rewrite a line
  int verbosity = 0;              // -1 quiet, 0, 1 and more: -v
  bool yes = false;               // asks nothing: every answer is yes
  std::function<std::optional<std::string>()> read_line;

  // Writes a line of talk, unless quiet.
  void Note(absl::string_view line) const;
  // Writes a line of talk with -v only.
  void Detail(absl::string_view line) const;
  // Asks a question that the user can answer with y; without a terminal (or
  // with `yes`) the answer is yes without asking.
  bool Confirm(absl::string_view question) const;
};

// The console of this process. `out` and `err` must outlive it. NO_COLOR and
// TERM=dumb switch colours off.
Console ProcessConsole(std::ostream& out, std::ostream& err,
                       const Environment& environment);

}  // namespace traza

#endif  // CLIENT_TERM_CONSOLE_H_
