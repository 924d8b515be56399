// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "ATen/record_function.h"
#include "ActivityType.h"
#include "torch/csrc/autograd/profiler_kineto.h"

#include "bench/overhead/step_tracer.h"

namespace traza {
namespace {

namespace impl = torch::profiler::impl;
namespace profiler = torch::autograd::profiler;

// torch.profiler with its defaults, as its Python side drives it: preparing it
// switches CUPTI on, so the steps that follow are its warm-up.
class KinetoTracer : public StepTracer {
 public:
  explicit KinetoTracer(const StepTracerOptions& options)
      : config_(impl::ProfilerState::KINETO),
        activities_({impl::ActivityType::CPU}) {
    if (options.device.kind != DeviceKind::kCpu) {
      activities_.insert(impl::ActivityType::CUDA);
    }
  }

  absl::Status Attach() override { return absl::OkStatus(); }

  absl::Status Arm() override {
    profiler::prepareProfiler(config_, activities_);
    return absl::OkStatus();
  }

  absl::Status OpenWindow() override {
    profiler::enableProfiler(
        config_, activities_,
        {at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION,
         at::RecordScope::USER_SCOPE});
    return absl::OkStatus();
  }

  absl::StatusOr<TracerYield> Stop() override {
    result_ = profiler::disableProfiler();
    TracerYield yield = {.rows =
                             static_cast<int64_t>(result_->events().size())};
    constexpr auto kKernel =
        static_cast<uint8_t>(libkineto::ActivityType::CONCURRENT_KERNEL);
    for (const profiler::KinetoEvent& event : result_->events()) {
      if (event.activityType() == kKernel) ++yield.kernels;
    }
    return yield;
  }

 private:
  const impl::ProfilerConfig config_;
  std::set<impl::ActivityType> activities_;
  // Never freed: that takes longer than the process has left.
  std::unique_ptr<profiler::ProfilerResult> result_;
};

}  // namespace

std::unique_ptr<StepTracer> MakeKinetoTracer(const StepTracerOptions& options) {
  return std::make_unique<KinetoTracer>(options);
}

}  // namespace traza
