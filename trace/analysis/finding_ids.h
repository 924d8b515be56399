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
  kColdSteps,    // steps recorded from the first
  kDeviceWork,   // a device that was watched (depth kernels)
  kCalls,        // and the calls that launch its work (depth launches)
  kOccupancy,    // kernels with a known occupancy
  kGrid,         // kernels with a known grid, on a known GPU
  kStepsOfWork,  // device work that says in which step it was launched
  kTracerWork,   // the tracer's own work
  kVerdict,      // a verdict
};

struct FindingId {
  const char* id;
  FindingNeeds needs;
};

// Every finding that FindFindings can make; findings.h says what they mean.
inline constexpr std::array kFindingIds = {
    FindingId{"cold-step", FindingNeeds::kColdSteps},
    FindingId{"sync-in-step", FindingNeeds::kCalls},
    FindingId{"alloc-in-step", FindingNeeds::kCalls},
    FindingId{"module-loading-in-step", FindingNeeds::kCalls},
    FindingId{"unstable-kernel-count", FindingNeeds::kStepsOfWork},
    FindingId{"profiler-perturbed-step", FindingNeeds::kTracerWork},
    FindingId{"overhead-bound", FindingNeeds::kVerdict},
    FindingId{"host-gap", FindingNeeds::kCalls},
    FindingId{"pageable-copy", FindingNeeds::kDeviceWork},
    FindingId{"graph-candidate", FindingNeeds::kCalls},
    FindingId{"low-occupancy", FindingNeeds::kOccupancy},
    FindingId{"small-grid", FindingNeeds::kGrid},
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
