// SPDX-License-Identifier: Apache-2.0
#include "api/convert_job.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"

#include "api/convert_enum.h"
#include "base/error.h"
#include "base/utf8.h"

namespace traza {
namespace {

// Range of google.protobuf.Duration: about 10,000 years.
constexpr int64_t kMaxProtoSeconds = 315'576'000'000;

template <typename Map>
void CopyMap(const std::map<std::string, std::string>& from, Map* to) {
  for (const auto& [key, value] : from) (*to)[key] = value;
}

template <typename Map>
std::map<std::string, std::string> MapFrom(const Map& from) {
  return {from.begin(), from.end()};
}

void SetWarmup(const Warmup& warmup, v1::Warmup* to) {
  if (warmup.automatic) {
    to->set_automatic(true);
  } else {
    to->set_steps(warmup.steps);
  }
}

v1::JobError ToProto(const JobError& error) {
  v1::JobError to;
  const ReasonText& text = TextOf(error.reason);
  to.set_reason(std::string(text.name));
  to.set_remedy(std::string(text.remedy));
  to.set_message(ToValidUtf8(error.message));
  if (error.phase.has_value()) to.set_phase(ToProto(*error.phase));
  to.set_last_words(ToValidUtf8(error.last_words));
  return to;
}

v1::Progress ToProto(const Progress& progress) {
  v1::Progress to;
  to.set_phase(ToProto(progress.phase));
  to.set_done(progress.done);
  if (progress.total.has_value()) to.set_total(*progress.total);
  return to;
}

// Collects what is wrong with a request.
class Violations {
 public:
  void Add(absl::string_view field, absl::string_view description) {
    builder_.Violation(absl::StrCat("job.", field), description);
    if (first_.empty()) first_ = absl::StrCat("job.", field, ": ", description);
  }

  absl::Status ToStatus() const {
    if (first_.empty()) return absl::OkStatus();
    return builder_.Build(first_);
  }

