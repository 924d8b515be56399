// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_RENDER_COUNTERS_H_
#define TRACE_RENDER_COUNTERS_H_

#include <string>

#include "trace/analysis/answer.h"

namespace traza {

// "1,234 events; nothing lost; ...": what was lost, what is unknown, and what
// cannot apply since no device worked.
std::string CompletenessText(const Answer& answer);

}  // namespace traza

#endif  // TRACE_RENDER_COUNTERS_H_
