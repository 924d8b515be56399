// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_WINDOW_H_
#define TRACE_ANALYSIS_WINDOW_H_

#include <cstdint>

namespace traza {

// [begin, end) in which device time is accounted for (docs/definitions.md):
// from the start of the first traced step to the later of the last one's end
// and the end of the last device work that a traced step launched. Without
// traced steps the whole file.
struct Window {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;

  int64_t length_ns() const { return end_ns - begin_ns; }
};

}  // namespace traza

#endif  // TRACE_ANALYSIS_WINDOW_H_
