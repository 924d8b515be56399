// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <vector>

#include "absl/status/status.h"

#include "trace/analysis/answer.h"
#include "trace/analysis/breakdown.h"
#include "trace/analysis/device_lanes.h"
#include "trace/analysis/expectations.h"
#include "trace/analysis/findings.h"
#include "trace/analysis/launches.h"
#include "trace/analysis/notes.h"
#include "trace/analysis/row_times.h"
#include "trace/analysis/step_index.h"
#include "trace/analysis/steps.h"
#include "trace/analysis/structure.h"
#include "trace/analysis/validity.h"
#include "trace/analysis/verdict.h"

namespace traza {
namespace {

Answer ContextOf(const Trace& trace) {
  const Header& header = trace.header;
  Answer answer;
  answer.completeness = header.completeness;
  answer.fingerprint = header.fingerprint;
  answer.workload = header.job.workload;
  answer.variant = header.job.variant;
  answer.device =
      header.device.id.empty() ? header.job.device : header.device.id;
  answer.device_model = header.device.model;
  answer.params = header.job.params;
  answer.partial = header.partial;
  answer.events = static_cast<int64_t>(trace.rows());
  return answer;
}

std::vector<DeviceBreakdown> BreakdownOf(const Trace& trace,
                                         const StepIndex& index,
                                         const std::vector<DeviceLane>& lanes) {
  std::vector<DeviceBreakdown> breakdown =
      AnalyzeBreakdown(trace, index, lanes);
  const auto launches = AnalyzeLaunches(trace, lanes);
  for (size_t i = 0; i < breakdown.size(); ++i) {
    breakdown[i].launches = launches[i];
  }
  return breakdown;
}

}  // namespace

Answer Explain(const Trace& trace) {
  Answer answer = ExplainUnasked(trace);
  answer.expectations = AnswerExpectations(trace, answer);
  return answer;
}

Answer ExplainUnasked(const Trace& trace) {
  Answer answer = ContextOf(trace);
  // References out of bounds would be followed below.
  if (const absl::Status fault = Validate(trace); !fault.ok()) {
    answer.validity = JudgeDamaged(fault);
    return answer;
  }
  const RowTimes times(trace);
  const StepIndex index(trace);
  const std::vector<DeviceLane> lanes = DeviceLanesOf(trace, index);
  answer.steps = AnalyzeSteps(trace, index);
  answer.validity = JudgeValidity(trace, answer.steps);
  answer.breakdown = BreakdownOf(trace, index, lanes);
  answer.structure = AnalyzeStructure(trace, times, index, lanes);
  if (!times.has_device_work()) answer.note = trace.header.collector_note;
  if (answer.steps.timed.has_value() && trace.header.timed.armed_before) {
    AddNote(
        "Collection had been on before the timed steps: they may be slower "
        "than without it.",
        &answer);
  }
  if (trace.header.job.l2 == L2Policy::kFlush) {
    AddNote(
        "The L2 cache was flushed before each timed and traced step: every "
        "step was timed alone, from an idle device until its work was done, so "
        "its launches hide behind no other step. The flushes are in no time.",
        &answer);
  }
  if (answer.structure.averaged) {
    AddNote(
        "Calls were not recorded, so no step is known of device work: it is "
        "taken by time, and steps are as the CPU saw them.",
        &answer);
  }
  answer.verdict = MakeVerdict(trace, times, lanes, &answer);
  answer.findings = FindFindings(trace, times, index, lanes, answer);
  return answer;
}

}  // namespace traza
