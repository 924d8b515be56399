// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"

#include <cstdlib>

#include "base/log.h"

namespace traza::internal {

void CheckFailed(const char* file, int line, const char* condition) {
  LogError(file, ":", line, ": check failed: ", condition);
  std::abort();
}

}  // namespace traza::internal
