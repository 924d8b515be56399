// SPDX-License-Identifier: Apache-2.0
#include "spec/admission.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "base/check.h"
#include "base/error.h"
#include "base/status_macros.h"
#include "base/utf8.h"
#include "spec/param_schema.h"
#include "spec/predict.h"
#include "spec/request_check.h"
#include "spec/violations.h"

namespace traza {
namespace {

constexpr size_t kMaxListed = 20;

// "a, b, c" of the names, or "none".
template <typename T>
std::string Names(const std::vector<T>& values, std::string T::* name) {
  std::vector<std::string> names;
  for (const T& value : values) {
    if (names.size() == kMaxListed) {
      names.emplace_back("...");
      break;
    }
    names.push_back(value.*name);
  }
  return names.empty() ? "none" : absl::StrJoin(names, ", ");
}

// Turns one request into one effective job; lives for one call of Admit.
class Admission {
 public:
  Admission(const JobRequest& request, const WorkerDescription& host,
            const AdmissionLimits& limits)
      : request_(request), host_(host), limits_(limits) {}

  absl::StatusOr<AdmittedJob> Run() {
    workload_ = host_.FindWorkload(request_.workload);
    ChooseDevice();
    // What is wrong with the request alone comes first, all of it at once.
    RETURN_IF_ERROR(CheckRequestAlone());
    RETURN_IF_ERROR(CheckNames());
    RETURN_IF_ERROR(CheckAvailability());
    FillSpec();
    job_.prediction = Predict(job_.spec, *workload_, *device_);
    RETURN_IF_ERROR(
        CheckPrediction(job_.spec, job_.prediction, *device_, limits_));
    const DeviceDescription* const cpu = host_.FindDevice("cpu");
    if (!on_cpu() && cpu != nullptr) {
      RETURN_IF_ERROR(CheckHostMemory(job_.spec, *workload_, *cpu, limits_));
    }
    return std::move(job_);
  }

 private:
  void ChooseDevice() {
    if (request_.device.has_value()) {
      device_ = host_.FindDevice(*request_.device);
      return;
    }
    for (const DeviceKind kind : {DeviceKind::kGpu, DeviceKind::kCpu}) {
      for (const DeviceDescription& device : host_.devices) {
        if (device.kind == kind && !device.unavailable.has_value()) {
          device_ = &device;
          return;
        }
      }
    }
  }

  bool on_cpu() const {
    return device_ == nullptr || device_->kind == DeviceKind::kCpu;
  }

  absl::Status CheckRequestAlone() {
    std::vector<FieldViolation> violations = CheckRequest(request_);
    if (device_ != nullptr && on_cpu() && request_.l2 == L2Policy::kFlush) {
      violations.push_back(
          {"l2",
           absl::StrCat("flush is for GPUs; the caches of ", device_->id,
                        " belong to single cores in part, and no write of one "
                        "thread empties them all: use warm")});
    }
    bool only_unknown = violations.empty();
    if (workload_ != nullptr &&
        request_.params.size() <= static_cast<size_t>(kMaxParams)) {
      job_.spec.params =
          FillParams(workload_->params, on_cpu(), request_.params, &violations);
      only_unknown = only_unknown && violations.size() == CountUnknownParams();
    }
    if (violations.empty()) return absl::OkStatus();
    return ViolationsError(
        only_unknown ? Reason::kUnknownParameter : Reason::kInvalidArgument,
        violations);
  }

  size_t CountUnknownParams() const {
    return static_cast<size_t>(
        std::ranges::count_if(request_.params, [this](auto& given) {
          return job_.spec.params.count(given.first) == 0;
        }));
  }

  absl::Status CheckNames() {
    if (workload_ == nullptr) {
      // A manifest that cannot be used is listed under the name of its file.
      const WorkloadSchema* const broken =
          host_.FindWorkload(absl::StrCat(request_.workload, ".json"));
      if (broken != nullptr) return NoSuchModel(*broken);
      return NotFound(Reason::kWorkloadNotFound, "workload", request_.workload,
                      Names(host_.workloads, &WorkloadSchema::name));
    }
    if (request_.device.has_value() && device_ == nullptr) {
      return NotFound(Reason::kDeviceNotFound, "device", *request_.device,
                      Names(host_.devices, &DeviceDescription::id));
    }
    TRAZA_CHECK(!workload_->variants.empty());
    variant_ = &DefaultVariant();
    if (!request_.variant.has_value()) return absl::OkStatus();
    for (const VariantSchema& variant : workload_->variants) {
      if (variant.name == *request_.variant) {
        variant_ = &variant;
        return absl::OkStatus();
      }
    }
    return NotFound(Reason::kVariantNotFound, "variant", *request_.variant,
                    Names(workload_->variants, &VariantSchema::name));
  }

  // Where none can run there, the reason of the first is told.
  const VariantSchema& DefaultVariant() const {
    for (const VariantSchema& variant : workload_->variants) {
      if (device_ != nullptr && variant.unavailable.count(device_->id) == 0) {
        return variant;
      }
    }
    return workload_->variants.front();
  }

