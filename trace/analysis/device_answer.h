// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_DEVICE_ANSWER_H_
#define TRACE_ANALYSIS_DEVICE_ANSWER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace traza {

// What a device waited for while it was idle (docs/definitions.md B4). Each ns
// of a gap takes the first that fits; so the classes add up to the idle time
// exactly. Absent: this trace cannot tell.
struct IdleClasses {
  std::optional<int64_t> profiler_ns;  // the tracer was at work
  // The device ran dry before the call that ended the gap was made:
  std::optional<int64_t> sync_ns;  // until the call, the thread synchronised
  std::optional<int64_t> host_ns;  // until the call, it did anything else
  // From the call to the start of its work; of a call that had been made by
  // then, until a launch latency after it.
  std::optional<int64_t> launch_ns;
  // The call had been made by then, and the launch had had its time:
  std::optional<int64_t> dependency_ns;  // the stream waited for an event
  std::optional<int64_t> kernel_gap_ns;  // a gap shorter than the limit below
  std::optional<int64_t> other_ns;       // a longer one
  // The call that ended the gap is not in the trace.
  std::optional<int64_t> unknown_ns;
};

// What happened between the calls that launch work and that work (B5 to B7), of
// the launches in the window. A CUDA graph is one launch, to its first node.
struct LaunchStats {
  int64_t launches = 0;
  int64_t idle = 0;    // all earlier work of the stream had ended at the call
  int64_t queued = 0;  // the others
  // Too late to keep the stream at work: the idle ones, and those that queued
  // for less than a launch latency (the median of those up to 100 us), but for
  // those that waited for an event. Absent in answers of before it was told.
  std::optional<int64_t> late;
  // Call start to kernel start, of the kernels among the idle launches whose
  // stream waited for no event.
  int64_t latency_samples = 0;
  std::optional<int64_t> latency_min_ns, latency_p50_ns, latency_p90_ns,
      latency_p99_ns;
  // How long earlier work kept a queued launch waiting.
  std::optional<int64_t> queueing_p50_ns, queueing_p99_ns;
  // Launches whose work has not begun, and those whose work has not ended: the
  // mean over the window of all streams together, the most of any one stream.
  std::optional<double> waiting_mean, outstanding_mean;
  int64_t waiting_max = 0, outstanding_max = 0;
  int64_t slow_calls = 0;     // calls of more than 50 us
  int64_t slow_launches = 0;  // idle launches with a latency above 100 us
  int64_t short_kernels = 0;  // shorter than the call that launched them
};

// The work of one stream in the window.
struct StreamBusy {
  std::optional<int32_t> stream;  // absent: the work names none
  int64_t busy_ns = 0;            // union of its work
  int64_t records = 0;

  friend bool operator==(const StreamBusy&, const StreamBusy&) = default;
};

// Streams of a device that are told apart: those that work longest.
inline constexpr size_t kMaxStreams = 32;

// Where the time of one device went (docs/definitions.md B3). Shares are of the
// window. Absent is unknown.
struct DeviceBreakdown {
  int32_t device = 0;
  int64_t window_ns = 0;
  int64_t busy_ns = 0;  // union of device work
  int64_t idle_ns = 0;  // window - busy
  int64_t records = 0;

  // busy, by kind: kernels that do not communicate; communication outside of
  // these; the rest, which is copies and fills.
  std::optional<int64_t> compute_ns, communication_ns, copy_ns;
  // Of communication, what ran beside compute; absent without any.
  std::optional<double> communication_overlap;
  // Of copies and fills, what ran beside compute; absent without any.
  std::optional<double> copy_overlap;
  // idle, by place: before the first work, between, after the last. The head is
  // unknown where work was running before the recording.
  std::optional<int64_t> head_ns, inner_ns, tail_ns;
  // From the start of the first work to the end of the last: without the idle
  // ends an overhead-bound device looks busier than it is.
  std::optional<int64_t> span_ns;
  // Union of the work of one traced step, the median.
  std::optional<int64_t> busy_per_step_p50_ns;

  // The longest first, at most kMaxStreams; `stream_count` counts them all.
  // Their sum is above busy_ns where streams work side by side.
  std::vector<StreamBusy> streams;
  int64_t stream_count = 0;

  IdleClasses idle_classes;
  std::optional<int64_t> kernel_gap_limit_ns;  // of kernel_gap
  std::optional<LaunchStats> launches;         // absent without calls
};

}  // namespace traza

#endif  // TRACE_ANALYSIS_DEVICE_ANSWER_H_
