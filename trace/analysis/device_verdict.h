// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_DEVICE_VERDICT_H_
#define TRACE_ANALYSIS_DEVICE_VERDICT_H_

#include <optional>
#include <vector>

#include "trace/analysis/answer.h"
#include "trace/analysis/device_lanes.h"
#include "trace/analysis/row_times.h"
#include "trace/trace.h"

namespace traza {

// The thresholds of docs/definitions.md B11.
inline constexpr double kOverheadBoundFrom = 0.5;
inline constexpr double kGpuBoundFrom = 0.8;
// Chosen: from here on waiting or working is the limit however launches found
// their streams.
inline constexpr double kClearFrom = 0.9;
inline constexpr double kCopyBoundFrom = 0.5;
inline constexpr double kUnlikeFrom = 0.1;  // what tracing may add to a step
// Share of kernels for tensor cores from which work without known FLOP is
// called compute-bound (architecture.md section 7).
inline constexpr double kMatrixBoundFrom = 0.7;

// One side of B11: with the numbers of the traced steps, or with those that
// follow for the untraced ones.
struct VerdictSide {
  double busy = 0;  // u, of the time
  // h: waiting for the host to launch, to synchronise, or for the launch; of
  // the time. Absent without calls.
  std::optional<double> waiting;
  double sync_part = 0;  // of `waiting`
  double copies = 0;     // of the time
  // Bytes a second while they copy; absent where that is not known.
  std::optional<double> copy_rate;
  // Of the launches, those that came too late to keep their stream at work.
  // Absent without calls.
  std::optional<double> late_launches;
  // Of the time of device work.
  double matrix = 0;
  // Left of the ridge of the roofline; absent where FLOP, bytes or roofs are
  // unknown: then `matrix` decides.
  std::optional<bool> memory_bound;
};

// None where launches would be needed to tell.
std::optional<VerdictKind> Decide(const VerdictSide& side);

// Whether the median launch says the opposite of the verdict, which then rests
// on a share of kClearFrom alone.
bool IsAgainstLaunches(const VerdictSide& side);

// The verdict of B11 on the device that worked longest. Needs the breakdown of
// `answer`, and adds to its note why there is none.
std::optional<Verdict> MakeDeviceVerdict(const Trace& trace,
                                         const RowTimes& times,
                                         const std::vector<DeviceLane>& lanes,
                                         Answer* answer);

}  // namespace traza

#endif  // TRACE_ANALYSIS_DEVICE_VERDICT_H_
