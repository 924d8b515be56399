// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_RECORD_H_
#define TRACE_RECORD_H_

#include <array>
#include <cstdint>
#include <limits>
#include <optional>

#include "absl/strings/string_view.h"

namespace traza {

// What one row of a trace is. The order is part of no format: files hold the
// names.
enum class EventKind : uint8_t {
  kPhase,     // a phase of the job (spec/phase.h)
  kStep,      // one step of the workload
  kRange,     // a named scope that the workload opened
  kOp,        // a PyTorch operator on a CPU thread
  kCall,      // a CUDA API call on a CPU thread
  kKernel,    // device work
  kCopy,      // device work: memory copy
  kFill,      // device work: memset
  kSync,      // a wait of the CPU or of a stream
  kOverhead,  // time of the tracer or the driver beside the work; in no total
  kAlloc,     // an allocation (+) or a free (-)
  kCounter,   // a sampled value
};

inline constexpr std::array kAllEventKinds = {
    EventKind::kPhase,    EventKind::kStep,  EventKind::kRange,
    EventKind::kOp,       EventKind::kCall,  EventKind::kKernel,
    EventKind::kCopy,     EventKind::kFill,  EventKind::kSync,
    EventKind::kOverhead, EventKind::kAlloc, EventKind::kCounter};

// "phase", "step", ...: the spelling in files and in every output.
absl::string_view EventKindName(EventKind kind);
std::optional<EventKind> EventKindFromName(absl::string_view name);

// The overhead row of the writing over the L2 cache between two steps, from the
// return of the first to the call of the second (L2Policy::kFlush).
inline constexpr char kL2FlushName[] = "l2 flush";

// Kernels, copies and fills.
constexpr bool IsDeviceWork(EventKind kind) {
  return kind == EventKind::kKernel || kind == EventKind::kCopy ||
         kind == EventKind::kFill;
}

// The value of an integer cell that does not apply or is not known. It is
// null in files and absent in outputs, never zero.
template <typename T>
inline constexpr T kNull = std::numeric_limits<T>::min();

}  // namespace traza

#endif  // TRACE_RECORD_H_
