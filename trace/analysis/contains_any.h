// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_CONTAINS_ANY_H_
#define TRACE_ANALYSIS_CONTAINS_ANY_H_

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace traza {

// Whether one of the words, an array of them, is somewhere in the text.
template <typename Words>
bool ContainsAny(absl::string_view text, const Words& words) {
  return std::ranges::any_of(words, [&](absl::string_view word) {
    return absl::StrContains(text, word);
  });
}

}  // namespace traza

#endif  // TRACE_ANALYSIS_CONTAINS_ANY_H_
