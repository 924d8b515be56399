// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_RENDER_RENDER_H_
#define TRACE_RENDER_RENDER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

#include "trace/analysis/answer.h"
#include "trace/analysis/check.h"
#include "trace/analysis/table.h"

namespace traza {

struct RenderOptions {
  int width = 100;  // columns of the terminal
  bool color = false;
};

// Answers as text for a terminal; the last line of RenderAnswer is always
// "Verdict: KIND ..." (or "Verdict: none, ..." for an INVALID trace).
std::string RenderTable(const Table& table, const RenderOptions& options);
std::string RenderAnswer(const Answer& answer, const RenderOptions& options);
// One line a check, "PASS     EXPRESSION  (VALUE)", with the message below it
// unless it passed, and "Checks: N of N passed".
std::string RenderChecks(const std::vector<CheckResult>& results,
                         const RenderOptions& options);

// "1.23 ms", "45.6 us", "789 ns"; never a rounded zero for a non-zero time.
std::string FormatNs(double ns);
// "1.5 MiB", "12 B".
std::string FormatBytes(double bytes);
// Columns that `text` takes in a terminal (UTF-8; wide characters count 2).
int DisplayWidth(absl::string_view text);

}  // namespace traza

#endif  // TRACE_RENDER_RENDER_H_
