// SPDX-License-Identifier: Apache-2.0
#ifndef BASE_CHECK_H_
#define BASE_CHECK_H_

#include "absl/base/optimization.h"

namespace traza::internal {

// Prints "file:line: check failed: condition" and aborts.
[[noreturn]] void CheckFailed(const char* file, int line,
                              const char* condition);

}  // namespace traza::internal

// Ends the process when an invariant of our own is broken. Never for input,
// disk, peer or GPU behaviour: those are a Status.
#define TRAZA_CHECK(condition)  \
  (ABSL_PREDICT_TRUE(condition) \
       ? static_cast<void>(0)   \
       : ::traza::internal::CheckFailed(__FILE__, __LINE__, #condition))

#endif  // BASE_CHECK_H_