 private:
  ErrorBuilder builder_{absl::StatusCode::kInvalidArgument,
                        Reason::kInvalidArgument};
  std::string first_;
};

std::optional<Warmup> WarmupFrom(const v1::Warmup& warmup,
                                 Violations* violations) {
  switch (warmup.mode_case()) {
    case v1::Warmup::kAutomatic:
      if (warmup.automatic()) return Warmup{.automatic = true, .steps = 0};
      violations->Add("warmup.automatic",
                      "must be true when set; for a fixed number set steps");
      return std::nullopt;
    case v1::Warmup::kSteps:
      return Warmup{.automatic = false, .steps = warmup.steps()};
    case v1::Warmup::MODE_NOT_SET:
      violations->Add("warmup", "needs either automatic or steps");
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

google::protobuf::Timestamp ToProto(absl::Time time) {
  google::protobuf::Timestamp to;
  const int64_t seconds = absl::ToUnixSeconds(time);
  to.set_seconds(seconds);
  to.set_nanos(static_cast<int32_t>(
      absl::ToInt64Nanoseconds(time - absl::FromUnixSeconds(seconds))));
  return to;
}

google::protobuf::Duration ToProto(absl::Duration duration) {
  google::protobuf::Duration to;
  to.set_seconds(absl::IDivDuration(duration, absl::Seconds(1), &duration));
  to.set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(duration)));
  return to;
}

absl::Time FromProto(const google::protobuf::Timestamp& time) {
  return absl::FromUnixSeconds(time.seconds()) +
         absl::Nanoseconds(time.nanos());
}

absl::StatusOr<absl::Duration> FromProto(
    const google::protobuf::Duration& duration) {
  const int64_t seconds = duration.seconds();
  const int32_t nanos = duration.nanos();
  const bool one_sign =
      seconds == 0 || nanos == 0 || (seconds < 0) == (nanos < 0);
  if (seconds > kMaxProtoSeconds || seconds < -kMaxProtoSeconds ||
      nanos >= 1'000'000'000 || nanos <= -1'000'000'000 || !one_sign) {
    return ErrorBuilder(absl::StatusCode::kInvalidArgument,
                        Reason::kInvalidArgument)
        .Build(
            absl::StrCat(seconds, " s and ", nanos, " ns are not a duration."));
  }
  return absl::Seconds(seconds) + absl::Nanoseconds(nanos);
}

std::string JobName(const JobId& id) { return absl::StrCat("jobs/", id.value); }

std::string TraceName(const TraceId& id) {
  return absl::StrCat("traces/", id.value);
}

v1::JobSpec ToProto(const JobSpec& spec) {
  v1::JobSpec to;
  to.set_workload(spec.workload);
  to.set_variant(spec.variant);
  to.set_device(spec.device);
  CopyMap(spec.params, to.mutable_params());
  to.set_cold_steps(spec.cold_steps);
  SetWarmup(spec.warmup, to.mutable_warmup());
  to.set_timed_steps(spec.timed_steps);
  to.set_traced_steps(spec.traced_steps);
  to.set_depth(ToProto(spec.depth));
  to.set_seed(spec.seed);
  *to.mutable_timeout() = ToProto(spec.timeout);
  CopyMap(spec.labels, to.mutable_labels());
  to.set_l2(ToProto(spec.l2));
  return to;
}

v1::Prediction ToProto(const Prediction& prediction) {
  v1::Prediction to;
  if (prediction.step.has_value()) {
    *to.mutable_step() = ToProto(*prediction.step);
  }
  if (prediction.total.has_value()) {
    *to.mutable_total() = ToProto(*prediction.total);
  }
  if (prediction.memory_bytes.has_value()) {
    to.set_memory_bytes(*prediction.memory_bytes);
  }
  if (prediction.trace_rows.has_value()) {
    to.set_trace_rows(*prediction.trace_rows);
  }
  if (prediction.trace_bytes.has_value()) {
    to.set_trace_bytes(*prediction.trace_bytes);
  }
  return to;
}

v1::JobRequest ToProto(const JobRequest& request) {
  v1::JobRequest to;
  to.set_workload(request.workload);
  if (request.variant.has_value()) to.set_variant(*request.variant);
  if (request.device.has_value()) to.set_device(*request.device);
  CopyMap(request.params, to.mutable_params());
  if (request.cold_steps.has_value()) to.set_cold_steps(*request.cold_steps);
  if (request.warmup.has_value()) {
    SetWarmup(*request.warmup, to.mutable_warmup());
  }
  if (request.timed_steps.has_value()) to.set_timed_steps(*request.timed_steps);
  if (request.traced_steps.has_value()) {
    to.set_traced_steps(*request.traced_steps);
  }
  if (request.depth.has_value()) to.set_depth(ToProto(*request.depth));
  if (request.seed.has_value()) to.set_seed(*request.seed);
  if (request.timeout.has_value()) {
    *to.mutable_timeout() = ToProto(*request.timeout);
  }
  CopyMap(request.labels, to.mutable_labels());
  if (request.l2.has_value()) to.set_l2(ToProto(*request.l2));
  return to;
}

absl::StatusOr<JobRequest> JobRequestFromProto(const v1::JobRequest& request) {
  Violations violations;
  JobRequest to;
  to.workload = request.workload();
  if (request.has_variant()) to.variant = request.variant();
  if (request.has_device()) to.device = request.device();
  to.params = MapFrom(request.params());
  if (request.has_cold_steps()) to.cold_steps = request.cold_steps();
  if (request.has_warmup()) {
    to.warmup = WarmupFrom(request.warmup(), &violations);
  }
  if (request.has_timed_steps()) to.timed_steps = request.timed_steps();
  if (request.has_traced_steps()) to.traced_steps = request.traced_steps();
  if (request.has_depth() && request.depth() != v1::DEPTH_UNSPECIFIED) {
    to.depth = FromProto(request.depth());
    if (!to.depth.has_value()) {
      violations.Add("depth", absl::StrCat("is not known: ", request.depth()));
    }
  }
  if (request.has_seed()) to.seed = request.seed();
  if (request.has_timeout()) {
    absl::StatusOr<absl::Duration> timeout = FromProto(request.timeout());
    if (timeout.ok()) {
      to.timeout = *timeout;
    } else {
      violations.Add("timeout", timeout.status().message());
    }
  }
  to.labels = MapFrom(request.labels());
  if (request.has_l2() && request.l2() != v1::L2_POLICY_UNSPECIFIED) {
    to.l2 = FromProto(request.l2());
    if (!to.l2.has_value()) {
      violations.Add("l2", absl::StrCat("is not known: ", request.l2()));
    }
  }
  absl::Status status = violations.ToStatus();
  if (!status.ok()) return status;
  return to;
}

v1::Job ToProto(const Job& job) {
  v1::Job to;
  if (!job.id.value.empty()) to.set_name(JobName(job.id));
  to.set_state(ToProto(job.state));
  *to.mutable_spec() = ToProto(job.spec);
  *to.mutable_prediction() = ToProto(job.prediction);
  for (const Adjustment& adjustment : job.adjustments) {
    v1::Adjustment* added = to.add_adjustments();
    added->set_field(adjustment.field);
    added->set_value(adjustment.value);
    added->set_why(adjustment.why);
  }
  to.set_request_id(job.request_id);
  *to.mutable_create_time() = ToProto(job.create_time);
  if (job.start_time.has_value()) {
    *to.mutable_start_time() = ToProto(*job.start_time);
  }
  if (job.end_time.has_value()) *to.mutable_end_time() = ToProto(*job.end_time);
  if (job.progress.has_value()) {
    *to.mutable_progress() = ToProto(*job.progress);
  }
  for (const auto& [phase, duration] : job.phase_times) {
    v1::PhaseTime* added = to.add_phase_times();
    added->set_phase(ToProto(phase));
    *added->mutable_duration() = ToProto(duration);
  }
  if (job.standby.has_value()) to.set_standby(*job.standby);
  if (job.trace.has_value()) to.set_trace(TraceName(*job.trace));
  if (job.error.has_value()) *to.mutable_error() = ToProto(*job.error);
  return to;
}

}  // namespace traza
