// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_DEVICE_LANES_H_
#define TRACE_ANALYSIS_DEVICE_LANES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "trace/analysis/launch_queue.h"
#include "trace/analysis/step_index.h"
#include "trace/analysis/window.h"
#include "trace/trace.h"

namespace traza {

// The window of the trace; none without rows.
//
// Without calls nothing says what launched the work (depth kernels): then work
// that starts in the traced phase after the first step began counts as that of
// the steps, for the phase ends only when the device has done all of it.
std::optional<Window> WindowOf(const Trace& trace, const StepIndex& steps);

// Whether calls were recorded, so that launches are known.
bool HasCalls(const Trace& trace);

// Classes of IdleClasses.
enum class IdleClass : uint8_t {
  kProfiler,
  kSync,
  kHost,
  kLaunch,
  kDependency,
  kKernelGap,
  kOther,
  kUnknown,
};
inline constexpr size_t kIdleClasses = 8;

inline constexpr size_t kNoEvent = static_cast<size_t>(-1);

// A part of a gap in the work of a device, all of one class.
struct IdlePiece {
  int64_t begin_ns;
  int64_t end_ns;
  IdleClass kind;
  size_t next;  // row of the work that ends the gap; kNoEvent after the last
};

// The work of one device in the window.
struct DeviceLane {
  int32_t device = 0;
  Window window;
  // False where work was running before the recording: then the window of the
  // device starts with its first work.
  bool head_known = true;
  // Whether the trace says which work its streams waited for.
  bool waits_known = false;
  std::vector<size_t> rows;      // by start; what reaches into the window
  std::vector<IdlePiece> idle;   // by start
  std::vector<Launch> launches;  // called in the window, by the start of work
  // From a call on to its kernel where nothing else held it, the median (B5):
  // what a launch takes. Absent where no kernel was launched so.
  std::optional<int64_t> launch_latency_ns;
  int64_t busy_ns = 0;  // union of the rows, clipped to the window
  // In which the device did nothing but write over its L2 cache between steps,
  // or wait for that: of no step, no idle time and not of the window.
  int64_t left_out_ns = 0;
  int64_t first_ns = 0;  // start of the first work, in the window
  int64_t last_ns = 0;   // end of the last

  // What shares are of.
  int64_t window_ns() const { return window.length_ns() - left_out_ns; }
};

// Gaps between queued kernels are shorter than this: on an H200 they start at
// 0.8 us, with a median of 1.0 to 1.4 us (docs/definitions.md B4).
inline constexpr int64_t kKernelGapLimitNs = 2'000;

// One a device that did work, by number; `idle` is split by docs/definitions.md
// B4.
std::vector<DeviceLane> DeviceLanesOf(
    const Trace& trace, const StepIndex& steps,
    int64_t kernel_gap_limit_ns = kKernelGapLimitNs);

}  // namespace traza

#endif  // TRACE_ANALYSIS_DEVICE_LANES_H_
