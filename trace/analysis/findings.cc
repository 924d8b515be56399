// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/findings.h"

#include <algorithm>
#include <string>

#include "trace/analysis/finding_parts.h"
#include "trace/analysis/statistics.h"

namespace traza {
namespace {

int RankOf(const std::string& severity) {
  if (severity == "critical") return 0;
  return severity == "warning" ? 1 : 2;
}

}  // namespace

std::vector<Finding> FindFindings(const Trace& trace, const RowTimes& times,
                                  const StepIndex& index,
                                  const std::vector<DeviceLane>& lanes,
                                  const Answer& answer) {
  FindingInput in{.trace = trace,
                  .times = times,
                  .steps = index,
                  .lanes = lanes,
                  .answer = answer,
                  .streams = StreamsOf(trace, lanes),
                  .names = KernelNames(trace),
                  .pointwise = PointwiseWorks(trace)};
  for (const DeviceLane& lane : lanes) {
    for (const size_t row : lane.rows) {
      in.device_ns = AddSaturating(in.device_ns, trace.duration_ns[row]);
    }
  }
  std::vector<Finding> findings;
  // What needs others comes after them.
  AddColdFindings(in, &findings);
  AddStateFindings(in, &findings);
  AddStepFindings(trace, index, answer, &findings);
  if (!lanes.empty()) {
    AddDeviceFindings(in, &findings);
    AddCopyFindings(in, &findings);
    AddDominantFindings(in, &findings);
    AddGemmFindings(in, &findings);
    AddProductFindings(in, &findings);
    AddConvolutionFindings(in, &findings);
    AddAttentionFindings(in, &findings);
    AddFusionFindings(in, &findings);
    AddPrecisionFindings(in, &findings);
    AddKernelFindings(in, &findings);
    AddGraphFindings(in, &findings);
    AddOpFindings(in, &findings);
  }
  std::ranges::stable_sort(findings, [](const Finding& a, const Finding& b) {
    return RankOf(a.severity) < RankOf(b.severity);
  });
  return findings;
}

}  // namespace traza
