// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_CALLS_WITHOUT_WORK_H_
#define TRACE_CALLS_WITHOUT_WORK_H_

#include <cstdint>

#include "trace/header.h"

namespace traza {

// Calls that asked a device for work of which there is no record, lost or not
// sure to be: where there are some, a device worked. Unknown counts as none.
inline int64_t CallsWithoutWork(const Completeness& completeness) {
  return completeness.missing_gpu.value_or(0) +
         completeness.unsure_gpu.value_or(0);
}

}  // namespace traza

#endif  // TRACE_CALLS_WITHOUT_WORK_H_
