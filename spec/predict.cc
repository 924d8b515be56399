// SPDX-License-Identifier: Apache-2.0
#include "spec/predict.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "base/error.h"
#include "spec/cost.h"
#include "spec/violations.h"

namespace traza {
namespace {

// Bytes of a row in the trace file at depth ops: chosen above the 4 to 6 that
// the writer takes for a long trace, because a short one compresses worse.
constexpr int64_t kBytesPerRow = 16;
// At depth shapes a row also names shapes and dtypes.
constexpr int64_t kBytesPerShapesRow = 32;

// Of a file without rows: its header, and the metadata of its columns.
constexpr int64_t kFileBytes = 16 << 10;

// What an operator costs on the CPU side even when its work is tiny.
constexpr double kSecondsPerOp = 1e-6;

// Automatic warm-up runs at least so many steps.
constexpr int64_t kMinWarmupSteps = 3;

// Rounded up, never negative; what is no number counts as too large.
int64_t ToInt64(double value) {
  constexpr auto kMax = std::numeric_limits<int64_t>::max();
  if (std::isnan(value) || value >= static_cast<double>(kMax)) return kMax;
  return static_cast<int64_t>(std::ceil(std::max(0.0, value)));
}

absl::Duration FromSeconds(double seconds) {
  if (std::isnan(seconds)) return absl::InfiniteDuration();
  return absl::Seconds(std::max(0.0, seconds));
}

int64_t WarmupSteps(const Warmup& warmup) {
  return warmup.automatic ? kMinWarmupSteps : warmup.steps;
}

int64_t AllSteps(const JobSpec& spec) {
  return spec.cold_steps + WarmupSteps(spec.warmup) + spec.timed_steps +
         spec.traced_steps;
}

// Nothing when the speed of the device for this work was not measured.
std::optional<absl::Duration> PredictStep(const JobSpec& spec, const Cost& cost,
                                          const DeviceDescription& device) {
  const ParamValues inputs = CostInputs(spec);
  const auto dtype = spec.params.find("dtype");
  const auto rate = device.roofs.flops_per_second.find(
      dtype == spec.params.end() ? "fp32" : dtype->second);
  if (rate == device.roofs.flops_per_second.end() || cost.flops.empty()) {
    return std::nullopt;
  }
  double seconds = std::max(Evaluate(cost.flops, inputs) / rate->second,
                            Evaluate(cost.ops, inputs) * kSecondsPerOp);
  if (const double bandwidth = device.roofs.memory_bytes_per_second.value_or(0);
      bandwidth > 0) {
    seconds = std::max(seconds, Evaluate(cost.bytes, inputs) / bandwidth);
  }
  return FromSeconds(seconds);
}

// Rows that one recorded step adds beside its step row; nothing when the
// workload does not say.
std::optional<double> RowsPerStep(const JobSpec& spec, const Cost& cost,
                                  bool on_gpu) {
  const ParamValues inputs = CostInputs(spec);
  const double kernels = on_gpu ? Evaluate(cost.kernels, inputs) : 0;
  const double ops = Evaluate(cost.ops, inputs);
  const bool undeclared = (spec.depth >= Depth::kOps && cost.ops.empty()) ||
                          (on_gpu && cost.kernels.empty());
  if (spec.depth != Depth::kTiming && undeclared) return std::nullopt;
  switch (spec.depth) {
    case Depth::kTiming:
      return 0;
    case Depth::kKernels:
      return kernels;
    case Depth::kLaunches:
      return 2 * kernels;  // Each has a call that launched it.
    case Depth::kOps:
    case Depth::kShapes:
      return ops + 2 * kernels;
  }
  return 0;
}

// "1.5 GiB (1610612736 bytes)": readable and exact.
std::string FormatBytes(int64_t bytes) {
  static constexpr const char* kUnits[] = {"KiB", "MiB", "GiB",
                                           "TiB", "PiB", "EiB"};
  if (bytes < 1024) return absl::StrCat(bytes, " bytes");
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  return absl::StrFormat("%.1f %s (%d bytes)", value, kUnits[unit], bytes);
}

std::string FormatTime(absl::Duration time) {
  const absl::Duration unit = time >= absl::Minutes(1) ? absl::Seconds(1)
                              : time >= absl::Seconds(1)
                                  ? absl::Milliseconds(10)
                                  : absl::Microseconds(1);
  return absl::FormatDuration(absl::Trunc(time, unit));
}

// What exceeds its limit, with the numbers.
class Excesses {
 public:
  void Add(Reason reason, absl::string_view field,
           absl::string_view description) {
    violations_.push_back({std::string(field), std::string(description)});
    if (!reason_.has_value()) reason_ = reason;
  }
  void AddNumbers(absl::string_view noun, int64_t predicted, int64_t limit) {
    numbers_.emplace_back(absl::StrCat("predicted_", noun), predicted);
    numbers_.emplace_back(absl::StrCat("limit_", noun), limit);
  }
  absl::Status ToStatus() const {
    if (!reason_.has_value()) return absl::OkStatus();
    return ViolationsError(*reason_, violations_, numbers_);
  }

