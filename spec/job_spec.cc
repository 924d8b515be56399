// SPDX-License-Identifier: Apache-2.0
#include "spec/job_spec.h"

#include <array>

#include "base/status_macros.h"
#include "base/utf8.h"
#include "spec/json_fields.h"

namespace traza {
namespace {

using Json = nlohmann::json;

constexpr std::array kAllDepths = {Depth::kTiming, Depth::kKernels,
                                   Depth::kLaunches, Depth::kOps,
                                   Depth::kShapes};

// Of names and values in a document; what a request may hold is less and is
// checked by Admit, whose errors are better.
constexpr size_t kMaxTextBytes = 4096;
constexpr size_t kMaxEntries = 1024;

Json WarmupToJson(const Warmup& warmup) {
  return warmup.automatic ? Json("auto") : Json(warmup.steps);
}

// The range is Admit's business.
absl::StatusOr<Warmup> WarmupFromJson(const Json& json) {
  if (json.is_string() && json.get_ref<const std::string&>() == "auto") {
    return Warmup{};
  }
  if (!json.is_number_integer()) {
    return FieldError("", "must be \"auto\" or a whole number");
  }
  // Read as a field, so that numbers beyond int64 are refused.
  const Json wrapped = {{"steps", json}};
  ASSIGN_OR_RETURN(const JsonFields fields, JsonFields::Of(wrapped));
  const absl::StatusOr<int64_t> steps = fields.Int("steps");
  if (!steps.ok()) return FieldError("", "is too large");
  return Warmup{.automatic = false, .steps = *steps};
}

absl::StatusOr<Warmup> EffectiveWarmupFromJson(const Json& json) {
  ASSIGN_OR_RETURN(const Warmup warmup, WarmupFromJson(json));
  if (warmup.steps < 0 || warmup.steps > kMaxSteps) {
    return FieldError("", absl::StrCat("must be from 0 to ", kMaxSteps));
  }
  return warmup;
}

}  // namespace

absl::string_view DepthName(Depth depth) {
  switch (depth) {
    case Depth::kTiming:
      return "timing";
    case Depth::kKernels:
      return "kernels";
    case Depth::kLaunches:
      return "launches";
    case Depth::kOps:
      return "ops";
    case Depth::kShapes:
      return "shapes";
  }
  return "";
}

std::optional<Depth> DepthFromName(absl::string_view name) {
  for (const Depth depth : kAllDepths) {
    if (DepthName(depth) == name) return depth;
  }
  return std::nullopt;
}

absl::string_view L2PolicyName(L2Policy policy) {
  return policy == L2Policy::kFlush ? "flush" : "warm";
}

std::optional<L2Policy> L2PolicyFromName(absl::string_view name) {
  for (const L2Policy policy : {L2Policy::kWarm, L2Policy::kFlush}) {
    if (L2PolicyName(policy) == name) return policy;
  }
  return std::nullopt;
}

Json ToJson(const JobSpec& spec) {
  return Json{
      {"workload", spec.workload},
      {"variant", spec.variant},
      {"device", spec.device},
      {"params", spec.params},
      {"cold_steps", spec.cold_steps},
      {"warmup", WarmupToJson(spec.warmup)},
      {"timed_steps", spec.timed_steps},
      {"traced_steps", spec.traced_steps},
      {"depth", std::string(DepthName(spec.depth))},
      {"seed", spec.seed},
      {"timeout_ns", absl::ToInt64Nanoseconds(spec.timeout)},
      {"labels", spec.labels},
      {"l2", std::string(L2PolicyName(spec.l2))},
  };
}

absl::StatusOr<JobSpec> JobSpecFromJson(const Json& json) {
  ASSIGN_OR_RETURN(const JsonFields fields, JsonFields::Of(json));
  JobSpec spec;
  ASSIGN_OR_RETURN(spec.workload, fields.String("workload", kMaxTextBytes));
  ASSIGN_OR_RETURN(spec.variant, fields.String("variant", kMaxTextBytes));
  ASSIGN_OR_RETURN(spec.device, fields.String("device", kMaxTextBytes));
  ASSIGN_OR_RETURN(spec.params,
                   fields.StringMap("params", kMaxEntries, kMaxTextBytes));
  ASSIGN_OR_RETURN(spec.cold_steps, fields.Int("cold_steps", 0, kMaxSteps));
  ASSIGN_OR_RETURN(spec.warmup,
                   fields.Value("warmup", EffectiveWarmupFromJson));
  ASSIGN_OR_RETURN(spec.timed_steps, fields.Int("timed_steps", 1, kMaxSteps));
  ASSIGN_OR_RETURN(spec.traced_steps, fields.Int("traced_steps", 1, kMaxSteps));
  ASSIGN_OR_RETURN(spec.depth, fields.Enum("depth", DepthFromName));
  ASSIGN_OR_RETURN(spec.seed, fields.Int("seed", 0));
  ASSIGN_OR_RETURN(const int64_t timeout_ns, fields.Int("timeout_ns", 1));
  spec.timeout = absl::Nanoseconds(timeout_ns);
  ASSIGN_OR_RETURN(spec.labels,
                   fields.StringMap("labels", kMaxEntries, kMaxTextBytes));
  ASSIGN_OR_RETURN(const std::optional<L2Policy> l2,
                   fields.OptionalEnum("l2", L2PolicyFromName));
  spec.l2 = l2.value_or(L2Policy::kWarm);
  return spec;
}

Json ToJson(const JobRequest& request) {
  Json json = {{"workload", request.workload}};
  if (request.variant.has_value()) json["variant"] = *request.variant;
  if (request.device.has_value()) json["device"] = *request.device;
  if (!request.params.empty()) json["params"] = request.params;
  if (request.cold_steps.has_value()) json["cold_steps"] = *request.cold_steps;
  if (request.warmup.has_value()) {
    json["warmup"] = WarmupToJson(*request.warmup);
  }
  if (request.timed_steps.has_value()) {
    json["timed_steps"] = *request.timed_steps;
  }
  if (request.traced_steps.has_value()) {
    json["traced_steps"] = *request.traced_steps;
  }
  if (request.depth.has_value()) {
    json["depth"] = std::string(DepthName(*request.depth));
  }
  if (request.seed.has_value()) json["seed"] = *request.seed;
  if (request.timeout.has_value()) {
    json["timeout_ns"] = absl::ToInt64Nanoseconds(*request.timeout);
  }
  if (!request.labels.empty()) json["labels"] = request.labels;
  if (request.l2.has_value()) {
    json["l2"] = std::string(L2PolicyName(*request.l2));
  }
  return json;
}

absl::StatusOr<JobRequest> JobRequestFromJson(const Json& json) {
  ASSIGN_OR_RETURN(const JsonFields fields, JsonFields::Of(json));
  RETURN_IF_ERROR(
      fields.AllowOnly({"workload", "variant", "device", "params", "cold_steps",
                        "warmup", "timed_steps", "traced_steps", "depth",
                        "seed", "timeout_ns", "labels", "l2"}));
  JobRequest request;
  ASSIGN_OR_RETURN(request.workload, fields.String("workload", kMaxTextBytes));
  ASSIGN_OR_RETURN(request.variant,
                   fields.OptionalString("variant", kMaxTextBytes));
  ASSIGN_OR_RETURN(request.device,
                   fields.OptionalString("device", kMaxTextBytes));
  ASSIGN_OR_RETURN(request.params,
                   fields.StringMap("params", kMaxEntries, kMaxTextBytes));
  ASSIGN_OR_RETURN(request.cold_steps, fields.OptionalInt("cold_steps"));
  if (fields.Has("warmup")) {
    ASSIGN_OR_RETURN(request.warmup, fields.Value("warmup", WarmupFromJson));
  }
  ASSIGN_OR_RETURN(request.timed_steps, fields.OptionalInt("timed_steps"));
  ASSIGN_OR_RETURN(request.traced_steps, fields.OptionalInt("traced_steps"));
  ASSIGN_OR_RETURN(request.depth, fields.OptionalEnum("depth", DepthFromName));
  ASSIGN_OR_RETURN(request.seed, fields.OptionalInt("seed"));
  ASSIGN_OR_RETURN(const std::optional<int64_t> timeout_ns,
                   fields.OptionalInt("timeout_ns"));
  if (timeout_ns.has_value()) request.timeout = absl::Nanoseconds(*timeout_ns);
  ASSIGN_OR_RETURN(request.labels,
                   fields.StringMap("labels", kMaxEntries, kMaxTextBytes));
  ASSIGN_OR_RETURN(request.l2, fields.OptionalEnum("l2", L2PolicyFromName));
  return request;
}

}  // namespace traza
