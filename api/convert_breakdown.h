// SPDX-License-Identifier: Apache-2.0
#ifndef API_CONVERT_BREAKDOWN_H_
#define API_CONVERT_BREAKDOWN_H_

#include "trace/analysis/device_answer.h"
#include "traza/v1/trace.pb.h"

namespace traza {

// The part of an answer that is about one device, both ways. The message has
// shares of the window beside each time; times alone come back.
v1::DeviceBreakdown ToProto(const DeviceBreakdown& from);
DeviceBreakdown FromProto(const v1::DeviceBreakdown& from);

}  // namespace traza

#endif  // API_CONVERT_BREAKDOWN_H_
