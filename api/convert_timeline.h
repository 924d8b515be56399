// SPDX-License-Identifier: Apache-2.0
#ifndef API_CONVERT_TIMELINE_H_
#define API_CONVERT_TIMELINE_H_

#include "trace/analysis/timeline.h"
#include "traza/v1/trace.pb.h"

namespace traza {

// A part of a trace as the API has it. Absent stays absent; bytes of names that
// are no UTF-8 become U+FFFD.
v1::Timeline ToProto(const Timeline& timeline);

}  // namespace traza

#endif  // API_CONVERT_TIMELINE_H_
