// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_VALIDITY_H_
#define TRACE_ANALYSIS_VALIDITY_H_

#include "absl/status/status.h"

#include "trace/analysis/answer.h"
#include "trace/header.h"
#include "trace/trace.h"

namespace traza {

// Whether the trace was made with nothing that could see a device: then what
// only a device can lose does not apply.
bool HasNoDeviceCollector(const Trace& trace);

// Every criterion, in a fixed order, and the level that follows. What is
// unknown is said to be and counts as missed, never as zero; what cannot apply
// says so and counts as met. Throttling and other processes are judged only
// where they were looked at.
Validity JudgeValidity(const Trace& trace, const StepsAnswer& steps);

// The one criterion that can be judged of a damaged trace.
Validity JudgeDamaged(const absl::Status& fault);

}  // namespace traza

#endif  // TRACE_ANALYSIS_VALIDITY_H_