 private:
  std::optional<Reason> reason_;  // of the first excess
  std::vector<FieldViolation> violations_;
  std::vector<std::pair<std::string, int64_t>> numbers_;
};

void CheckMemory(std::optional<int64_t> predicted,
                 const DeviceDescription& device, double share,
                 Excesses* excesses) {
  if (!predicted.has_value()) return;
  const int64_t bytes = *predicted;
  const auto limit = ToInt64(static_cast<double>(device.memory_bytes) * share);
  // A device of 0 bytes is one whose memory is not known.
  if (device.memory_bytes == 0 || bytes <= limit) return;
  excesses->Add(
      Reason::kMemoryTooLarge, "params",
      absl::StrFormat("need about %s of memory; a job on %s may use %s, %.0f%% "
                      "of what it has",
                      FormatBytes(bytes), device.id, FormatBytes(limit),
                      share * 100));
  excesses->AddNumbers("memory_bytes", bytes, limit);
}

void CheckTime(const Prediction& prediction, absl::Duration timeout,
               Excesses* excesses) {
  if (!prediction.step.has_value() || !prediction.total.has_value() ||
      *prediction.total <= timeout) {
    return;
  }
  excesses->Add(
      Reason::kTimeTooLong, "timeout",
      absl::StrCat("is ", FormatTime(timeout), "; the steps take about ",
                   FormatTime(*prediction.total), ", ",
                   FormatTime(*prediction.step), " each"));
  excesses->AddNumbers("time_ns", absl::ToInt64Nanoseconds(*prediction.total),
                       absl::ToInt64Nanoseconds(timeout));
}

void CheckTraceBytes(const Prediction& prediction, int64_t limit,
                     Excesses* excesses) {
  if (!prediction.trace_bytes.has_value() || *prediction.trace_bytes <= limit) {
    return;
  }
  excesses->Add(Reason::kTraceTooLarge, "traced_steps",
                absl::StrCat("about ", *prediction.trace_rows, " rows, ",
                             FormatBytes(*prediction.trace_bytes),
                             ", would be recorded; a trace may have ",
                             FormatBytes(limit)));
  excesses->AddNumbers("trace_bytes", *prediction.trace_bytes, limit);
}

}  // namespace

Prediction Predict(const JobSpec& spec, const WorkloadSchema& workload,
                   const DeviceDescription& device) {
  const Cost& cost = workload.cost;
  Prediction prediction;
  prediction.step = PredictStep(spec, cost, device);
  if (prediction.step.has_value()) {
    prediction.total = *prediction.step * static_cast<double>(AllSteps(spec));
  }
  if (!cost.memory_bytes.empty()) {
    const ParamValues inputs = CostInputs(spec);
    double bytes = Evaluate(cost.memory_bytes, inputs);
    if (device.kind == DeviceKind::kCpu) {
      bytes += Evaluate(cost.host_memory_bytes, inputs);
    }
    prediction.memory_bytes = ToInt64(bytes);
  }
  const std::optional<double> rows =
      RowsPerStep(spec, cost, device.kind == DeviceKind::kGpu);
  if (!rows.has_value()) return prediction;
  const auto recorded =
      static_cast<double>(spec.cold_steps + spec.traced_steps);
  prediction.trace_rows =
      ToInt64(recorded * *rows + static_cast<double>(AllSteps(spec)));
  prediction.trace_bytes =
      ToInt64(kFileBytes + static_cast<double>(*prediction.trace_rows) *
                               static_cast<double>(spec.depth == Depth::kShapes
                                                       ? kBytesPerShapesRow
                                                       : kBytesPerRow));
  return prediction;
}

absl::Status CheckPrediction(const JobSpec& spec, const Prediction& prediction,
                             const DeviceDescription& device,
                             const AdmissionLimits& limits) {
  Excesses excesses;
  CheckMemory(prediction.memory_bytes, device, limits.max_memory_share,
              &excesses);
  CheckTime(prediction, spec.timeout, &excesses);
  CheckTraceBytes(prediction, limits.max_trace_bytes, &excesses);
  return excesses.ToStatus();
}

absl::Status CheckHostMemory(const JobSpec& spec,
                             const WorkloadSchema& workload,
                             const DeviceDescription& cpu,
                             const AdmissionLimits& limits) {
  Excesses excesses;
  CheckMemory(
      ToInt64(Evaluate(workload.cost.host_memory_bytes, CostInputs(spec))), cpu,
      limits.max_memory_share, &excesses);
  return excesses.ToStatus();
}

}  // namespace traza
