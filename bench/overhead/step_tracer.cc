// SPDX-License-Identifier: Apache-2.0
#include "bench/overhead/step_tracer.h"

namespace traza {
namespace {

class OffTracer : public StepTracer {
 public:
  absl::Status Attach() override { return absl::OkStatus(); }
  absl::Status Arm() override { return absl::OkStatus(); }
  absl::Status OpenWindow() override { return absl::OkStatus(); }
  absl::StatusOr<TracerYield> Stop() override { return TracerYield(); }
};

}  // namespace

std::unique_ptr<StepTracer> MakeOffTracer() {
  return std::make_unique<OffTracer>();
}

std::unique_ptr<StepTracer> MakeStepTracer(absl::string_view mode,
                                           const StepTracerOptions& options) {
  if (mode == "off") return MakeOffTracer();
  if (mode == "kineto") return MakeKinetoTracer(options);
  const std::optional<Depth> depth = DepthFromName(mode);
  if (!depth || *depth == Depth::kTiming) return nullptr;
  return MakeOurTracer(options, *depth);
}

}  // namespace traza
