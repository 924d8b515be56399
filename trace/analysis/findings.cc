// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/findings.h"

#include <algorithm>
#include <string>

#include "trace/analysis/finding_parts.h"

namespace traza {
namespace {

int RankOf(const std::string& severity) {
  if (severity == "critical") return 0;
  return severity == "warning" ? 1 : 2;
}

}  // namespace

std::vector<Finding> FindFindings(const Trace& trace, const StepIndex& index,
                                  const std::vector<DeviceLane>& lanes,
                                  const Answer& answer) {
  std::vector<Finding> findings;
  // What needs others comes after them.
  AddStepFindings(trace, index, answer, &findings);
  AddDeviceFindings(trace, lanes, answer, &findings);
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) {
                     return RankOf(a.severity) < RankOf(b.severity);
                   });
  return findings;
}

}  // namespace traza
