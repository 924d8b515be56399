// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_FINDING_IDS_H_
#define TRACE_ANALYSIS_FINDING_IDS_H_

#include <algorithm>
#include <array>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace traza {

// What a trace has to hold for a finding to be absent because it is not there,
// and not because nobody looked.
enum class FindingNeeds : uint8_t {
  kColdSteps,       // steps recorded from the first, and others
  kDeviceWork,      // a device that was watched (depth kernels)
  kHostMemory,      // and copies that say which memory of the host is pinned
  kCalls,           // and the calls that launch its work (depth launches)
  kStepCalls,       // calls, and marked steps
  kOps,             // and the operators that call (depth ops)
  kOccupancy,       // kernels with a known occupancy
  kGrid,            // kernels with a known grid, on a known GPU
  kStepsOfWork,     // device work that says in which step it was launched
  kTracerWork,      // the tracer's own work
  kThrottling,      // why the clocks of the device were held down
  kOtherProcesses,  // who else was on the device
  kVerdict,         // a verdict
};

struct FindingId {
  const char* id;
  FindingNeeds needs;
};

// Every finding that FindFindings can make; docs/findings.md has a chapter for
// each, with what it means, how it is computed and its thresholds.
inline constexpr std::array kFindingIds = {
    // Of steps (step_findings.cc, cold_findings.cc).
    FindingId{"cold-step", FindingNeeds::kColdSteps},
    FindingId{"sync-in-step", FindingNeeds::kStepCalls},
    FindingId{"alloc-in-step", FindingNeeds::kStepCalls},
    FindingId{"module-loading-in-step", FindingNeeds::kStepCalls},
    FindingId{"unstable-kernel-count", FindingNeeds::kStepsOfWork},
    FindingId{"profiler-perturbed-step", FindingNeeds::kTracerWork},
    // Of the state of the device (state_findings.cc).
    FindingId{"throttled", FindingNeeds::kThrottling},
    FindingId{"contended", FindingNeeds::kOtherProcesses},
    // Of what devices wait for (device_findings.cc, copy_findings.cc,
    // graph_findings.cc).
    FindingId{"overhead-bound", FindingNeeds::kVerdict},
    FindingId{"host-gap", FindingNeeds::kCalls},
    FindingId{"pageable-copy", FindingNeeds::kHostMemory},
    FindingId{"graph-replayed", FindingNeeds::kDeviceWork},
    FindingId{"graph-candidate", FindingNeeds::kStepsOfWork},
    // Of kernels (dominant_, kernel_, gemm_, product_, convolution_,
    // precision_, fusion_ and attention_findings.cc).
    FindingId{"dominant-kernels", FindingNeeds::kDeviceWork},
    FindingId{"low-occupancy", FindingNeeds::kOccupancy},
    FindingId{"small-grid", FindingNeeds::kGrid},
    FindingId{"copy-before-gemm", FindingNeeds::kOps},
    FindingId{"epilogue-fused", FindingNeeds::kOps},
    FindingId{"layout", FindingNeeds::kDeviceWork},
    FindingId{"same-gpu-work", FindingNeeds::kOps},
    FindingId{"layout-conversion", FindingNeeds::kDeviceWork},
    FindingId{"dtype-upcast", FindingNeeds::kDeviceWork},
    FindingId{"tensor-cores-unused", FindingNeeds::kDeviceWork},
    FindingId{"unfused-pointwise", FindingNeeds::kGrid},
    FindingId{"attention-backend", FindingNeeds::kDeviceWork},
    // Of operators (op_findings.cc).
    FindingId{"metadata-only-op", FindingNeeds::kOps},
    FindingId{"compiled-region", FindingNeeds::kOps},
};

// Null when there is none of that id.
constexpr const FindingId* FindFindingId(absl::string_view id) {
  const auto* found = std::ranges::find(
      kFindingIds, id,
      [](const FindingId& entry) { return absl::string_view(entry.id); });
  return found == kFindingIds.end() ? nullptr : found;
}

}  // namespace traza

#endif  // TRACE_ANALYSIS_FINDING_IDS_H_
