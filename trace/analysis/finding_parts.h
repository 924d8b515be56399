// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_FINDING_PARTS_H_
#define TRACE_ANALYSIS_FINDING_PARTS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "trace/analysis/answer.h"
#include "trace/analysis/device_lanes.h"
#include "trace/analysis/step_index.h"
#include "trace/trace.h"

namespace traza {

// Shared by the files of FindFindings, which add theirs to a list.
void AddStepFindings(const Trace& trace, const StepIndex& index,
                     const Answer& answer, std::vector<Finding>* findings);
void AddDeviceFindings(const Trace& trace, const std::vector<DeviceLane>& lanes,
                       const Answer& answer, std::vector<Finding>* findings);

void AddKernelFindings(const Trace& trace, const std::vector<DeviceLane>& lanes,
                       std::vector<Finding>* findings);

// Of the rows that show a finding, as many are named.
inline constexpr size_t kMaxEventIds = 16;

inline Number NsNumber(int64_t ns) {
  return {static_cast<double>(ns), "ns", "", ""};
}
inline Number CountNumber(int64_t count) {
  return {static_cast<double>(count), "count", "", ""};
}
inline Number RatioNumber(double value, std::string numerator,
                          std::string denominator) {
  return {value, "ratio", std::move(numerator), std::move(denominator)};
}

inline void AddEventId(size_t row, Finding* finding) {
  if (finding->event_ids.size() < kMaxEventIds) {
    finding->event_ids.push_back(static_cast<int64_t>(row));
  }
}

}  // namespace traza

#endif  // TRACE_ANALYSIS_FINDING_PARTS_H_
