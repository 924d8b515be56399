// SPDX-License-Identifier: Apache-2.0
#include "base/escape_lines.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include "base/utf8.h"

namespace traza {

std::string EscapeLines(absl::string_view text, int indent) {
  const std::string margin(static_cast<size_t>(indent), ' ');
  std::string out;
  for (absl::string_view line :
       absl::StrSplit(text, '\n', absl::SkipWhitespace())) {
    absl::StrAppend(&out, out.empty() ? "" : "\n", out.empty() ? "" : margin,
                    EscapeControlCharacters(line));
  }
  return out;
}

}  // namespace traza
