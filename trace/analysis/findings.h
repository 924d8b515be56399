// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_FINDINGS_H_
#define TRACE_ANALYSIS_FINDINGS_H_

#include <array>
#include <vector>

#include "absl/strings/string_view.h"

#include "trace/analysis/answer.h"
#include "trace/analysis/device_lanes.h"
#include "trace/analysis/row_times.h"
#include "trace/analysis/step_index.h"
#include "trace/trace.h"

namespace traza {

// Every id that a finding can have; docs/findings.md has a chapter for each,
// with what it means, how it is computed and its thresholds.
inline constexpr std::array<absl::string_view, 25> kFindingIds = {
    // Of steps (step_findings.cc, cold_findings.cc).
    "cold-step",
    "sync-in-step",
    "alloc-in-step",
    "module-loading-in-step",
    "unstable-kernel-count",
    "profiler-perturbed-step",
    // Of the state of the device (state_findings.cc).
    "throttled",
    "contended",
    // Of what devices wait for (device_findings.cc, copy_findings.cc,
    // graph_findings.cc).
    "overhead-bound",
    "host-gap",
    "pageable-copy",
    "graph-replayed",
    "graph-candidate",
    // Of kernels (dominant_, kernel_, gemm_, precision_, fusion_ and
    // attention_findings.cc).
    "dominant-kernels",
    "low-occupancy",
    "small-grid",
    "copy-before-gemm",
    "epilogue-fused",
    "layout",
    "same-gpu-work",
    "dtype-upcast",
    "tensor-cores-unused",
    "unfused-pointwise",
    "attention-backend",
    // Of operators (op_findings.cc).
    "metadata-only-op",
};

// What stands out and can be proven from the trace, the most severe first.
// Needs the rest of `answer`, verdict included. In steps means: in traced ones.
// What rests on the names of kernels says nothing of names that it does not
// know.
std::vector<Finding> FindFindings(const Trace& trace, const RowTimes& times,
                                  const StepIndex& index,
                                  const std::vector<DeviceLane>& lanes,
                                  const Answer& answer);

}  // namespace traza

#endif  // TRACE_ANALYSIS_FINDINGS_H_