  absl::Status NoSuchModel(const WorkloadSchema& broken) const {
    return ErrorBuilder(absl::StatusCode::kNotFound, Reason::kWorkloadNotFound)
        .With("workload", request_.workload)
        .Build(absl::StrCat("There is no workload ", Quoted(request_.workload),
                            ": ", broken.title));
  }

  static absl::Status NotFound(Reason reason, absl::string_view noun,
                               absl::string_view name,
                               absl::string_view known) {
    return ErrorBuilder(absl::StatusCode::kNotFound, reason)
        .With(noun, name)
        .Build(absl::StrCat("There is no ", noun, " ", Quoted(name),
                            "; known: ", known, "."));
  }

  absl::Status CheckAvailability() const {
    if (device_ == nullptr) {
      std::vector<std::string> faults;
      for (const DeviceDescription& device : host_.devices) {
        faults.push_back(
            absl::StrCat(device.id, ": ", device.unavailable.value_or("")));
      }
      return Unavailable(Reason::kDeviceUnavailable,
                         faults.empty() ? "The host has no device."
                                        : absl::StrJoin(faults, "; "));
    }
    if (device_->unavailable.has_value()) {
      return Unavailable(
          Reason::kDeviceUnavailable,
          absl::StrCat("Device ", device_->id,
                       " cannot run jobs: ", *device_->unavailable));
    }
    const auto missing = variant_->unavailable.find(device_->id);
    if (missing != variant_->unavailable.end()) {
      return Unavailable(
          Reason::kWorkloadUnavailable,
          absl::StrCat("Variant ", variant_->name, " of ", workload_->name,
                       " cannot run on ", device_->id, ": ", missing->second));
    }
    return absl::OkStatus();
  }

  static absl::Status Unavailable(Reason reason, absl::string_view message) {
    return ErrorBuilder(absl::StatusCode::kFailedPrecondition, reason)
        .Build(message);
  }

  void Note(absl::string_view field, absl::string_view value,
            absl::string_view why) {
    job_.adjustments.push_back(
        {std::string(field), std::string(value), std::string(why)});
  }

  // The given value, or the default, which is noted.
  int64_t NumberOr(absl::string_view field, std::optional<int64_t> given,
                   int64_t fallback) {
    if (given.has_value()) return *given;
    Note(field, absl::StrCat(fallback), "default");
    return fallback;
  }

  void FillSpec() {
    JobSpec& spec = job_.spec;
    const JobSpec defaults;
    spec.workload = workload_->name;
    spec.variant = variant_->name;
    if (!request_.variant.has_value()) Note("variant", spec.variant, "default");
    spec.device = device_->id;
    if (!request_.device.has_value()) Note("device", spec.device, "default");
    NoteParams();
    spec.cold_steps =
        NumberOr("cold_steps", request_.cold_steps, defaults.cold_steps);
    spec.warmup = request_.warmup.value_or(defaults.warmup);
    if (!request_.warmup.has_value()) Note("warmup", "auto", "default");
    spec.timed_steps =
        NumberOr("timed_steps", request_.timed_steps, defaults.timed_steps);
    spec.traced_steps =
        NumberOr("traced_steps", request_.traced_steps, defaults.traced_steps);
    spec.depth = request_.depth.value_or(defaults.depth);
    if (!request_.depth.has_value()) {
      Note("depth", DepthName(spec.depth), "default");
    }
    spec.seed = NumberOr("seed", request_.seed, defaults.seed);
    spec.timeout = request_.timeout.value_or(defaults.timeout);
    if (!request_.timeout.has_value()) {
      Note("timeout", absl::FormatDuration(spec.timeout), "default");
    }
    spec.labels = request_.labels;
    spec.l2 = request_.l2.value_or(defaults.l2);
    if (!request_.l2.has_value()) Note("l2", L2PolicyName(spec.l2), "default");
  }

  void NoteParams() {
    for (const ParamSchema& param : workload_->params) {
      const std::string& value = job_.spec.params[param.name];
      const std::string field = absl::StrCat("params[", param.name, "]");
      const auto given = request_.params.find(param.name);
      if (given == request_.params.end()) {
        const bool differs = param.default_cpu != param.default_gpu;
        Note(field, value,
             !differs   ? "default"
             : on_cpu() ? "default on cpu"
                        : "default on gpu");
      } else if (given->second != value) {
        Note(field, value, absl::StrCat("written as ", Quoted(given->second)));
      }
    }
  }

  const JobRequest& request_;
  const WorkerDescription& host_;
  const AdmissionLimits& limits_;
  const WorkloadSchema* workload_ = nullptr;   // null: there is none
  const DeviceDescription* device_ = nullptr;  // null: there is none
  const VariantSchema* variant_ = nullptr;     // set by CheckNames
  AdmittedJob job_;
};

}  // namespace

absl::StatusOr<AdmittedJob> Admit(const JobRequest& request,
                                  const WorkerDescription& host,
                                  const AdmissionLimits& limits) {
  return Admission(request, host, limits).Run();
}

}  // namespace traza
