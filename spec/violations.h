// SPDX-License-Identifier: Apache-2.0
#ifndef SPEC_VIOLATIONS_H_
#define SPEC_VIOLATIONS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"

#include "base/error.h"

namespace traza {

// INVALID_ARGUMENT for all faults of one request, of which there is at least
// one. The message tells the first and how many follow; `numbers` become
// metadata.
absl::Status ViolationsError(
    Reason reason, const std::vector<FieldViolation>& violations,
    const std::vector<std::pair<std::string, int64_t>>& numbers = {});

}  // namespace traza

#endif  // SPEC_VIOLATIONS_H_
