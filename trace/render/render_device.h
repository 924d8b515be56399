// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_RENDER_RENDER_DEVICE_H_
#define TRACE_RENDER_RENDER_DEVICE_H_

#include <vector>

#include "trace/analysis/answer.h"
#include "trace/render/page.h"

namespace traza {

// The parts of an answer that only work on a device has.

// Where the time of each device went, and how its work was launched.
void AddDevices(const std::vector<DeviceBreakdown>& devices, Page* page);

// The numbers of a verdict with their thresholds, and what lowered its
// confidence; nothing for one about the CPU alone.
void AddGrounds(const Verdict& verdict, Page* page);

}  // namespace traza

#endif  // TRACE_RENDER_RENDER_DEVICE_H_
