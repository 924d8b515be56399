// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_COPY_RATE_H_
#define TRACE_ANALYSIS_COPY_RATE_H_

#include <optional>

#include "trace/analysis/device_lanes.h"
#include "trace/trace.h"

namespace traza {

// Bytes a second of the copies of a device: what all of them moved by the time
// that they took, each counted by itself (docs/definitions.md B9). None where a
// record does not say what it moved, and where fills take more of the time.
std::optional<double> CopyRateOf(const Trace& trace, const DeviceLane& lane);

}  // namespace traza

#endif  // TRACE_ANALYSIS_COPY_RATE_H_
