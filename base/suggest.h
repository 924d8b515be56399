// SPDX-License-Identifier: Apache-2.0
#ifndef BASE_SUGGEST_H_
#define BASE_SUGGEST_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace traza {

// The known word that `typed` was probably meant to be, or nothing ("") when
// none is near: one whose beginning was typed, or at most a third of whose
// letters differ (swapped neighbours count as one).
std::string Suggest(absl::string_view typed,
                    const std::vector<std::string>& known);

}  // namespace traza

#endif  // BASE_SUGGEST_H_
