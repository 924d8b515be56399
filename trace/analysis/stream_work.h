// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_STREAM_WORK_H_
#define TRACE_ANALYSIS_STREAM_WORK_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

#include "trace/analysis/device_lanes.h"
#include "trace/trace.h"

namespace traza {

// The work of one stream of a device in its window, by start. Work that names
// no stream is that of one stream.
struct StreamWork {
  int32_t device = 0;
  int32_t stream = 0;
  std::vector<size_t> rows;
};

// By device, then by stream.
std::vector<StreamWork> StreamsOf(const Trace& trace,
                                  const std::vector<DeviceLane>& lanes);

// Row of the innermost operator that caused the work; kNoEvent where unknown.
size_t OpOf(const Trace& trace, size_t row);
// The number of a name; below 0 where no row has it.
int32_t FindName(const Trace& trace, absl::string_view name);
// The op of the work, or an op around it, whose name has that number.
size_t OpAround(const Trace& trace, size_t row, int32_t name);
// The outermost operator around the op; itself where there is none.
size_t OutermostOp(const Trace& trace, size_t op);
// "aten::to > aten::copy_": outermost and innermost operator of the work;
// empty where unknown.
std::string OpPath(const Trace& trace, size_t row);

// Whether the device work is a node of a CUDA graph: it says so, or the call
// that launched it does.
bool IsGraphNode(const Trace& trace, size_t row);
// False where no row can be one.
bool HasGraphs(const Trace& trace);

}  // namespace traza

#endif  // TRACE_ANALYSIS_STREAM_WORK_H_
