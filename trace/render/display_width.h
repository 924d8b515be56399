// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_RENDER_DISPLAY_WIDTH_H_
#define TRACE_RENDER_DISPLAY_WIDTH_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace traza {

// Text by the columns that it takes in a terminal (DisplayWidth in render.h).
// Foreign text has to be escaped before.

// `text` in at most `width` columns: its middle becomes "..." where it is
// longer. Names of kernels differ at both ends.
std::string CutMiddle(absl::string_view text, int width);

std::string PadRight(absl::string_view text, int width);
std::string PadLeft(absl::string_view text, int width);

// Breaks at spaces into lines of at most `width` columns; a longer word gets a
// line of its own. One line where `width` <= 0.
std::vector<std::string> WrapWords(absl::string_view text, int width);

}  // namespace traza

#endif  // TRACE_RENDER_DISPLAY_WIDTH_H_
