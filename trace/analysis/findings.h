// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_FINDINGS_H_
#define TRACE_ANALYSIS_FINDINGS_H_

#include <vector>

#include "trace/analysis/answer.h"
#include "trace/analysis/device_lanes.h"
#include "trace/analysis/row_times.h"
#include "trace/analysis/step_index.h"
#include "trace/trace.h"

namespace traza {

// What stands out and can be proven from the trace, the most severe first.
// Needs the rest of `answer`, verdict included. In steps means: in traced ones.
//
// Of steps (step_findings.cc):
//   cold-step               info: the first cold step took at least three times
//                           as long as a timed one (a traced one where none was
//                           timed)
//   sync-in-step            warning: the CPU waited for the device
//   alloc-in-step           warning: memory was allocated or freed at once
//   module-loading-in-step  warning: the driver loaded code
//   unstable-kernel-count   warning: steps do not do the same device work
//   profiler-perturbed-step info, a warning where they are many: the tracer was
//                           at work
// Of devices (device_findings.cc):
//   overhead-bound          warning: as the verdict says
//   host-gap                warning: single long waits for the host add up
//   pageable-copy           warning: copies from or to memory that is not
//                           pinned
//   graph-candidate         info: overhead-bound, and each step launches the
//                           same work with nothing in between that a CUDA graph
//                           cannot hold
// Of kernels (kernel_findings.cc):
//   low-occupancy           info: a kernel that takes much of the device time,
//                           and is not one for tensor cores, which want few
//                           warps, can have less than half of the warps active
//   small-grid              info: kernels that take much of the device time
//                           have fewer blocks than there are multiprocessors
std::vector<Finding> FindFindings(const Trace& trace, const RowTimes& times,
                                  const StepIndex& index,
                                  const std::vector<DeviceLane>& lanes,
                                  const Answer& answer);

}  // namespace traza

#endif  // TRACE_ANALYSIS_FINDINGS_H_
