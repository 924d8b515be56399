// SPDX-License-Identifier: Apache-2.0
#include "trace/header.h"

#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

#include "base/error.h"
#include "base/status_macros.h"
#include "spec/json_fields.h"

namespace traza {
namespace {

using Json = nlohmann::json;

// A header with a million timed batches takes 10 MB.
constexpr size_t kMaxHeaderBytes = 32 << 20;
constexpr size_t kMaxText = 64 << 10;
constexpr size_t kMaxEntries = 256;
constexpr size_t kMaxBatches = kMaxSteps;

// The counters by their names in the file, in the order of docs/definitions.md.
template <typename CompletenessT, typename Visitor>
void ForEachCounter(CompletenessT& completeness, Visitor&& visit) {
  visit("dropped", completeness.dropped);
  visit("zero_ts", completeness.zero_ts);
  visit("bad_order", completeness.bad_order);
  visit("before_launch", completeness.before_launch);
  visit("missing_gpu", completeness.missing_gpu);
  visit("unmatched_call", completeness.unmatched_call);
  visit("unmatched_op", completeness.unmatched_op);
  visit("failed_calls", completeness.failed_calls);
  visit("cut", completeness.cut);
  visit("overhead_ns_in_window", completeness.overhead_ns_in_window);
  visit("buffer_requests_in_window", completeness.buffer_requests_in_window);
  visit("pool_misses", completeness.pool_misses);
  visit("skew_min_ns", completeness.skew_min_ns);
  visit("clock_step_ns", completeness.clock_step_ns);
  visit("truncated_buffers", completeness.truncated_buffers);
  visit("id_stack_depth", completeness.id_stack_depth);
  visit("dropped_ops", completeness.dropped_ops);
  visit("captured_calls", completeness.captured_calls);
  visit("unsure_gpu", completeness.unsure_gpu);
}

// JSON has no NaN and no infinity: they are null there, NaN when read.
Json FiniteOrNull(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

absl::StatusOr<double> NumberOrNan(const JsonFields& fields,
                                   absl::string_view name) {
  if (!fields.Has(name)) return std::numeric_limits<double>::quiet_NaN();
  return fields.Number(name);
}

absl::StatusOr<std::optional<double>> OptionalNumber(const JsonFields& fields,
                                                     absl::string_view name) {
  if (!fields.Has(name)) return std::optional<double>();
  ASSIGN_OR_RETURN(const double value, fields.Number(name));
  return std::optional<double>(value);
}

absl::StatusOr<bool> BoolOrFalse(const JsonFields& fields,
                                 absl::string_view name) {
  if (!fields.Has(name)) return false;
  return fields.Bool(name);
}

absl::StatusOr<int64_t> IntOr(const JsonFields& fields, absl::string_view name,
                              int64_t fallback, int64_t min, int64_t max) {
  ASSIGN_OR_RETURN(const std::optional<int64_t> value,
                   fields.OptionalInt(name, min, max));
  return value.value_or(fallback);
}

template <typename T>
void PutOptional(Json* json, const char* name, const std::optional<T>& value) {
  if (value.has_value()) {
    (*json)[name] = *value;
  }
}

Json ToJson(const Completeness& completeness) {
  Json json = Json::object();
  ForEachCounter(completeness, [&](const char* name, const auto& counter) {
    PutOptional(&json, name, counter);
  });
  return json;
}

absl::StatusOr<Completeness> CompletenessFromJson(const Json& json) {
  ASSIGN_OR_RETURN(const JsonFields fields, JsonFields::Of(json));
  Completeness completeness;
  absl::Status status;
  ForEachCounter(completeness, [&](const char* name, auto& counter) {
    absl::StatusOr<std::optional<int64_t>> value = fields.OptionalInt(name);
    if (value.ok()) {
      counter = *value;
    } else if (status.ok()) {
      status = value.status();
    }
  });
  RETURN_IF_ERROR(status);
  return completeness;
}

Json ToJson(const TimedPass& timed) {
  return {{"steps", timed.steps},
          {"steps_per_batch", timed.steps_per_batch},
          {"batch_ns", timed.batch_ns},
          {"armed_before", timed.armed_before}};
}

absl::StatusOr<int64_t> NanosecondsFromJson(const Json& json) {
  // An integer that fits no int64 is kept as uint64 by the parser.
  if (!json.is_number_integer() ||
      (json.is_number_unsigned() &&
       json.get<uint64_t>() > uint64_t{std::numeric_limits<int64_t>::max()})) {
    return FieldError("", "is no time in ns");
  }
  return json.get<int64_t>();
}

absl::StatusOr<TimedPass> TimedPassFromJson(const Json& json) {
  ASSIGN_OR_RETURN(const JsonFields fields, JsonFields::Of(json));
  TimedPass timed;
  ASSIGN_OR_RETURN(timed.steps, IntOr(fields, "steps", 0, 0, kMaxSteps));
  ASSIGN_OR_RETURN(timed.steps_per_batch,
                   IntOr(fields, "steps_per_batch", 1, 1, kMaxSteps));
  ASSIGN_OR_RETURN(timed.batch_ns, fields.List<int64_t>("batch_ns", kMaxBatches,
                                                        NanosecondsFromJson));
  ASSIGN_OR_RETURN(timed.armed_before, BoolOrFalse(fields, "armed_before"));
  return timed;
}

Json ToJson(const WarmupResult& warmup) {
  Json json = {{"steps", warmup.steps},
               {"steady", warmup.steady},
               {"checked", warmup.checked},
               {"cap_hit", warmup.cap_hit}};
  PutOptional(&json, "spread", warmup.spread);
  return json;
}

absl::StatusOr<WarmupResult> WarmupFromJson(const Json& json) {
  ASSIGN_OR_RETURN(const JsonFields fields, JsonFields::Of(json));
  WarmupResult warmup;
  ASSIGN_OR_RETURN(warmup.steps, IntOr(fields, "steps", 0, 0,
                                       std::numeric_limits<int64_t>::max()));
  ASSIGN_OR_RETURN(warmup.steady, BoolOrFalse(fields, "steady"));
  ASSIGN_OR_RETURN(warmup.checked, BoolOrFalse(fields, "checked"));
  ASSIGN_OR_RETURN(warmup.cap_hit, BoolOrFalse(fields, "cap_hit"));
  ASSIGN_OR_RETURN(warmup.spread, OptionalNumber(fields, "spread"));
  return warmup;
}

Json ToJson(const Fingerprint& fingerprint) {
  Json json = {{"finite", fingerprint.finite},
               {"sum", FiniteOrNull(fingerprint.sum)},
               {"norm", FiniteOrNull(fingerprint.norm)},
               {"elements", fingerprint.elements},
               {"dtype", fingerprint.dtype},
               {"shape", fingerprint.shape}};
  PutOptional(&json, "tolerance", fingerprint.tolerance);
  return json;
}

absl::StatusOr<Fingerprint> FingerprintFromJson(const Json& json) {
  ASSIGN_OR_RETURN(const JsonFields fields, JsonFields::Of(json));
  Fingerprint fingerprint;
  ASSIGN_OR_RETURN(fingerprint.finite, fields.Bool("finite"));
  ASSIGN_OR_RETURN(fingerprint.sum, NumberOrNan(fields, "sum"));
  ASSIGN_OR_RETURN(fingerprint.norm, NumberOrNan(fields, "norm"));
  ASSIGN_OR_RETURN(fingerprint.elements, fields.Int("elements", 0));
  ASSIGN_OR_RETURN(fingerprint.dtype, fields.StringOrEmpty("dtype", kMaxText));
  ASSIGN_OR_RETURN(fingerprint.shape, fields.StringOrEmpty("shape", kMaxText));
  ASSIGN_OR_RETURN(fingerprint.tolerance, OptionalNumber(fields, "tolerance"));
  if (fingerprint.tolerance.has_value() &&
      !(*fingerprint.tolerance >= 0 && *fingerprint.tolerance <= 1)) {
    return FieldError("tolerance", "must be from 0 to 1");
  }
  return fingerprint;
}

Json ToJson(const DeviceState& state) {
  Json json = {{"throttle_reasons", state.throttle_reasons}};
  PutOptional(&json, "clock_hz", state.clock_hz);
  PutOptional(&json, "power_watts", state.power_watts);
  PutOptional(&json, "temperature_celsius", state.temperature_celsius);
  PutOptional(&json, "memory_used_bytes", state.memory_used_bytes);
  PutOptional(&json, "other_processes", state.other_processes);
  return json;
}

absl::StatusOr<DeviceState> DeviceStateFromJson(const Json& json) {
  ASSIGN_OR_RETURN(const JsonFields fields, JsonFields::Of(json));
  DeviceState state;
  ASSIGN_OR_RETURN(state.clock_hz, fields.OptionalInt("clock_hz", 0));
  ASSIGN_OR_RETURN(state.power_watts, OptionalNumber(fields, "power_watts"));
  ASSIGN_OR_RETURN(state.temperature_celsius,
                   OptionalNumber(fields, "temperature_celsius"));
  ASSIGN_OR_RETURN(
      state.throttle_reasons,
      fields.StringList("throttle_reasons", kMaxEntries, kMaxText));
  ASSIGN_OR_RETURN(state.memory_used_bytes,
                   fields.OptionalInt("memory_used_bytes", 0));
  ASSIGN_OR_RETURN(state.other_processes,
                   fields.OptionalInt("other_processes", 0));
  return state;
}

// A part that may be absent and is then left as it was.
template <typename T, typename Out>
absl::Status ReadPart(const JsonFields& fields, absl::string_view name,
                      absl::StatusOr<T> (*read)(const Json&), Out* out) {
  if (!fields.Has(name)) return absl::OkStatus();
  ASSIGN_OR_RETURN(*out, fields.Value<T>(name, read));
  return absl::OkStatus();
}

// The schema is looked at before anything else: a newer one may have changed
// the meaning of all the rest.
absl::StatusOr<int> ReadSchema(const JsonFields& fields) {
  ASSIGN_OR_RETURN(const int64_t schema, fields.Int("schema", 1));
  if (schema > kTraceSchema) {
    return ErrorBuilder(absl::StatusCode::kFailedPrecondition,
                        Reason::kTraceUnreadable)
        .With("schema", schema)
        .With("known_schema", int64_t{kTraceSchema})
        .Build(absl::StrCat("The trace has schema ", schema,
                            "; this version reads schemas up to ", kTraceSchema,
                            "."));
  }
  return static_cast<int>(schema);
}

Json ToJson(const StepCost& cost) {
  return {{"flops", cost.flops}, {"bytes", cost.bytes}};
}

absl::StatusOr<StepCost> StepCostFromJson(const Json& json) {
  ASSIGN_OR_RETURN(const JsonFields fields, JsonFields::Of(json));
  StepCost cost;
  ASSIGN_OR_RETURN(cost.flops, fields.Number("flops"));
  ASSIGN_OR_RETURN(cost.bytes, fields.Number("bytes"));
  if (!(cost.flops > 0)) return FieldError("flops", "must be positive");
  if (!(cost.bytes > 0)) return FieldError("bytes", "must be positive");
  return cost;
}

absl::Status ReadTexts(const JsonFields& fields, Header* header) {
  ASSIGN_OR_RETURN(header->producer,
                   fields.StringOrEmpty("producer", kMaxText));
  ASSIGN_OR_RETURN(header->job_id, fields.StringOrEmpty("job_id", kMaxText));
  ASSIGN_OR_RETURN(header->host, fields.StringOrEmpty("host", kMaxText));
  ASSIGN_OR_RETURN(header->versions,
                   fields.StringMap("versions", kMaxEntries, kMaxText));
  ASSIGN_OR_RETURN(header->collector,
                   fields.StringOrEmpty("collector", kMaxText));
  ASSIGN_OR_RETURN(header->collector_note,
                   fields.StringOrEmpty("collector_note", kMaxText));
  return absl::OkStatus();
}

absl::Status ReadParts(const JsonFields& fields, Header* header) {
  RETURN_IF_ERROR(ReadPart(fields, "job", JobSpecFromJson, &header->job));
  RETURN_IF_ERROR(
      ReadPart(fields, "device", DeviceDescriptionFromJson, &header->device));
  RETURN_IF_ERROR(ReadPart(fields, "state_before", DeviceStateFromJson,
                           &header->state_before));
  RETURN_IF_ERROR(ReadPart(fields, "state_after", DeviceStateFromJson,
                           &header->state_after));
  RETURN_IF_ERROR(ReadPart(fields, "warmup", WarmupFromJson, &header->warmup));
  RETURN_IF_ERROR(ReadPart(fields, "timed", TimedPassFromJson, &header->timed));
  RETURN_IF_ERROR(ReadPart(fields, "completeness", CompletenessFromJson,
                           &header->completeness));
  RETURN_IF_ERROR(
      ReadPart(fields, "step_cost", StepCostFromJson, &header->step_cost));
  ASSIGN_OR_RETURN(
      header->expectations,
      fields.List("expectations", kMaxExpectations, JobExpectationFromJson));
  return ReadPart(fields, "fingerprint", FingerprintFromJson,
                  &header->fingerprint);
}

constexpr int64_t kMaxOpenings = 1000;

absl::StatusOr<Header> ReadHeader(const JsonFields& fields) {
  Header header;
  ASSIGN_OR_RETURN(header.schema, ReadSchema(fields));
  RETURN_IF_ERROR(ReadTexts(fields, &header));
  ASSIGN_OR_RETURN(header.standby, BoolOrFalse(fields, "standby"));
  ASSIGN_OR_RETURN(header.partial, BoolOrFalse(fields, "partial"));
  ASSIGN_OR_RETURN(const int64_t openings,
                   IntOr(fields, "window_openings", 1, 1, kMaxOpenings));
  header.window_openings = static_cast<int>(openings);
  ASSIGN_OR_RETURN(
      const int64_t threads,
      IntOr(fields, "threads", 0, 0, std::numeric_limits<int>::max()));
  header.threads = static_cast<int>(threads);
  ASSIGN_OR_RETURN(header.peak_resident_bytes,
                   fields.OptionalInt("peak_resident_bytes", 0));
  RETURN_IF_ERROR(ReadParts(fields, &header));
  return header;
}

// The faults of the parser are about fields of a request; here they are about
// a file.
absl::Status Unreadable(const absl::Status& status) {
  return ErrorBuilder(absl::StatusCode::kInvalidArgument,
                      Reason::kTraceUnreadable)
      .Build(absl::StrCat("The header of the trace makes no sense: ",
                          status.message()));
}

}  // namespace

std::string HeaderToJson(const Header& header) {
  Json json = {{"schema", header.schema},
               {"producer", header.producer},
               {"job_id", header.job_id},
               {"job", ToJson(header.job)},
               {"host", header.host},
               {"versions", header.versions},
               {"collector", header.collector},
               {"collector_note", header.collector_note},
               {"standby", header.standby},
               {"partial", header.partial},
               {"window_openings", header.window_openings},
               {"threads", header.threads},
               {"warmup", ToJson(header.warmup)},
               {"timed", ToJson(header.timed)},
               {"completeness", ToJson(header.completeness)}};
  // A device of no name is none: what other tools recorded may have none.
  if (!header.device.id.empty()) json["device"] = ToJson(header.device);
  PutOptional(&json, "peak_resident_bytes", header.peak_resident_bytes);
  if (header.state_before.has_value()) {
    json["state_before"] = ToJson(*header.state_before);
  }
  if (header.state_after.has_value()) {
    json["state_after"] = ToJson(*header.state_after);
  }
  if (header.fingerprint.has_value()) {
    json["fingerprint"] = ToJson(*header.fingerprint);
  }
  if (header.step_cost.has_value()) {
    json["step_cost"] = ToJson(*header.step_cost);
  }
  for (const JobExpectation& expectation : header.expectations) {
    json["expectations"].push_back(ToJson(expectation));
  }
  return DumpJson(json);
}

absl::StatusOr<Header> HeaderFromJson(absl::string_view text) {
  const absl::StatusOr<Json> json = ParseJson(text, kMaxHeaderBytes);
  if (!json.ok()) return Unreadable(json.status());
  const absl::StatusOr<JsonFields> fields = JsonFields::Of(*json);
  if (!fields.ok()) return Unreadable(fields.status());
  absl::StatusOr<Header> header = ReadHeader(*fields);
  if (!header.ok() && absl::IsInvalidArgument(header.status())) {
    return Unreadable(header.status());
  }
  return header;
}

}  // namespace traza
