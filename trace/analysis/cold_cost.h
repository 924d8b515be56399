// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_COLD_COST_H_
#define TRACE_ANALYSIS_COLD_COST_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"

#include "trace/trace.h"

namespace traza {

// What a first step spends its time on. Each ns takes the first class that
// fits, so that they add up to the step.
enum class ColdClass : uint8_t {
  kTracer,      // the tracer's own: a buffer that it asks for
  kLoading,     // the driver loads code
  kContext,     // the context of the device is made
  kAllocation,  // memory of the device, or pinned, is allocated or freed
  kSync,        // the CPU waits for the device
  kLaunch,      // calls that launch work
  kSetUp,       // other calls: asking for attributes, setting functions up
  kLibrary,     // operators, outside of calls: libraries make their handles,
                // choose kernels, load themselves
  kRest,        // outside of operators
};
inline constexpr size_t kColdClasses = 9;
// "loading_code", "library_set_up", ...; part of names of numbers.
absl::string_view ColdClassName(ColdClass kind);
// "loading code".
absl::string_view ColdClassText(ColdClass kind);

using ColdCost = std::array<int64_t, kColdClasses>;  // ns, by class

// Of the row, a step or a range, on its thread; of the tracer and of loading on
// any. `calls` that cudaFree is the first of make the context: it is how one
// asks for it. Costs n log n of what lies in the row.
ColdCost ColdCostOf(const Trace& trace, size_t row);

}  // namespace traza

#endif  // TRACE_ANALYSIS_COLD_COST_H_
