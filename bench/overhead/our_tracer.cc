// SPDX-License-Identifier: Apache-2.0
// What worker/session.cc does around its traced steps, without the rest of a
// job: change one with the other.

#include <cmath>

#include "base/status_macros.h"
#include "bench/overhead/step_tracer.h"
#include "worker/collector.h"
#include "worker/device_collector.h"
#include "worker/op_recorder.h"
#include "worker/tick_clock.h"

namespace traza {
namespace {

// Room for operators beyond the prediction, as in a session.
constexpr double kRowMargin = 1.25;
constexpr int64_t kSpareRows = 256;

class OurTracer : public StepTracer {
 public:
  OurTracer(const StepTracerOptions& options, Depth depth)
      : options_(options), depth_(depth) {}

  absl::Status Attach() override {
    collector_ = MakeDeviceCollector(options_.device, clock_);
    recorder_ = MakeTorchOpRecorder(clock_);
    RETURN_IF_ERROR(collector_->Prepare(
        {.depth = depth_,
         .device_records =
             static_cast<int64_t>(options_.device_records_per_step *
                                  static_cast<double>(options_.steps))}));
    const CollectorCapabilities found = collector_->Capabilities();
    // A tracer that collects nothing costs little, and proves nothing.
    if (options_.device.kind != DeviceKind::kCpu && !found.device_records) {
      return absl::FailedPreconditionError(found.note);
    }
    return absl::OkStatus();
  }

  absl::Status Arm() override {
    if (records_ops()) {
      const double rows = std::ceil(options_.ops_per_step * kRowMargin *
                                    static_cast<double>(options_.steps));
      RETURN_IF_ERROR(recorder_->Reserve(
          static_cast<int64_t>(rows) + kSpareRows, depth_ == Depth::kShapes));
    }
    RETURN_IF_ERROR(collector_->Arm());
    if (records_ops()) recorder_->Start();
    return absl::OkStatus();
  }

  absl::Status OpenWindow() override {
    clock_.Open();
    RETURN_IF_ERROR(collector_->OpenWindow());
    if (records_ops()) recorder_->Rewind();
    return absl::OkStatus();
  }

  absl::StatusOr<TracerYield> Stop() override {
    if (records_ops()) recorder_->Stop();
    clock_.Close();
    RETURN_IF_ERROR(collector_->CloseWindow());
    RETURN_IF_ERROR(collector_->Disarm());
    RawRecords records;
    Completeness completeness;
    if (records_ops()) recorder_->Drain(&records, &completeness);
    RETURN_IF_ERROR(collector_->Drain(&records));
    collector_->Losses(&completeness);
    if (completeness.dropped_ops.value_or(0) > 0) {
      return absl::InternalError("operators were dropped");
    }
    TracerYield yield = {.rows = static_cast<int64_t>(records.host.size() +
                                                      records.device.size()),
                         .requests = completeness.buffer_requests_in_window,
                         .misses = completeness.pool_misses};
    for (const RawDeviceEvent& event : records.device) {
      if (event.kind == EventKind::kKernel) ++yield.kernels;
    }
    return yield;
  }

 private:
  bool records_ops() const { return depth_ >= Depth::kOps; }

  const StepTracerOptions options_;
  const Depth depth_;
  WindowClock clock_;
  std::unique_ptr<Collector> collector_;
  std::unique_ptr<OpRecorder> recorder_;
};

}  // namespace

std::unique_ptr<StepTracer> MakeOurTracer(const StepTracerOptions& options,
                                          Depth depth) {
  return std::make_unique<OurTracer>(options, depth);
}

}  // namespace traza
