// SPDX-License-Identifier: Apache-2.0
#ifndef BASE_ESCAPE_LINES_H_
#define BASE_ESCAPE_LINES_H_

#include <string>

#include "absl/strings/string_view.h"

namespace traza {

// A text of several lines, safe for a terminal: every line as
// EscapeControlCharacters() has it, those after the first one indented by
// `indent` spaces, empty ones left out. For what PyTorch or a worker said.
std::string EscapeLines(absl::string_view text, int indent);

}  // namespace traza

#endif  // BASE_ESCAPE_LINES_H_
