// SPDX-License-Identifier: Apache-2.0
#ifndef BENCH_OVERHEAD_STEP_TRACER_H_
#define BENCH_OVERHEAD_STEP_TRACER_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "spec/job_spec.h"
#include "spec/worker_description.h"

namespace traza {

// What a tracer has to show for its cost.
struct TracerYield {
  int64_t rows = 0;     // operators, ranges, calls and device work
  int64_t kernels = 0;  // of them
  // Of CUPTI's buffers inside the window; absent where nothing counts them.
  std::optional<int64_t> requests;
  std::optional<int64_t> misses;
};

struct StepTracerOptions {
  DeviceDescription device;
  int64_t steps = 0;  // in the window
  double ops_per_step = 0;
  double device_records_per_step = 0;
};

// One way to trace steps, for step_overhead. At most one in a process: all of
// them keep something of CUPTI or of PyTorch until it ends.
//
// Called once each, in this order, on the thread that runs the steps: Attach,
// before the first context on the device; Arm; a few steps that prime;
// OpenWindow; the steps that are measured; Stop, when the device has finished.
class StepTracer {
 public:
  virtual ~StepTracer() = default;

  virtual absl::Status Attach() = 0;
  virtual absl::Status Arm() = 0;
  virtual absl::Status OpenWindow() = 0;
  // Until the records are in memory and can be read.
  virtual absl::StatusOr<TracerYield> Stop() = 0;
};

// Traces nothing.
std::unique_ptr<StepTracer> MakeOffTracer();
// As worker/session.cc does, at a depth other than timing.
std::unique_ptr<StepTracer> MakeOurTracer(const StepTracerOptions& options,
                                          Depth depth);
// PyTorch's own profiler, through its C++ interface.
std::unique_ptr<StepTracer> MakeKinetoTracer(const StepTracerOptions& options);

// "off", "kernels", "launches", "ops", "shapes" or "kineto"; null for another.
std::unique_ptr<StepTracer> MakeStepTracer(absl::string_view mode,
                                           const StepTracerOptions& options);

}  // namespace traza

#endif  // BENCH_OVERHEAD_STEP_TRACER_H_
