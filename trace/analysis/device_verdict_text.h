// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_DEVICE_VERDICT_TEXT_H_
#define TRACE_ANALYSIS_DEVICE_VERDICT_TEXT_H_

#include <optional>
#include <string>

#include "trace/analysis/device_answer.h"
#include "trace/analysis/device_verdict.h"
#include "trace/analysis/roofline.h"

namespace traza {

// "The device works 8.02 % of the time (8.73 % untraced) and ...", a sentence.
std::string DeviceVerdictText(VerdictKind kind, const VerdictSide& traced,
                              const std::optional<VerdictSide>& untraced,
                              const DeviceBreakdown& device);

// " It does 682 FLOP a byte of tensors, above the ridge of 183 FLOP, at 88.0 %
// of the roof.": a sentence to add; empty where it covers too little.
std::string RooflineText(const std::optional<Roofline>& roofline);

}  // namespace traza

#endif  // TRACE_ANALYSIS_DEVICE_VERDICT_TEXT_H_
