// SPDX-License-Identifier: Apache-2.0
#include "server/store/job_json.h"

#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

#include "base/error.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "spec/json_fields.h"

namespace traza {
namespace {

using Json = nlohmann::json;

// Far above what limits on requests and on last words allow.
constexpr size_t kMaxBodyBytes = 1 << 20;
constexpr size_t kMaxTextBytes = 64 << 10;
constexpr size_t kMaxEntries = 10'000;
constexpr int64_t kMaxInt = std::numeric_limits<int64_t>::max();

Json ToJson(const Prediction& prediction) {
  Json json = Json::object();
  if (prediction.memory_bytes) json["memory_bytes"] = *prediction.memory_bytes;
  if (prediction.trace_rows) json["trace_rows"] = *prediction.trace_rows;
  if (prediction.trace_bytes) json["trace_bytes"] = *prediction.trace_bytes;
  if (prediction.step)
    json["step_ns"] = absl::ToInt64Nanoseconds(*prediction.step);
  if (prediction.total) {
    json["total_ns"] = absl::ToInt64Nanoseconds(*prediction.total);
  }
  return json;
}

absl::StatusOr<std::optional<absl::Duration>> ReadDuration(
    const JsonFields& fields, absl::string_view name) {
  ASSIGN_OR_RETURN(const std::optional<int64_t> ns, fields.OptionalInt(name));
  if (!ns.has_value()) return std::optional<absl::Duration>();
  return std::optional<absl::Duration>(absl::Nanoseconds(*ns));
}

absl::StatusOr<Prediction> PredictionFromJson(const Json& json) {
  ASSIGN_OR_RETURN(const JsonFields fields, JsonFields::Of(json));
  Prediction prediction;
  ASSIGN_OR_RETURN(prediction.step, ReadDuration(fields, "step_ns"));
  ASSIGN_OR_RETURN(prediction.total, ReadDuration(fields, "total_ns"));
  ASSIGN_OR_RETURN(prediction.memory_bytes, fields.OptionalInt("memory_bytes"));
  ASSIGN_OR_RETURN(prediction.trace_rows, fields.OptionalInt("trace_rows"));
  ASSIGN_OR_RETURN(prediction.trace_bytes, fields.OptionalInt("trace_bytes"));
  return prediction;
}

Json ToJson(const Adjustment& adjustment) {
  return {{"field", adjustment.field},
          {"value", adjustment.value},
          {"why", adjustment.why}};
}

absl::StatusOr<Adjustment> AdjustmentFromJson(const Json& json) {
  ASSIGN_OR_RETURN(const JsonFields fields, JsonFields::Of(json));
  Adjustment adjustment;
  ASSIGN_OR_RETURN(adjustment.field, fields.String("field", kMaxTextBytes));
  ASSIGN_OR_RETURN(adjustment.value, fields.String("value", kMaxTextBytes));
  ASSIGN_OR_RETURN(adjustment.why, fields.String("why", kMaxTextBytes));
  return adjustment;
}

Json ToJson(const JobError& error) {
  Json json = {{"reason", std::string(TextOf(error.reason).name)},
               {"message", error.message},
               {"last_words", error.last_words}};
  if (error.phase) json["phase"] = std::string(PhaseName(*error.phase));
  return json;
}

absl::StatusOr<JobError> JobErrorFromJson(const Json& json) {
  ASSIGN_OR_RETURN(const JsonFields fields, JsonFields::Of(json));
  JobError error;
  ASSIGN_OR_RETURN(error.reason, fields.Enum("reason", ReasonFromName));
  ASSIGN_OR_RETURN(error.message, fields.String("message", kMaxTextBytes));
  ASSIGN_OR_RETURN(error.last_words,
                   fields.String("last_words", kMaxTextBytes));
  ASSIGN_OR_RETURN(error.phase, fields.OptionalEnum("phase", PhaseFromName));
  return error;
}

Json PhaseTimesToJson(const Job& job) {
  Json json = Json::object();
  for (const auto& [phase, time] : job.phase_times) {
    json[std::string(PhaseName(phase))] = absl::ToInt64Nanoseconds(time);
  }
  return json;
}

absl::StatusOr<std::map<Phase, absl::Duration>> PhaseTimesFromJson(
    const Json& json) {
  ASSIGN_OR_RETURN(const JsonFields fields, JsonFields::Of(json));
  std::map<Phase, absl::Duration> times;
  for (const Phase phase : kAllPhases) {
    ASSIGN_OR_RETURN(const std::optional<absl::Duration> time,
                     ReadDuration(fields, PhaseName(phase)));
    if (time.has_value()) times[phase] = *time;
  }
  return times;
}

absl::StatusOr<std::optional<absl::Time>> ReadTime(const JsonFields& fields,
                                                   absl::string_view name) {
  ASSIGN_OR_RETURN(const std::optional<int64_t> ns,
                   fields.OptionalInt(name, 0, kMaxInt));
  if (!ns.has_value()) return std::optional<absl::Time>();
  return std::optional<absl::Time>(absl::FromUnixNanos(*ns));
}

absl::StatusOr<Job> ReadJob(absl::string_view body) {
  ASSIGN_OR_RETURN(const Json json, ParseJson(body, kMaxBodyBytes));
  ASSIGN_OR_RETURN(const JsonFields fields, JsonFields::Of(json));
  Job job;
  ASSIGN_OR_RETURN(job.spec, fields.Value("spec", JobSpecFromJson));
  ASSIGN_OR_RETURN(job.prediction,
                   fields.Value("prediction", PredictionFromJson));
  ASSIGN_OR_RETURN(job.adjustments,
                   fields.List("adjustments", kMaxEntries, AdjustmentFromJson));
  ASSIGN_OR_RETURN(job.request_id,
                   fields.StringOrEmpty("request_id", kMaxTextBytes));
  ASSIGN_OR_RETURN(job.start_time, ReadTime(fields, "start_time_ns"));
  ASSIGN_OR_RETURN(job.end_time, ReadTime(fields, "end_time_ns"));
  ASSIGN_OR_RETURN(job.phase_times,
                   fields.Value("phase_times_ns", PhaseTimesFromJson));
  if (fields.Has("standby")) {
    ASSIGN_OR_RETURN(job.standby, fields.Bool("standby"));
  }
  ASSIGN_OR_RETURN(std::optional<std::string> trace,
                   fields.OptionalString("trace", kMaxTextBytes));
  if (trace.has_value()) job.trace = TraceId{*std::move(trace)};
  if (fields.Has("error")) {
    ASSIGN_OR_RETURN(job.error, fields.Value("error", JobErrorFromJson));
  }
  return job;
}

absl::Status Damaged(const absl::Status& fault) {
  return ErrorBuilder(absl::StatusCode::kDataLoss, Reason::kStoreDamaged)
      .Build(absl::StrCat("A row of the database cannot be read: ",
                          std::string(fault.message())));
}

}  // namespace

std::string JobBody(const Job& job) {
  Json json = {{"spec", traza::ToJson(job.spec)},
               {"prediction", ToJson(job.prediction)},
               {"phase_times_ns", PhaseTimesToJson(job)}};
  for (const Adjustment& adjustment : job.adjustments) {
    json["adjustments"].push_back(ToJson(adjustment));
  }
  if (!job.request_id.empty()) json["request_id"] = job.request_id;
  if (job.start_time)
    json["start_time_ns"] = absl::ToUnixNanos(*job.start_time);
  if (job.end_time) json["end_time_ns"] = absl::ToUnixNanos(*job.end_time);
  if (job.standby) json["standby"] = *job.standby;
  if (job.trace) json["trace"] = job.trace->value;
  if (job.error) json["error"] = ToJson(*job.error);
  return DumpJson(json);
}

absl::StatusOr<Job> JobFromBody(absl::string_view body) {
  absl::StatusOr<Job> job = ReadJob(body);
  if (!job.ok()) return Damaged(job.status());
  return job;
}

std::string LabelsToJson(const std::map<std::string, std::string>& labels) {
  return DumpJson(Json(labels));
}

absl::StatusOr<std::map<std::string, std::string>> LabelsFromJson(
    absl::string_view text) {
  const auto read =
      [&]() -> absl::StatusOr<std::map<std::string, std::string>> {
    Json json = Json::object();
    ASSIGN_OR_RETURN(json["labels"], ParseJson(text, kMaxBodyBytes));
    ASSIGN_OR_RETURN(const JsonFields fields, JsonFields::Of(json));
    return fields.StringMap("labels", kMaxEntries, kMaxTextBytes);
  };
  absl::StatusOr<std::map<std::string, std::string>> labels = read();
  if (!labels.ok()) return Damaged(labels.status());
  return labels;
}

std::string HashRequest(const JobRequest& request, absl::string_view job_id) {
  return Sha256(DumpJson(Json{{"request", traza::ToJson(request)},
                              {"job_id", std::string(job_id)}}));
}

}  // namespace traza
