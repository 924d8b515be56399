// SPDX-License-Identifier: Apache-2.0
#include "client/term/progress_line.h"

#include "base/utf8.h"
#include "client/term/list_table.h"

namespace traza {
namespace {

constexpr absl::Duration kLinePeriod = absl::Seconds(10);
// Rewriting more often than an eye can follow only costs the terminal.
constexpr absl::Duration kRewritePeriod = absl::Milliseconds(50);
constexpr char kClearLine[] = "\r\033[K";

}  // namespace

ProgressLine::ProgressLine(const Console& console, const Clock& clock)
    : console_(console),
      clock_(clock),
      rewrite_(console.err_is_terminal && !console.dumb_terminal),
      line_time_(-absl::InfiniteDuration()) {}

ProgressLine::~ProgressLine() { Say(""); }

void ProgressLine::Show(absl::string_view phase, absl::string_view text) {
  if (console_.verbosity < 0) return;
  MutexLock lock(mu_);
  if (asking_ || text == text_) return;
  const bool new_phase = phase != phase_;
  const absl::Duration now = clock_.Monotonic();
  const absl::Duration period = rewrite_ ? kRewritePeriod : kLinePeriod;
  if (!new_phase && now - line_time_ < period) return;
  phase_ = std::string(phase);
  text_ = std::string(text);
  line_time_ = now;
  const std::string safe = EscapeControlCharacters(text);
  if (rewrite_) {
    // The last column stays free: some terminals wrap when it is written.
    console_.err << kClearLine << CutToWidth(safe, console_.err_width - 1);
    shown_ = true;
  } else {
    console_.err << safe << '\n';
  }
  console_.err << std::flush;
}

void ProgressLine::Say(absl::string_view line) {
  MutexLock lock(mu_);
  Clear();
  if (!line.empty() && console_.verbosity >= 0) {
    console_.err << EscapeControlCharacters(line) << '\n';
  }
  console_.err << std::flush;
}

void ProgressLine::Ask(absl::string_view question) {
  MutexLock lock(mu_);
  Clear();
  asking_ = true;
  console_.err << '\n' << question << std::flush;
}

void ProgressLine::Resume() {
  MutexLock lock(mu_);
  asking_ = false;
}

void ProgressLine::Clear() {
  if (shown_) console_.err << kClearLine;
  shown_ = false;
  phase_.clear();
  text_.clear();
}

}  // namespace traza
