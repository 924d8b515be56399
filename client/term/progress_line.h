// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_TERM_PROGRESS_LINE_H_
#define CLIENT_TERM_PROGRESS_LINE_H_

#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

#include "base/clock.h"
#include "base/mutex.h"
#include "client/term/console.h"

namespace traza {

// Says how far something is: one line that is rewritten on a terminal;
// elsewhere a line for each phase, and one every 10 s in a long phase. Silent
// with -q.
//
// Thread-safe. `console` and `clock` must outlive it. The destructor clears
// the line.
class ProgressLine {
 public:
  ProgressLine(const Console& console, const Clock& clock);
  ~ProgressLine();

  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // `phase` tells phases apart, `text` is what is shown.
  void Show(absl::string_view phase, absl::string_view text)
      ABSL_LOCKS_EXCLUDED(mu_);
  // Clears the line, and writes `line` for good unless it is empty.
  void Say(absl::string_view line) ABSL_LOCKS_EXCLUDED(mu_);
  // Shows `question` and nothing else until Resume().
  void Ask(absl::string_view question) ABSL_LOCKS_EXCLUDED(mu_);
  void Resume() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void Clear() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Console& console_;
  const Clock& clock_;
  const bool rewrite_;
  Mutex mu_;
  bool shown_ ABSL_GUARDED_BY(mu_) = false;
  bool asking_ ABSL_GUARDED_BY(mu_) = false;
  std::string phase_ ABSL_GUARDED_BY(mu_);
  std::string text_ ABSL_GUARDED_BY(mu_);
  absl::Duration line_time_ ABSL_GUARDED_BY(mu_);
};

}  // namespace traza

#endif  // CLIENT_TERM_PROGRESS_LINE_H_
